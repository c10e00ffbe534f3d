/**
 * The needs of the executor: messages, memory and the reduction of a process. A port; core/process implements it with the
 * matching engine, the tests with a network of their own.
 *
 * The executor calls these methods from `start` and `progress` only. No method waits, and none may call `progress`; `finished`
 * may call `start`.
 */

import type { Pointer, RecordId } from "../../base/brand.ts";
import type { ErrorCode } from "../../base/mpi-error.ts";
import type { Operation } from "./operation.ts";

/** The result of `complete` while a message is under way. Any other result is an error code, 0 for success. */
export const underWay = -1;
/** Another result of `complete`: success, but fewer bytes have come than there is room for. */
export const shorter = -2;

export interface CollectivePorts {
  /** An operation begins: its messages may get their sequence numbers. */
  begun(operation: Operation): void;

  /**
   * Starts a message to a rank of the operation's communicator (`operation.channel`; `local`: a rank of this process's own
   * group of an inter-communicator) with the operation's tag. Messages of collectives never match those of the program,
   * messages of one communicator never match those of another, and messages with the same tag between two ranks arrive in the
   * order they were sent: nothing else keeps them apart. For a dead peer or a revoked communicator the method does not throw:
   * the record completes with the error.
   */
  send(operation: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId;
  /** Starts a receive, from that rank only. Of several receives the one posted first gets the message. */
  receive(
    operation: Operation,
    peer: number,
    local: boolean,
    pointer: Pointer,
    offset: number,
    bytes: number,
  ): RecordId;
  /** `underWay`, or the result of the message; with the result the record is freed and must not be used again. */
  complete(operation: Operation, record: RecordId): ErrorCode | typeof underWay | typeof shorter;
  /**
   * The operation has failed and does not wait for this message any more. A receive that has matched nothing should complete
   * soon, with any error; a send may go on. `complete` is called as before, until it has a result.
   */
  cancel(record: RecordId): void;

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void;
  /**
   * Buffers of reductions are in one memory, so these are places in it:
   * into = left ∘ right by the operation's `reduction`, lower ranks on the left; `into` may be the same bytes as `left` or as
   * `right`, and overlaps them in no other way. False: the program has to combine (a function in C is called by C support
   * code); the operation stands still until `Executor.reduced` is called.
   */
  reduce(operation: Operation, left: Pointer, right: Pointer, into: Pointer, bytes: number): boolean;

  allocate(bytes: number): Pointer;
  free(pointer: Pointer): void;

  /** The operation is over: called once for each operation, possibly before `start` has returned. */
  finished(operation: Operation, error: ErrorCode): void;
}
