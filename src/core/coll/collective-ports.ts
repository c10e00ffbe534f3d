/**
 * What the executor needs of a process: messages, memory and the reduction. A port; core/process implements it with the
 * matching engine, the tests with a network of their own.
 *
 * The executor calls all of it from `start` and `progress` only. No method waits, and none may call `progress`;
 * `finished` may call `start`.
 */

import type { Pointer, RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { Operation } from "./operation.ts";

/** The answer of `complete` while a message is under way. Otherwise it is an error code, 0 when all is well. */
export const underWay = -1;
/** Another answer: all is well, but fewer bytes have come than there is room for. */
export const shorter = -2;

export interface CollectivePorts {
  /** An operation begins: its messages may get their numbers. */
  begun(operation: Operation): void;

  /**
   * Starts a message to a rank of the operation's communicator (`operation.channel`; `local`: of our own group of an
   * inter-communicator) with the operation's tag. Messages of collectives never meet those of the program, those of one
   * communicator never those of another, and of two ranks those with the same tag arrive in the order they were sent:
   * nothing else keeps them apart. A peer that is dead or a communicator that is revoked is no reason to throw: the
   * record completes with the error.
   */
  send(operation: Operation, peer: number, local: boolean, pointer: Pointer, offset: number, bytes: number): RecordId;
  /** The same for a receive, from that rank only. Of several receives the one posted first takes the message. */
  receive(
    operation: Operation,
    peer: number,
    local: boolean,
    pointer: Pointer,
    offset: number,
    bytes: number,
  ): RecordId;
  /** `underWay`, or how the message ended; then the record has been given back and is not asked about again. */
  complete(record: RecordId): ErrorCode | typeof underWay | typeof shorter;
  /**
   * The operation has failed and nobody waits for this message any more. A receive that has matched nothing should
   * complete soon, with whatever error; a send may go on. `complete` is asked as before, until it says how it ended.
   */
  cancel(record: RecordId): void;

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void;
  /**
   * into = left ∘ right by the operation's `reduction`, lower ranks on the left; `into` may be the same bytes as `left` or
   * as `right`, and overlaps them in no other way. False: the program must be asked first (an operation written in C is
   * called by its own support code); `Executor.reduced` says when it is done, until then the operation stands still.
   */
  reduce(
    operation: Operation,
    left: Pointer,
    leftOffset: number,
    right: Pointer,
    rightOffset: number,
    into: Pointer,
    intoOffset: number,
    bytes: number,
  ): boolean;

  allocate(bytes: number): Pointer;
  free(pointer: Pointer): void;

  /** The operation is over: called once for each, possibly before `start` has returned. */
  finished(operation: Operation, error: ErrorCode): void;
}
