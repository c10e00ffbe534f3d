/**
 * A rank is taken from its correlated set, to go on elsewhere as a set of its own (ADR 73). The members stand still for a checkpoint and do not go on: both sets begin with that one, and
 * nothing has been chosen or sent since.
 *
 * From then on the rank and the others are of different sets, and a protocol may need to know which numbers of their messages had been used between them: inside a set nobody keeps account of
 * what has been received. So every member says at a checkpoint what it has sent to the others. Nothing is under way then but messages that wait for a receive: their envelopes are there, their
 * bytes are not.
 */
import type { Checkpoint } from "./checkpoint.ts";

/** The messages of one member to another at a checkpoint of their set. */
export interface SentInSet {
  readonly from: number;
  readonly to: number;
  /** The number of its next message. */
  readonly next: number;
  /** Lower ones that it has not sent yet: of collectives that are under way. */
  readonly unsent: readonly number[];
  /** Those whose bytes wait for a receive. */
  readonly waiting: readonly WaitingMessage[];
}

export type WaitingMessage = readonly [sequence: number, context: number, tag: number, bytes: number];

export interface SetSplit {
  /** The set from which it is taken, and the number of its own. */
  readonly set: number;
  readonly as: number;
  readonly rank: number;
  /** With which both begin. */
  readonly checkpoint: Checkpoint;
  /** Between the rank and the others, both ways. */
  readonly sent: readonly SentInSet[];
}

/** The rank is a set of its own from now on. All parts of a job look at one table. */
export function splitSets(setOf: readonly number[], { rank, as }: Pick<SetSplit, "rank" | "as">): void {
  (setOf as number[])[rank] = as;
}
