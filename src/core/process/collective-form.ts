/** How a collective is called: its form, its kind, and the arguments of kinds whose blocks are equal. */
import type { ErrorCode } from "../base/mpi-error.ts";

/**
 * Blocking calls may meet on the communicator's board, where there is one and the message is small: every member must call in this
 * form, or none. They and non-blocking ones take the communicator's next number. A number is the tag that the messages have instead:
 * that of a persistent collective, or one that was promised before.
 */
export type CollectiveForm = "blocking" | "nonblocking" | number;

/** Kinds of collectives whose blocks are equal, or that have none. */
export type EqualKind = "barrier" | "bcast" | "gather" | "scatter" | "allgather" | "alltoall";
export type ReductionKind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

/** The arguments that make a difference among calls of one kind on one communicator. */
export interface EqualCall {
  /** Length of one block. */
  readonly bytes?: number;
  readonly root?: number;
  readonly inPlace?: boolean;
  /** Non-blocking unless given. */
  readonly form?: CollectiveForm;
  /** The mistake in this rank's arguments: the collective runs all the same, and ends with it here. 0: none. */
  readonly error?: ErrorCode;
}
