/**
 * Small blocking collectives through a board (coll/engine/board.ts) instead of messages: every member puts its part there, the last to
 * arrive combines the parts of a reduction in the canonical order and opens the gate, every member takes what it needs.
 *
 * Whether a call goes this way depends on what all members know alike: that it is a blocking one (a process has at most one
 * under way on a communicator then), its kind and its length. As everything in core it is a start and a progress.
 *
 * Long parts are lent in some calls (lent-parts.ts): copied once instead of twice. Then there is a second round, after which the program
 * may have its buffer back.
 *
 * A part's length stands beside it. A member that reads a part of another length than its own takes what fits and reports that
 * the counts do not match, as the receiver of a message would.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { type Board, type BoardKind, combinedBytesMax } from "../coll/engine/board.ts";
import { kindCode, unlike } from "../coll/engine/collective-call.ts";
import {
  doAllLend,
  foldLentPair,
  isLending,
  isOverwritten,
  LentPlace,
  lentBlockBytesMax,
  type Pair,
} from "../coll/engine/lent-parts.ts";
import { GateArrival } from "../coll/engine/seat.ts";
import { viewsOf } from "../comm/datatype/views.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { foldOnBoard, noResult } from "./board-fold.ts";
import type { EqualKind, ReductionKind } from "./collective-form.ts";
import type { Communicator } from "./communicator.ts";
import type { Failures } from "./failures.ts";
import type { Reduction } from "./reduction.ts";

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
  /** What we want of the others' parts we have, and we stand at the second gate; with what the call ends then. */
  hasTaken: boolean;
  outcome: ErrorCode;
  /** What we have lent, where the call overwrites what we give and the board has no room; 0: nothing. */
  copy: Pointer;
}

const nowhere = 0 as Pointer;

/** The same by messages. All members are there when it comes to that: none has passed the second gate, and whoever passed the first has come to it. */
const secondRoundOf = (operation: BoardOperation): BoardOperation => ({
  ...operation,
  ...{ kind: "barrier", bytes: 0, root: 0, inPlace: false, reduction: null, error: operation.outcome },
});

interface PartPlace {
  readonly board: Board;
  readonly member: number;
  readonly from: number;
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
  private readonly failures: Failures;
  /** Calls whose gate is still shut: one for each communicator at most, hardly ever more than one at all. */
  private readonly waiting: BoardOperation[] = [];

  constructor(engine: Engine, memory: Memory, failures: Failures) {
    this.engine = engine;
    this.memory = memory;
    this.failures = failures;
  }

  get calls(): readonly BoardOperation[] {
    return this.waiting;
  }

  get active(): number {
    return this.waiting.length;
  }

  /** Can the communicator's board take it? The same answer on every member. */
  takes({ board, size }: Communicator, kind: BoardKind, bytes: number): boolean {
    if (board === null) return false;
    const length = partBytes(kind, bytes, size);
    if (board.lendsAll && bytes <= lentBlockBytesMax && isLending(board, { kind, members: size, length })) return true;
    if (length > board.bytesMax) return false;
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
      hasTaken: false,
      outcome: 0,
      copy: nowhere,
    };
    const arrival = comm.board!.takeOver();
    operation.hasTaken = arrival === GateArrival.SECOND;
    if (arrival === GateArrival.NONE) this.arrive(operation);
    else this.waiting.push(operation);
    return request;
  }

  /** At the first gate, or at the second. */
  private arrive(operation: BoardOperation): void {
    const { comm, reduction, bytes } = operation;
    const board = comm.board!;
    if (operation.hasTaken) board.putLength(comm.rank, 0);
    else this.putPart(operation);
    if (board.arrive()) {
      if (reduction !== null && !operation.hasTaken) {
        if (!this.isLending(operation)) foldOnBoard(comm, board, reduction, bytes);
        else if (!doAllLend(board, comm.size, bytes)) board.putLength(0, noResult);
      }
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
      if (operation.comm.board === null) {
        this.forgetCopy(operation);
        messages(operation.comm, operation.hasTaken ? secondRoundOf(operation) : operation, operation.request);
      } else this.arrive(operation);
    }
  }

  /** A process died: a round that waits for it ends with an error, and its board is not used again. */
  peerFailed(rank: number): void {
    for (let i = 0; i < this.waiting.length; ) {
      const operation = this.waiting[i]!;
      const { comm } = operation;
      if (!comm.group.has(rank as WorldRank) || comm.board!.passed()) {
        i++;
        continue;
      }
      // Others may still fetch what we have lent: nobody shall pass the second gate, unless all have come to it.
      if (operation.hasTaken && !operation.isWithdrawn) comm.board!.withdraw();
      comm.board = null;
      this.waiting.splice(i, 1);
      this.end(operation, ErrorClass.PROC_FAILED);
    }
  }

  /** Takes back our arrival at a gate that others do not come to; false: the gate is about to open. */
  giveUp(operation: BoardOperation, error: ErrorCode): boolean {
    if (!operation.isWithdrawn && !operation.comm.board!.withdraw()) return false;
    this.waiting.splice(this.waiting.indexOf(operation), 1);
    this.end(operation, error);
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
    this.end(operation, ErrorClass.REVOKED);
  }

  private isLending({ comm, kind, bytes }: BoardOperation): boolean {
    return isLending(comm.board!, { kind, members: comm.size, length: partBytes(kind, bytes, comm.size) });
  }

  private putPart(operation: BoardOperation): void {
    const { comm, kind, send, receive, bytes, root, inPlace } = operation;
    const { rank, size } = comm;
    const board = comm.board!;
    const length = partBytes(kind, bytes, size);
    board.putLength(rank, length);
    const isFromRoot = kind === "bcast" || kind === "scatter";
    if (bytes === 0 || (isFromRoot && rank !== root)) return;
    const isInReceive = kind === "bcast" || (inPlace && kind !== "scatter");
    const offset = inPlace && (kind === "allgather" || kind === "gather") ? rank * bytes : 0;
    const from = isInReceive ? receive : send;
    if (this.isLending(operation)) this.lendPart(operation, from, offset, length);
    else this.memory.toPayload(board.part(rank), from, offset, length);
  }

  private lendPart(operation: BoardOperation, from: Pointer, offset: number, length: number): void {
    const { comm, kind, inPlace } = operation;
    const { rank } = comm;
    const board = comm.board!;
    if (from >= 0 && !isOverwritten(kind, inPlace)) board.lend(rank, from + offset);
    else if (length <= board.bytesMax) {
      board.lend(rank, LentPlace.ON_BOARD);
      this.memory.toPayload(board.part(rank), from, offset, length);
    } else {
      operation.copy = this.memory.allocate(length);
      this.memory.copy(operation.copy, 0, from, offset, length);
      board.lend(rank, operation.copy);
    }
  }

  private finish(operation: BoardOperation): void {
    const { comm, bytes, kind, hasTaken } = operation;
    const board = comm.board!;
    const hasLent = !hasTaken && this.isLending(operation);
    const isAgreed = hasLent && doAllLend(board, comm.size, partBytes(kind, bytes, comm.size));
    if (hasLent && !isAgreed) operation.outcome = ErrorClass.TRUNCATE;
    else if (!hasTaken) operation.outcome = this.takeParts(operation);
    board.next();
    if (isAgreed) this.meetAgain(operation);
    else {
      if (comm.isRevoked) comm.board = null;
      this.end(operation, operation.outcome);
    }
  }

  /**
   * The others may still read what we have lent. A member that has heard that not all will come to the second gate does not come either:
   * nobody passes it then, and all that live hear of it.
   */
  private meetAgain(operation: BoardOperation): void {
    const { comm } = operation;
    operation.hasTaken = true;
    const isBroken = this.failures.isAmong(comm);
    if (!comm.isRevoked && !isBroken) {
      this.arrive(operation);
      return;
    }
    comm.board = null;
    this.end(operation, isBroken ? ErrorClass.PROC_FAILED : ErrorClass.REVOKED);
  }

  private end(operation: BoardOperation, error: ErrorCode): void {
    this.forgetCopy(operation);
    this.engine.completion.complete(operation.request, error);
  }

  private forgetCopy(operation: BoardOperation): void {
    if (operation.copy !== nowhere) this.memory.free(operation.copy);
    operation.copy = nowhere;
  }

  /** What this member wants of the board. The error with which its call ends, 0: none. */
  private takeParts(operation: BoardOperation): ErrorCode {
    const { comm, kind, root, inPlace, error } = operation;
    const isRoot = comm.rank === root;
    if (operation.reduction !== null && this.isLending(operation)) {
      if (kind === "allreduce" || isRoot) foldLentPair(this.pairOf(operation));
      return error;
    }
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

  private pairOf({ comm, send, receive, bytes, inPlace, reduction }: BoardOperation): Pair {
    const { memory } = this;
    const { elementBytes } = reduction!;
    const board = comm.board!;
    const other = 1 - comm.rank;
    return {
      memory,
      own: inPlace ? receive : send,
      into: receive,
      bytes,
      elementBytes,
      isFirst: comm.rank === 0,
      fetch: (to, offset, length) => this.fetchPart({ board, member: other, from: offset }, to, 0, length),
      apply: (left, right, into, length) =>
        reduction!.apply(viewsOf(memory.bytes.buffer), left, right, into, length / elementBytes),
    };
  }

  /** From a byte of a part on, wherever it is. */
  private fetchPart({ board, member, from }: PartPlace, to: Pointer, toOffset: number, bytes: number): void {
    const lent = board.lentAt(member);
    if (lent > LentPlace.ON_BOARD) board.fetch(member, to, toOffset, lent + from, bytes);
    else this.memory.fromPayload(to, toOffset, board.part(member) + from, bytes);
  }

  private takePart(operation: BoardOperation, member: number, offset: number): ErrorCode {
    const { comm, kind, receive, bytes } = operation;
    const board = comm.board!;
    const length = board.lengthOf(member);
    const hasBlocks = isForAll(kind);
    const block = hasBlocks ? Math.floor(length / comm.size) : length;
    const fitting = Math.min(block, bytes);
    const from = hasBlocks ? comm.rank * block : 0;
    if (fitting > 0) this.fetchPart({ board, member, from }, receive, offset, fitting);
    return length === partBytes(kind, bytes, comm.size) ? 0 : ErrorClass.TRUNCATE;
  }
}

lives({ BoardOperations });
