/** Messages of a script and the receives that take them. Ranks are those of the world in every communicator. */
import type { SendMode } from "../../core/request/records.ts";

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
  /** May be ANY_SOURCE, ANY_TAG. */
  readonly source: number;
  readonly tag: number;
  readonly room: number;
  readonly lent: boolean;
  /** Messages it may take, by number: one, or all of its group; null: any message to an open rank, identified by its tag. */
  readonly mayTake: readonly number[] | null;
}
