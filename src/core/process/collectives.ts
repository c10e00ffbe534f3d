/**
 * The collectives of a process, in bytes of packed buffers: each method plans (or finds) its program, starts it, and gives
 * the request that completes with it. Datatypes are packed and unpacked by the layers above; reductions come as a
 * `Reduction`.
 *
 * Buffers of reductions must lie in the process's shareable memory (pointers ≥ 0), because kernels see one memory; others
 * may be lent views.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { BoardKind } from "../coll/engine/board.ts";
import { unknownKind, unlike } from "../coll/engine/collective-call.ts";
import type { CompiledSchedule } from "../coll/engine/compiled-schedule.ts";
import { Executor } from "../coll/engine/executor.ts";
import type { Operation } from "../coll/engine/operation.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { type BoardCall, type BoardOperation, BoardOperations, isOfBoards } from "./board-operations.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "./collective-form.ts";
import { CollectiveMessages } from "./collective-messages.ts";
import { agreementProgram, blocksProgram, equalProgram, neighborProgram } from "./collective-programs.ts";
import type { Communicator } from "./communicator.ts";
import { type Failures, isMember } from "./failures.ts";
import type { Reduction } from "./reduction.ts";
import type { Asked } from "./reductions-under-way.ts";

/** An operation that is about to start by messages; `exact` and `error` are those of `OperationCall`. */
interface Starting {
  readonly program: CompiledSchedule;
  readonly send: Pointer;
  readonly receive: Pointer;
  readonly reduction: Reduction | null;
  /** Undefined: the communicator's next one. */
  readonly tag: number | undefined;
  /** Does the program see nothing before it is over? */
  readonly isBlocking: boolean;
  readonly exact: boolean;
  readonly error?: ErrorCode;
}

const startOf = (form: CollectiveForm): Pick<Starting, "tag" | "isBlocking"> => ({
  tag: typeof form === "number" ? form : undefined,
  isBlocking: form === "blocking",
});

const nowhere = 0 as Pointer;

export class Collectives {
  private readonly engine: Engine;
  private readonly failures: Failures;
  private readonly messages: CollectiveMessages;
  private readonly executor: Executor;
  /** Collectives that run through boards, without messages. */
  private readonly boards: BoardOperations;
  /** How often an operation was ended from outside. */
  givenUp = 0;

  constructor(engine: Engine, memory: Memory, failures: Failures) {
    this.engine = engine;
    this.failures = failures;
    this.messages = new CollectiveMessages(engine, memory);
    this.executor = new Executor(this.messages);
    this.boards = new BoardOperations(engine, memory, failures);
  }

  get isBusy(): boolean {
    return this.executor.active !== 0 || this.boards.active !== 0;
  }

  progress(): boolean {
    const moved = this.boards.active !== 0 && this.boards.progress();
    return this.executor.progress() || moved;
  }

  /**
   * A process is dead: every collective that it is a member of ends here, unless it is over. Members that need no message of the dead would wait
   * for those that do, which have given up.
   */
  peerFailed(rank: WorldRank): void {
    this.boards.peerFailed(rank);
    for (const operation of this.executor.underWay) {
      if (isMember(this.communicatorOf(operation), rank)) this.executor.giveUp(operation, ErrorClass.PROC_FAILED);
    }
  }

  /** Do the members of a communicator that is not there yet talk in its context? */
  isMaking(context: number): boolean {
    return this.messages.isMaking(context);
  }

  /** Ends what is under way on a communicator, which has no board any more. */
  revoked(comm: Communicator): void {
    if (comm.channel >= 0) this.executor.end(comm.channel, ErrorClass.REVOKED);
    this.boards.revoked(comm);
  }

  // For inquiries.ts, which asks what keeps a collective

  /** Operations by messages that are under way. */
  get operations(): readonly Operation[] {
    return this.executor.underWay;
  }

  communicatorOf(operation: Operation): Communicator {
    return this.messages.communicatorOf(operation);
  }

  /** Ends an operation that waits for messages. */
  giveUp(operation: Operation, error: ErrorCode): void {
    this.givenUp++;
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
    const { bytes = 0, root = 0, inPlace = false, form = "nonblocking", error = 0 } = call;
    if (this.meets(comm, kind, call, null)) {
      return this.meet(comm, { kind, send, receive, bytes, root, inPlace, error, reduction: null });
    }
    const program = equalProgram(comm, kind, call, 1);
    return this.begin(comm, { program, send, receive, reduction: null, ...startOf(form), exact: true, error });
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
    const { bytes = 0, root = 0, inPlace = false, form = "nonblocking" } = call;
    if (isOfBoards(kind) && this.meets(comm, kind, call, reduction)) {
      return this.meet(comm, { kind, send, receive, bytes, root, inPlace, error: 0, reduction });
    }
    const program = equalProgram(comm, kind, call, reduction.elementBytes);
    return this.begin(comm, { program, send, receive, reduction, ...startOf(form), exact: true });
  }

  /** Does the call meet the other members on the communicator's board? The same answer at every member. */
  meets(comm: Communicator, kind: BoardKind, call: EqualCall, reduction: Reduction | null): boolean {
    const { bytes = 0, form = "nonblocking" } = call;
    if (form !== "blocking" || reduction?.call !== undefined) return false;
    return this.boards.takes(comm, kind, bytes) && !this.failures.isAmong(comm);
  }

  /**
   * A call that waits at the gate of the communicator's board ends with that error, unless the gate is about to open. The number of the collective
   * that this member has not come to then; −1: there is none.
   */
  withdrawFromBoard(comm: Communicator, error: ErrorCode): number {
    const call = this.boards.calls.find((each) => each.comm === comm);
    return call !== undefined && this.boards.giveUp(call, error) ? call.number : -1;
  }

  private meet(comm: Communicator, call: BoardCall): RecordId {
    this.engine.meeting();
    const request = this.boards.start(comm, call);
    if (this.boards.active !== 0) this.engine.pass.closeReceives();
    return request;
  }

  // Collectives with blocks of their own size: planned each time

  start(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null = null,
    form: CollectiveForm = "nonblocking",
    error: ErrorCode = 0,
  ): RecordId {
    const program = blocksProgram(comm, collective);
    const exact = reduction !== null;
    return this.begin(comm, { program, send, receive, reduction, ...startOf(form), exact, error });
  }

  startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm = "nonblocking",
  ): RecordId {
    const program = neighborProgram(collective);
    return this.begin(comm, { program, send, receive, reduction: null, ...startOf(form), exact: false });
  }

  /** An allgather under a tag of the caller's: for agreements, which may run on communicators that are not finished. */
  startAgreement(comm: Communicator, buffer: Pointer, bytes: number, tag: number): RecordId {
    const program = agreementProgram(comm, bytes);
    return this.begin(comm, {
      program,
      send: nowhere,
      receive: buffer,
      reduction: null,
      tag,
      isBlocking: false,
      exact: true,
    });
  }

  /** into = left ∘ right in this process alone. */
  combine(reduction: Reduction, left: Pointer, right: Pointer, into: Pointer, count: number): void {
    reduction.apply(this.messages.views, left, right, into, count);
  }

  /** For a capture, and after it: see board-operations.ts. */
  withdraw(): boolean {
    this.boards.progress();
    return this.boards.withdraw();
  }

  arriveAgain(): void {
    this.boards.arriveAgain((comm, call, request) => {
      const { kind, send, receive, reduction, error, number } = call;
      const program = equalProgram(comm, kind, call, reduction?.elementBytes ?? 1);
      this.begin(
        comm,
        { program, send, receive, reduction, tag: number, isBlocking: true, exact: true, error },
        request,
      );
    });
  }

  /** The communicator gets no further operations. */
  forget(comm: Communicator): void {
    this.messages.forget(comm);
  }

  /** The error with which every collective on it ends; 0: none. */
  private failureOf(comm: Communicator): ErrorCode {
    if (comm.isRevoked) return ErrorClass.REVOKED;
    return this.failures.isAmong(comm) ? ErrorClass.PROC_FAILED : 0;
  }

  private begin(comm: Communicator, starting: Starting, request = this.engine.startOperation()): RecordId {
    const { program, send, receive, reduction, tag = numberOf(comm, program), exact, error = 0 } = starting;
    const failure = this.failureOf(comm);
    if (failure !== 0) {
      comm.endPromise(tag);
      this.engine.completion.complete(request, failure);
      return request;
    }
    const channel = this.messages.open(comm);
    comm.endPromise(tag);
    this.engine.pass.closeReceives();
    if (!starting.isBlocking) this.engine.collectiveBegins(request);
    this.executor.start({
      program,
      channel,
      tag,
      turn: comm.nextTurn(tag),
      reduction: this.messages.reductions.add(reduction),
      request,
      send,
      receive,
      exact,
      error,
    });
    return request;
  }

  // Reductions by the program itself

  /** Operations under way that need the program to combine. */
  get programOperations(): number {
    return this.messages.reductions.programOperations;
  }

  /** The combination that the program must do next; null: none. Every wait for a collective looks here. */
  get asked(): Asked | null {
    return this.messages.reductions.asked;
  }

  takeAsked(): Asked {
    return this.messages.reductions.takeAsked();
  }

  /** The program has combined. */
  answered({ operation }: Asked): void {
    this.executor.reduced(operation);
  }
}

/** The number that the collective takes on its communicator. */
function numberOf(comm: Communicator, { call }: CompiledSchedule): number {
  return call === undefined
    ? comm.nextCollective(unknownKind, unlike, unlike)
    : comm.nextCollective(call.kind, call.root, call.bytes);
}

lives({ Collectives });
