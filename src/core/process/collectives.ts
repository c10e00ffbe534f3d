/**
 * The collectives of a process, in bytes of packed buffers: each method plans (or finds) its program, starts it, and gives
 * the request that completes with it. Datatypes are packed and unpacked by the layers above; reductions come as a
 * `Reduction`.
 *
 * Buffers of reductions must lie in the process's shareable memory (pointers ≥ 0), because kernels see one memory; others
 * may be lent views.
 */
import { assert } from "../base/assert.ts";
import type { CommRank, Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { callOf, callOfGroups } from "../coll/call-of.ts";
import { unknownKind, unlike } from "../coll/engine/collective-call.ts";
import { type CollectivePorts, shorter, underWay } from "../coll/engine/collective-ports.ts";
import { type CompiledSchedule, compile, emptied, forEachSend } from "../coll/engine/compiled-schedule.ts";
import { Executor } from "../coll/engine/executor.ts";
import type { Operation, OperationId } from "../coll/engine/operation.ts";
import { equalBlocks } from "../coll/engine/rounds.ts";
import type { Blocks } from "../coll/engine/schedule.ts";
import { type InterCollective, type NeighborCollective, planInter, planNeighbor } from "../coll/inter/plan-inter.ts";
import { type Collective, plan } from "../coll/plan.ts";
import { type Views, viewsOf } from "../comm/datatype/views.ts";
import { type Engine, unnumbered } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { R_BYTES, R_ERROR, R_KIND, R_STATUS_BYTES, RecordFlag, RecordKind, SendMode } from "../request/records.ts";
import { type BoardOperation, BoardOperations } from "./board-operations.ts";
import type { Communicator } from "./communicator.ts";
import type { Reduction } from "./reduction.ts";

/** The kinds whose compiled schedules are cached, by their numbers in the cache: those with few arguments. */
const cached = {
  barrier: 0,
  bcast: 1,
  gather: 2,
  scatter: 3,
  allgather: 4,
  alltoall: 5,
  reduce: 6,
  allreduce: 7,
  reduce_scatter_block: 8,
  scan: 9,
  exscan: 10,
} as const;
type CachedKind = keyof typeof cached;

const inPlaceFlag = 1;

/**
 * In the place of a tag: this is a blocking call, so the communicator's board may do where it has one and the message is
 * small. Every member must say so, or none.
 */
export const onBoard = -1;

/** Kinds of collectives whose blocks are equal, or that have none. */
export type EqualKind = "barrier" | "bcast" | "gather" | "scatter" | "allgather" | "alltoall";
export type ReductionKind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

/** The arguments that make a difference among calls of one kind on one communicator. */
export interface EqualCall {
  /** Length of one block. */
  readonly bytes?: number;
  readonly root?: number;
  readonly inPlace?: boolean;
  /** The tag of the messages, the communicator's next one unless given; or `onBoard`, for a blocking call. */
  readonly tag?: number | undefined;
  /** The mistake in this rank's arguments: the collective runs all the same, and ends with it here. 0: none. */
  readonly error?: ErrorCode;
}

/** A combination that a collective leaves to the program: into = left ∘ right. `into` may be `left` or `right`. */
export interface Asked {
  readonly operation: OperationId;
  /** The reduction's. */
  readonly call: unknown;
  readonly left: Pointer;
  readonly right: Pointer;
  readonly into: Pointer;
  readonly count: number;
  readonly bytes: number;
}

/** An operation that is about to start by messages; `exact` and `error` are those of `OperationCall`. */
interface Starting {
  readonly program: CompiledSchedule;
  readonly send: Pointer;
  readonly receive: Pointer;
  readonly reduction: Reduction | null;
  /** Undefined: the communicator's next one. */
  readonly tag: number | undefined;
  readonly exact: boolean;
  readonly error?: ErrorCode;
}

const messageTag = (tag: number | undefined): number | undefined => (tag === onBoard ? undefined : tag);

const nowhere = 0 as Pointer;

export class Collectives implements CollectivePorts {
  static readonly unsaved = { allViews: null };
  private readonly engine: Engine;
  private readonly memory: Memory;
  private readonly allViews: Views;
  private readonly executor: Executor;
  /** Communicators by channel number, and reductions by number: operations are plain data and name both. */
  private readonly channels: (Communicator | null)[] = [];
  /** Reductions of operations under way, and how many operations each serves: numbers are used again. */
  private readonly reductions: (Reduction | null)[] = [];
  private readonly reductionUses: number[] = [];

  /** Collectives that run through boards, without messages. */
  private readonly boards: BoardOperations;

  /** Operations under way that need the program to combine, and what they need it for now, oldest first. */
  programOperations = 0;
  private readonly questions: Asked[] = [];

  constructor(engine: Engine, memory: Memory) {
    this.engine = engine;
    this.memory = memory;
    this.allViews = viewsOf(memory.bytes.buffer);
    this.executor = new Executor(this);
    this.boards = new BoardOperations(engine, memory);
  }

  /** The shareable memory as kernels see it. */
  get views(): Views {
    return this.allViews;
  }

  get isBusy(): boolean {
    return this.executor.active !== 0 || this.boards.active !== 0;
  }

  progress(): boolean {
    const moved = this.boards.active !== 0 && this.boards.progress();
    return this.executor.progress() || moved;
  }

  peerFailed(rank: number): void {
    this.boards.peerFailed(rank);
  }

  /** Do the members of a communicator that is not there yet talk in its context? */
  isMaking(context: number): boolean {
    return this.channels.some((comm) => comm !== null && comm.context === context && !comm.freed);
  }

  /** Ends what is under way on a communicator, which has no board any more. */
  revoked(comm: Communicator): void {
    if (comm.channel >= 0) this.executor.end(comm.channel, ErrorClass.REVOKED);
    this.boards.revoked(comm);
  }

  // For those who ask what keeps a collective (inquiries.ts)

  /** Operations by messages that are under way. */
  get operations(): readonly Operation[] {
    return this.executor.underWay;
  }

  communicatorOf({ channel }: Operation): Communicator {
    return this.channels[channel]!;
  }

  /** Ends an operation that waits for messages. */
  giveUp(operation: Operation, error: ErrorCode): void {
    this.executor.giveUp(operation, error);
  }

  /** Calls that wait at the gate of a board. */
  get boardCalls(): readonly BoardOperation[] {
    return this.boards.calls;
  }

  /** Ends such a call; false: its gate is about to open. */
  giveUpBoard(call: BoardOperation, error: ErrorCode): boolean {
    return this.boards.giveUp(call, error);
  }

  /** Members of a communicator have disagreed, and would meet in different rounds: all of them leave its board. */
  leaveBoard(comm: Communicator): void {
    if (comm.board === null) return;
    this.boards.leave(comm);
    this.arriveAgain();
  }

  // Collectives whose blocks are equal, or that have none

  /** Barrier, broadcast, gather, scatter, allgather, all-to-all. */
  startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    const { bytes = 0, root = 0, inPlace = false, tag, error = 0 } = call;
    if (tag === onBoard && kind !== "scatter" && kind !== "alltoall" && this.boards.takes(comm, bytes)) {
      this.engine.meeting();
      this.engine.pass.closeReceives();
      return this.boards.start(comm, { kind, send, receive, bytes, root, inPlace, error, reduction: null });
    }
    const program = this.equalProgram(comm, kind, call, 1);
    return this.begin(comm, { program, send, receive, reduction: null, tag: messageTag(tag), exact: true, error });
  }

  /** Reduce, allreduce, reduce-scatter with equal blocks (`bytes` is one block), scan, exscan. */
  startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    assert(send >= 0 && receive >= 0, "a reduction works on shareable memory");
    const { bytes = 0, root = 0, inPlace = false, tag } = call;
    if (
      tag === onBoard &&
      reduction.call === undefined &&
      (kind === "reduce" || kind === "allreduce") &&
      this.boards.takes(comm, bytes)
    ) {
      this.engine.meeting();
      this.engine.pass.closeReceives();
      return this.boards.start(comm, { kind, send, receive, bytes, root, inPlace, error: 0, reduction });
    }
    const program = this.equalProgram(comm, kind, call, reduction.elementBytes);
    return this.begin(comm, { program, send, receive, reduction, tag: messageTag(tag), exact: true });
  }

  // Collectives with blocks of their own size: planned each time

  start(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null = null,
    tag?: number,
    error: ErrorCode = 0,
  ): RecordId {
    const program = this.blocksProgram(comm, collective);
    const exact = reduction !== null;
    return this.begin(comm, { program, send, receive, reduction, tag: messageTag(tag), exact, error });
  }

  startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    tag?: number,
  ): RecordId {
    const program = compile(planNeighbor(collective), callOfGroups(collective));
    return this.begin(comm, { program, send, receive, reduction: null, tag, exact: false });
  }

  /** An allgather under a tag of the caller's: for agreements, which may run on communicators that are not finished. */
  startAgreement(comm: Communicator, buffer: Pointer, bytes: number, tag: number): RecordId {
    const { rank, size } = comm;
    const program = this.compiled(comm, { kind: "allgather", rank, size, bytes, inPlace: true });
    return this.begin(comm, { program, send: nowhere, receive: buffer, reduction: null, tag, exact: true });
  }

  /** into = left ∘ right in this process alone. */
  combine(reduction: Reduction, left: Pointer, right: Pointer, into: Pointer, count: number): void {
    reduction.apply(this.allViews, left, right, into, count);
  }

  /** For a capture, and after it: see board-operations.ts. */
  withdraw(): boolean {
    this.boards.progress();
    return this.boards.withdraw();
  }

  arriveAgain(): void {
    this.boards.arriveAgain((comm, call, request) => {
      const { kind, send, receive, reduction, error, number } = call;
      const program = this.equalProgram(comm, kind, call, reduction?.elementBytes ?? 1);
      this.begin(comm, { program, send, receive, reduction, tag: number, exact: true, error }, request);
    });
  }

  /** The communicator gets no further operations: when the last one is over its channel number may be used again. */
  forget(comm: Communicator): void {
    comm.freed = true;
    if (comm.operations > 0) return;
    if (comm.channel >= 0) this.channels[comm.channel] = null;
    comm.channel = -1;
  }

  private compiled(comm: Communicator, collective: Collective | InterCollective): CompiledSchedule {
    // The two unions share names of kinds; which one it is, the communicator knows.
    if (!comm.isInter) return compile(plan(collective as Collective), callOf(collective as Collective));
    const inter = collective as InterCollective;
    return compile(planInter(inter), callOfGroups(inter));
  }

  private blocksProgram(comm: Communicator, collective: Collective | InterCollective): CompiledSchedule {
    const isNothing = collective.kind === "reduce_scatter" && collective.segments.every((bytes) => bytes === 0);
    if (!isNothing) return this.compiled(comm, collective);
    const segments = collective.segments.map(() => collective.elementBytes);
    return emptied(this.compiled(comm, { ...collective, segments }));
  }

  private equalProgram(comm: Communicator, kind: CachedKind, call: EqualCall, elementBytes: number): CompiledSchedule {
    const { bytes = 0, root = 0, inPlace = false } = call;
    const flags = inPlace ? inPlaceFlag : 0;
    const known = comm.programs.find(cached[kind], bytes, root, elementBytes, flags);
    if (known !== undefined) return known;
    // With nothing to move there are still messages, as many as with one element: another rank may have more to move.
    const plannedBytes = bytes === 0 ? elementBytes : bytes;
    const collective = comm.isInter
      ? interCollective(comm, kind, plannedBytes, root, elementBytes)
      : // Every field that any of these kinds wants.
        ({
          kind,
          rank: comm.rank,
          size: comm.size,
          bytes: plannedBytes,
          root,
          inPlace,
          elementBytes,
          nodes: comm.memberNodes,
        } as Collective);
    const planned = this.compiled(comm, collective);
    const program = bytes === 0 ? emptied(planned) : planned;
    comm.programs.keep([cached[kind], bytes, root, elementBytes, flags], program);
    return program;
  }

  private begin(comm: Communicator, starting: Starting, request = this.engine.startOperation()): RecordId {
    const { program, send, receive, reduction, tag = numberOf(comm, program), exact, error = 0 } = starting;
    if (comm.isRevoked) {
      this.engine.completion.complete(request, ErrorClass.REVOKED);
      return request;
    }
    if (comm.channel < 0) comm.channel = freePlace(this.channels);
    this.channels[comm.channel] = comm;
    comm.operations++;
    if (reduction?.call !== undefined) this.programOperations++;
    comm.endPromise(tag);
    this.engine.pass.closeReceives();
    this.executor.start({
      program,
      channel: comm.channel,
      tag,
      turn: comm.nextTurn(tag),
      reduction: reduction === null ? -1 : this.numberOf(reduction),
      request,
      send,
      receive,
      exact,
      error,
    });
    return request;
  }

  private numberOf(reduction: Reduction): number {
    const known = this.reductions.indexOf(reduction);
    const number = known >= 0 ? known : freePlace(this.reductions);
    this.reductions[number] = reduction;
    this.reductionUses[number] = (this.reductionUses[number] ?? 0) + 1;
    return number;
  }

  // Reductions by the program itself

  /** The combination that the program must do next; null: none. Every wait for a collective looks here. */
  get asked(): Asked | null {
    return this.questions[0] ?? null;
  }

  takeAsked(): Asked {
    const asked = this.questions.shift();
    assert(asked !== undefined, "no collective asks the program to combine anything");
    return asked;
  }

  /** The program has combined. */
  answered({ operation }: Asked): void {
    this.executor.reduced(operation);
  }

  // Ports of the executor

  begun(op: Operation): void {
    if (!this.engine.isNumbered) return;
    const comm = this.channels[op.channel]!;
    forEachSend(op.program, (peer, local) => {
      op.numbers.push(this.engine.outbox.nextSequence((local ? comm.group : comm.peers).worldRank(peer as CommRank)));
    });
  }

  send(op: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId {
    const comm = this.channels[op.channel]!;
    const world = (local ? comm.group : comm.peers).worldRank(peer as CommRank);
    const from = bytes === 0 ? nowhere : this.place(pointer, offset, bytes);
    const { collectiveContext } = comm;
    const number = op.numbers.length === 0 ? unnumbered : op.numbers[op.nextNumber++]!;
    return this.engine.startNumbered(from, bytes, world, op.tag, collectiveContext, SendMode.STANDARD, number);
  }

  receive(op: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId {
    const comm = this.channels[op.channel]!;
    const world = (local ? comm.group : comm.peers).worldRank(peer as CommRank);
    const to = bytes === 0 ? nowhere : this.place(pointer, offset, bytes);
    return this.engine.startReceive(to, bytes, world, op.tag, comm.collectiveContext);
  }

  /** A part of a lent view is lent again for its message; the engine ends that loan with the message. */
  private place(pointer: Pointer, offset: number, bytes: number): Pointer {
    if (pointer >= 0) return (pointer + offset) as Pointer;
    return this.memory.lend(this.memory.view(pointer, offset + bytes).subarray(offset));
  }

  complete(record: RecordId): number {
    const engine = this.engine;
    if (!engine.isComplete(record)) return underWay;
    const { records } = engine;
    const error = records.get(record, R_ERROR);
    const isShorter = records.get(record, R_STATUS_BYTES) < records.get(record, R_BYTES);
    const isReceive = records.get(record, R_KIND) === RecordKind.RECEIVE;
    engine.giveBack(record);
    return error === 0 && isShorter && isReceive ? shorter : error;
  }

  cancel(record: RecordId): void {
    this.engine.records.addFlag(record, RecordFlag.UNWANTED);
    this.engine.cancel(record);
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.memory.copy(to, toOffset, from, fromOffset, bytes);
  }

  reduce(
    op: Operation,
    left: Pointer,
    leftOffset: number,
    right: Pointer,
    rightOffset: number,
    into: Pointer,
    intoOffset: number,
    bytes: number,
  ): boolean {
    const reduction = this.reductions[op.reduction]!;
    const count = bytes / reduction.elementBytes;
    if (reduction.call !== undefined) {
      this.questions.push({
        operation: op.id,
        call: reduction.call,
        left: (left + leftOffset) as Pointer,
        right: (right + rightOffset) as Pointer,
        into: (into + intoOffset) as Pointer,
        count,
        bytes,
      });
      return false;
    }
    reduction.apply(this.allViews, left + leftOffset, right + rightOffset, into + intoOffset, count);
    return true;
  }

  allocate(bytes: number): Pointer {
    return this.memory.allocate(bytes);
  }

  free(pointer: Pointer): void {
    this.memory.free(pointer);
  }

  finished(op: Operation, error: number): void {
    const reduction = this.reductions[op.reduction];
    if (op.reduction >= 0 && --this.reductionUses[op.reduction]! === 0) this.reductions[op.reduction] = null;
    if (op.reduction >= 0 && reduction?.call !== undefined) this.programOperations--;
    const comm = this.channels[op.channel]!;
    if (--comm.operations === 0 && comm.freed) this.forget(comm);
    this.engine.completion.complete(op.request as RecordId, error);
  }
}

/** The number that the collective takes on its communicator. */
function numberOf(comm: Communicator, { call }: CompiledSchedule): number {
  return call === undefined
    ? comm.nextCollective(unknownKind, unlike, unlike)
    : comm.nextCollective(call.kind, call.root, call.bytes);
}

function freePlace(table: readonly unknown[]): number {
  const free = table.indexOf(null);
  return free >= 0 ? free : table.length;
}

/** Forms with equal blocks on an inter-communicator are those with blocks, all of one length. */
function interCollective(
  comm: Communicator,
  kind: CachedKind,
  bytes: number,
  root: number,
  elementBytes: number,
): InterCollective {
  const place = { rank: comm.rank, localSize: comm.size, remoteSize: comm.peers.size };
  const blocks: Blocks = equalBlocks(comm.peers.size, bytes);
  switch (kind) {
    case "barrier":
      return { kind, ...place };
    case "bcast":
      return { kind, ...place, root, bytes };
    case "gather":
      return { kind: "gatherv", ...place, root, bytes, blocks };
    case "scatter":
      return { kind: "scatterv", ...place, root, bytes, blocks };
    case "allgather":
      return { kind: "allgatherv", ...place, bytes, blocks };
    case "alltoall":
      return { kind: "alltoallv", ...place, sends: blocks, receives: blocks };
    case "reduce":
      return { kind, ...place, root, bytes, elementBytes };
    case "allreduce":
      return { kind, ...place, bytes, elementBytes };
    case "reduce_scatter_block":
      return { kind: "reduce_scatter", ...place, segments: new Array<number>(comm.size).fill(bytes), elementBytes };
    case "scan":
    case "exscan":
      assert(false, "an inter-communicator has no scan");
  }
}

lives({ Collectives });
