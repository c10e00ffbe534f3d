/**
 * Small blocking collectives through a board (coll/board.ts) instead of messages: everybody puts its part there, the last to
 * arrive combines what is to be combined in the canonical order and opens the gate, everybody takes what it needs.
 *
 * Whether a call goes this way depends on what all members know alike: that it is a blocking one (a process has at most one
 * under way on a communicator then), its kind and its length. As everything in core it is a start and a progress.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import { R_POINTER, R_STATE, RecordKind, RecordState } from "../request/records.ts";
import { foldOnBoard } from "./board-fold.ts";
import type { Communicator } from "./communicator.ts";
import type { Reduction } from "./reduction.ts";

export type BoardKind = "barrier" | "bcast" | "gather" | "allgather" | "reduce" | "allreduce";

export interface BoardCall {
  readonly kind: BoardKind;
  readonly send: Pointer;
  readonly receive: Pointer;
  /** Of one member's part. */
  readonly bytes: number;
  readonly root: number;
  readonly inPlace: boolean;
  readonly reduction: Reduction | null;
}

interface Waiting extends BoardCall {
  readonly comm: Communicator;
  readonly request: RecordId;
  /** Our arrival has been taken back. */
  isWithdrawn: boolean;
}

export class BoardOperations {
  private readonly engine: Engine;
  private readonly memory: Memory;
  /** Calls whose gate is still shut: one for each communicator at most, hardly ever more than one at all. */
  private readonly waiting: Waiting[] = [];

  constructor(engine: Engine, memory: Memory) {
    this.engine = engine;
    this.memory = memory;
  }

  get active(): number {
    return this.waiting.length;
  }

  /** Can the communicator's board take it? The same answer on every member. */
  takes(comm: Communicator, bytes: number): boolean {
    return comm.board !== null && bytes <= comm.board.bytesMax;
  }

  start(comm: Communicator, call: BoardCall): RecordId {
    const { records } = this.engine;
    const request = records.take(RecordKind.OPERATION);
    records.put(request, R_POINTER, 0);
    records.put(request, R_STATE, RecordState.ACTIVE);
    this.arrive({ ...call, comm, request, isWithdrawn: false });
    return request;
  }

  private arrive(operation: Waiting): void {
    const { comm, reduction, bytes } = operation;
    const board = comm.board!;
    this.putPart(comm, operation);
    if (board.arrive()) {
      if (reduction !== null) foldOnBoard(comm, board, reduction, bytes / reduction.elementBytes);
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
  arriveAgain(messages: (comm: Communicator, call: BoardCall, request: RecordId) => void): void {
    const withdrawn = this.waiting.filter(({ isWithdrawn }) => isWithdrawn);
    for (const operation of withdrawn) {
      this.waiting.splice(this.waiting.indexOf(operation), 1);
      operation.isWithdrawn = false;
      if (operation.comm.board === null) messages(operation.comm, operation, operation.request);
      else this.arrive(operation);
    }
  }

  /** Somebody died: a round that waits for it ends with an error, and its board is not used again. */
  peerFailed(rank: number): void {
    for (let i = 0; i < this.waiting.length; ) {
      const { comm, request } = this.waiting[i]!;
      if (!comm.group.has(rank as never) || comm.board!.passed()) {
        i++;
        continue;
      }
      comm.board = null;
      this.waiting.splice(i, 1);
      this.engine.completeOperation(request, ErrorClass.PROC_FAILED);
    }
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
    this.engine.completeOperation(operation.request, ErrorClass.REVOKED);
  }

  private putPart({ board, rank }: Communicator, { kind, send, receive, bytes, root, inPlace }: BoardCall): void {
    if (bytes === 0 || (kind === "bcast" && rank !== root)) return;
    const isInReceive = inPlace || kind === "bcast";
    const offset = inPlace && (kind === "allgather" || kind === "gather") ? rank * bytes : 0;
    this.memory.toPayload(board!.part(rank), isInReceive ? receive : send, offset, bytes);
  }

  private finish({ comm, kind, receive, bytes, root, request }: Waiting): void {
    const board = comm.board!;
    const isRoot = comm.rank === root;
    if (bytes > 0) {
      if (kind === "allreduce" || (kind === "reduce" && isRoot)) {
        this.memory.fromPayload(receive, 0, board.part(0), bytes);
      } else if (kind === "bcast" && !isRoot) {
        this.memory.fromPayload(receive, 0, board.part(root), bytes);
      } else if (kind === "allgather" || (kind === "gather" && isRoot)) {
        for (let member = 0; member < comm.size; member++) {
          this.memory.fromPayload(receive, member * bytes, board.part(member), bytes);
        }
      }
    }
    board.next();
    if (comm.isRevoked) comm.board = null;
    this.engine.completeOperation(request, 0);
  }
}

lives({ BoardOperations });
