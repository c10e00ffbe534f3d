/**
 * A collective under way, as plain data: an image can hold it, and a process restored from the image goes on with it.
 */
import type { Brand, Pointer } from "../../base/brand.ts";
import type { ErrorCode } from "../../base/mpi-error.ts";
import type { CompiledSchedule } from "./compiled-schedule.ts";

export type OperationId = Brand<"OperationId">;

/** The caller's description of an operation. All fields but `program` are only passed to the ports. */
export interface OperationCall {
  readonly program: CompiledSchedule;
  /** Number of the communicator. */
  readonly channel: number;
  /**
   * Separates the messages of this operation from those of others on the communicator: the number of the collective there,
   * equal on all ranks because all of them start collectives in the same order. Many may be outstanding, each with its own.
   */
  readonly tag: number;
  /** Of a persistent collective, whose starts have one tag: the number of this start, from 1. 0 otherwise. */
  readonly turn: number;
  /** Number of the operation and datatype; any number when the collective reduces nothing. */
  readonly reduction: number;
  /** The request that is completed at the end. */
  readonly request: number;
  readonly send: Pointer;
  readonly receive: Pointer;
  /**
   * Is a message that is shorter than scheduled a mistake? Yes where ranks pass bytes on or combine them; no where each message
   * is a block of its own.
   */
  readonly exact: boolean;
  /**
   * An error that the call has from the start; the operation runs, for the sake of the other ranks, and ends with this error.
   * 0: none.
   */
  readonly error: ErrorCode;
}

export const Phase = {
  FREE: 0,
  /** Waits for the messages of a round, `records`. */
  RUNNING: 1,
  /** The program combines; see `CollectivePorts.reduce`. */
  REDUCING: 2,
  /** Failed; messages still under way use the buffers, so the operation stays, and is reported when they have ended. */
  FAILED: 3,
  /** Over; its place in the table is about to be free. */
  DONE: 4,
  /** The program combines, and the operation has failed meanwhile. */
  REDUCING_FAILED: 5,
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

export interface Operation extends Omit<OperationCall, "error"> {
  readonly id: OperationId;
  phase: Phase;
  /** Index in the schedule's words where the next round begins. */
  nextRound: number;
  /** Index in the schedule's words of this round's next local step, and how many are left. */
  nextLocal: number;
  localsLeft: number;
  /** The messages of the round that are under way: the first `recordCount` entries. */
  records: number[];
  recordCount: number;
  /** Valid when the schedule needs scratch space. */
  scratch: Pointer;
  /** The result, or the result to come. */
  error: ErrorCode;
  /**
   * Sequence numbers of the operation's sends in their channels, for protocols that need them to follow from the program's
   * order: a message gets the number of the moment when the operation was started, whenever its round begins. Empty otherwise.
   */
  numbers: number[];
  nextNumber: number;
}
