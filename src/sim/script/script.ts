/**
 * A program as data: what every rank does, and what must come out. Made by the generator, run by the interpreter, judged by
 * the checkers.
 *
 * Ranks are those of the communicator named beside them, except where a list is indexed by "rank" alone: that is the rank
 * in the world.
 */
import type { SendMode } from "../core/request/records.ts";

export interface CommunicatorPlan {
  readonly number: number;
  /** World ranks, in the order of the communicator. */
  readonly members: readonly number[];
  readonly made:
    | { readonly by: "world" }
    | { readonly by: "duplicate"; readonly parent: number }
    | { readonly by: "split"; readonly parent: number; readonly color: number };
  /** Ranks whose receives here are all from any source with any tag: which message each of them takes is nobody's promise. */
  readonly open: ReadonlySet<number>;
}

export interface MessagePlan {
  readonly number: number;
  readonly communicator: number;
  readonly from: number;
  readonly to: number;
  readonly tag: number;
  readonly bytes: number;
  readonly mode: SendMode;
  /** The buffer is an ordinary view, lent for the time of the request. */
  readonly lent: boolean;
}

export interface ReceivePlan {
  readonly number: number;
  readonly communicator: number;
  readonly at: number;
  /** Or ANY_SOURCE, ANY_TAG. */
  readonly source: number;
  readonly tag: number;
  readonly room: number;
  readonly lent: boolean;
  /** Messages it may take, by number: one, or all of its group; null: any message to an open rank, told by its tag. */
  readonly mayTake: readonly number[] | null;
}

export type MovingKind = "barrier" | "bcast" | "gather" | "scatter" | "allgather" | "alltoall";
export type ReducingKind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

export interface CollectivePlan {
  readonly number: number;
  readonly communicator: number;
  readonly kind: MovingKind | ReducingKind;
  readonly root: number;
  /** Elements of a block or of the vector. */
  readonly count: number;
  readonly reduction: "sum" | "compose";
  readonly lent: boolean;
}

/** Requests are named by numbers that the script chooses, unique in one rank. */
export type Action =
  | { readonly kind: "send"; readonly message: number; readonly request: number }
  /** Blocking, by the short way where the engine has one. */
  | { readonly kind: "send-now"; readonly message: number }
  | { readonly kind: "receive"; readonly receive: number; readonly request: number }
  | { readonly kind: "receive-now"; readonly receive: number }
  /** Blocking: probes until the message is there, then receives it; a matched probe sets it aside first. */
  | { readonly kind: "probe"; readonly receive: number; readonly matched: boolean }
  /** Waits for all of them: one after the other as listed, or for whichever is complete first. */
  | { readonly kind: "wait"; readonly requests: readonly number[]; readonly inOrder: boolean }
  /** Starts something that nobody will answer, cancels it, and waits. */
  | { readonly kind: "cancel-receive"; readonly communicator: number; readonly source: number; readonly tag: number }
  | {
      readonly kind: "cancel-send";
      readonly communicator: number;
      readonly to: number;
      readonly tag: number;
      readonly bytes: number;
    }
  | { readonly kind: "collective"; readonly collective: number; readonly request: number }
  /** Takes part in making communicators from `parent`; the member's own is `communicator`, −1: of none. */
  | {
      readonly kind: "make";
      readonly parent: number;
      readonly communicator: number;
      readonly color: number | null;
      readonly key: number;
    }
  | { readonly kind: "free"; readonly communicator: number }
  | { readonly kind: "compute"; readonly forNs: number };

export interface Script {
  readonly ranks: number;
  readonly communicators: readonly CommunicatorPlan[];
  readonly messages: readonly MessagePlan[];
  readonly receives: readonly ReceivePlan[];
  readonly collectives: readonly CollectivePlan[];
  /** By world rank. */
  readonly actions: readonly (readonly Action[])[];
}
