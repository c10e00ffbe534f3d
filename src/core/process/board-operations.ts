/**
 * Small blocking collectives through a board (coll/engine/board.ts) instead of messages: every member puts its part there, the last to
 * arrive combines the parts of a reduction in the canonical order and opens the gate, every member takes what it needs.
 *
 * Whether a call goes this way depends on what all members know alike: that it is a blocking one (a process has at most one
 * under way on a communicator then), its kind and its length. As everything in core it is a start and a progress.
 *
 * A part's length stands beside it. A member that reads a part of another length than its own takes what fits and reports that
 * the counts do not match, as the receiver of a message would.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { combinedBytesMax } from "../coll/engine/board.ts";
import { kindCode, unlike } from "../coll/engine/collective-call.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { foldOnBoard } from "./board-fold.ts";
import type { EqualKind, ReductionKind } from "./collective-form.ts";
import type { Communicator } from "./communicator.ts";
import type { Reduction } from "./reduction.ts";

export type BoardKind = "barrier" | "bcast" | "gather" | "scatter" | "allgather" | "alltoall" | "reduce" | "allreduce";

export interface BoardCall {
  readonly kind: BoardKind;
  readonly send: Pointer;
  readonly receive: Pointer;
  /** Of one block: a member's part of the board, which has one for each member where one or all send to all. */
  readonly bytes: number;
  readonly root: number;
  readonly inPlace: boolean;
  /** What is wrong with the call already, 0: nothing. It ends with this. */
  readonly error: ErrorCode;
  readonly reduction: Reduction | null;
}

/** A call whose gate is still shut. */
export interface BoardOperation extends BoardCall {
  readonly comm: Communicator;
  /** Of the collective on its communicator. */
  readonly number: number;
  readonly request: RecordId;
  /** Our arrival has been taken back. */
  isWithdrawn: boolean;
}

export const isOfBoards = (kind: EqualKind | ReductionKind): kind is BoardKind =>
  kind !== "reduce_scatter_block" && kind !== "scan" && kind !== "exscan";

/** Has a part a block for each member? */
const isForAll = (kind: BoardKind): boolean => kind === "alltoall" || kind === "scatter";

/** Of one member's part. Those that only take say the length as well. */
const partBytes = (kind: BoardKind, bytes: number, members: number): number =>
  isForAll(kind) ? bytes * members : bytes;

const isRooted = (kind: BoardKind): boolean =>
  kind === "bcast" || kind === "gather" || kind === "scatter" || kind === "reduce";

export class BoardOperations {
  private readonly engine: Engine;
  private readonly memory: Memory;
  /** Calls whose gate is still shut: one for each communicator at most, hardly ever more than one at all. */
  private readonly waiting: BoardOperation[] = [];

  constructor(engine: Engine, memory: Memory) {
    this.engine = engine;
    this.memory = memory;
  }

  get calls(): readonly BoardOperation[] {
    return this.waiting;
  }

  get active(): number {
    return this.waiting.length;
  }

  /** Can the communicator's board take it? The same answer on every member. */
  takes({ board, size }: Communicator, kind: BoardKind, bytes: number): boolean {
    if (board === null || partBytes(kind, bytes, size) > board.bytesMax) return false;
    return (kind !== "reduce" && kind !== "allreduce") || bytes * size <= combinedBytesMax;
  }

  start(comm: Communicator, call: BoardCall): RecordId {
    const request = this.engine.startOperation();
    const { kind, send, receive, bytes, root, inPlace, error, reduction } = call;
    const number = comm.nextCollective(
      kindCode[kind],
      isRooted(kind) ? root : unlike,
      kind === "barrier" ? unlike : bytes,
    );
    // Field by field: V8 11 takes 14 µs to spread `call`, twenty times what the rest of the collective takes.
    const operation: BoardOperation = {
      kind,
      send,
      receive,
      bytes,
      root,
      inPlace,
      error,
      reduction,
      comm,
      request,
      number,
      isWithdrawn: false,
    };
    if (comm.board!.takeOver()) this.waiting.push(operation);
    else this.arrive(operation);
    return request;
  }

  private arrive(operation: BoardOperation): void {
    const { comm, reduction, bytes } = operation;
    const board = comm.board!;
    this.putPart(comm, operation);
    if (board.arrive()) {
      if (reduction !== null) foldOnBoard(comm, board, reduction, bytes);
      board.open();
      this.finish(operation);
    } else this.waiting.push(operation);
  }

  progress(): boolean {
    let moved = false;
    for (let i = 0; i < this.waiting.length; ) {
      const operation = this.waiting[i]!;
      if (!operation.isWithdrawn && operation.comm.board!.passed()) {
        this.waiting.splice(i, 1);
        this.finish(operation);
        moved = true;
      } else i++;
    }
    return moved;
  }

  /**
   * For a capture: takes back our arrivals at gates that are shut, as if the calls had not been made (rule 12). False: one of
   * them is about to open; progress first.
   */
  withdraw(): boolean {
    for (const operation of this.waiting) {
      if (operation.isWithdrawn) continue;
      operation.isWithdrawn = operation.comm.board!.withdraw();
      if (!operation.isWithdrawn) return false;
    }
    return true;
  }

  /** After it, in the same life or another: arrives again. Without a board any more the call goes on by `messages`. */
  arriveAgain(messages: (comm: Communicator, call: BoardOperation, request: RecordId) => void): void {
    const withdrawn = this.waiting.filter(({ isWithdrawn }) => isWithdrawn);
    for (const operation of withdrawn) {
      this.waiting.splice(this.waiting.indexOf(operation), 1);
      operation.isWithdrawn = false;
      if (operation.comm.board === null) messages(operation.comm, operation, operation.request);
      else this.arrive(operation);
    }
  }

  /** A process died: a round that waits for it ends with an error, and its board is not used again. */
  peerFailed(rank: number): void {
    for (let i = 0; i < this.waiting.length; ) {
      const { comm, request } = this.waiting[i]!;
      if (!comm.group.has(rank as WorldRank) || comm.board!.passed()) {
        i++;
        continue;
      }
      comm.board = null;
      this.waiting.splice(i, 1);
      this.engine.completion.complete(request, ErrorClass.PROC_FAILED);
    }
  }

  /** Takes back our arrival at a gate that others do not come to; false: the gate is about to open. */
  giveUp(operation: BoardOperation, error: ErrorCode): boolean {
    if (!operation.isWithdrawn && !operation.comm.board!.withdraw()) return false;
    this.waiting.splice(this.waiting.indexOf(operation), 1);
    this.engine.completion.complete(operation.request, error);
    return true;
  }

  /** The board is not used again: a call that waits at its gate is withdrawn, unless the gate is about to open. */
  leave(comm: Communicator): void {
    const operation = this.waiting.find((each) => each.comm === comm);
    if (operation !== undefined && !operation.isWithdrawn) {
      if (!comm.board!.withdraw()) return;
      operation.isWithdrawn = true;
    }
    comm.board = null;
  }

  /**
   * Takes back our arrival at the gate, which others may never come to. When all have come the gate is about to open: that
   * round is finished, and was the last.
   */
  revoked(comm: Communicator): void {
    const index = this.waiting.findIndex((operation) => operation.comm === comm);
    const operation = this.waiting[index];
    if (operation !== undefined && !operation.isWithdrawn && !comm.board!.withdraw()) return;
    comm.board = null;
    if (operation === undefined) return;
    this.waiting.splice(index, 1);
    this.engine.completion.complete(operation.request, ErrorClass.REVOKED);
  }

  private putPart({ board, rank, size }: Communicator, { kind, send, receive, bytes, root, inPlace }: BoardCall): void {
    const length = partBytes(kind, bytes, size);
    board!.putLength(rank, length);
    const isFromRoot = kind === "bcast" || kind === "scatter";
    if (bytes === 0 || (isFromRoot && rank !== root)) return;
    const isInReceive = kind === "bcast" || (inPlace && kind !== "scatter");
    const offset = inPlace && (kind === "allgather" || kind === "gather") ? rank * bytes : 0;
    this.memory.toPayload(board!.part(rank), isInReceive ? receive : send, offset, length);
  }

  private finish(operation: BoardOperation): void {
    const { comm, request } = operation;
    const error = this.takeParts(operation);
    comm.board!.next();
    if (comm.isRevoked) comm.board = null;
    this.engine.completion.complete(request, error);
  }

  /** What this member wants of the board. The error with which its call ends, 0: none. */
  private takeParts(operation: BoardOperation): ErrorCode {
    const { comm, kind, root, inPlace, error } = operation;
    const isRoot = comm.rank === root;
    if (kind === "allreduce" || (kind === "reduce" && isRoot)) return this.takePart(operation, 0, 0) || error;
    if (kind === "bcast" && !isRoot) return this.takePart(operation, root, 0) || error;
    if (kind === "scatter" && !(isRoot && inPlace)) return this.takePart(operation, root, 0) || error;
    if (kind !== "allgather" && kind !== "alltoall" && !(kind === "gather" && isRoot)) return error;
    let worst = error;
    for (let member = 0; member < comm.size; member++) {
      worst = this.takePart(operation, member, member * operation.bytes) || worst;
    }
    return worst;
  }

  private takePart(operation: BoardOperation, member: number, offset: number): ErrorCode {
    const { comm, kind, receive, bytes } = operation;
    const board = comm.board!;
    const length = board.lengthOf(member);
    const hasBlocks = isForAll(kind);
    const block = hasBlocks ? Math.floor(length / comm.size) : length;
    const fitting = Math.min(block, bytes);
    const from = hasBlocks ? comm.rank * block : 0;
    if (fitting > 0) this.memory.fromPayload(receive, offset, board.part(member) + from, fitting);
    return length === partBytes(kind, bytes, comm.size) ? 0 : ErrorClass.TRUNCATE;
  }
}

lives({ BoardOperations });
