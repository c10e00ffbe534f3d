/** What can become of a job, of its nodes and of its processes: plain data, for people, for the journal and for other processes. */
import type { Ending } from "./ending.ts";
import type { GivenUp } from "./falls.ts";

/** One process is gone. All ranks hear of deaths in the same order. */
export interface Death {
  readonly order: number;
  readonly rank: number;
  readonly incarnation: number;
}

/** Why a node is gone that should not be. */
export type NodeLoss =
  | { readonly kind: "signal"; readonly signal: string; readonly signalNumber: number }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "silent"; readonly silentMs: number }
  /** The dispatcher cannot talk to it any more. */
  | { readonly kind: "cut"; readonly why: string }
  /** It has said that it goes, and was let go. */
  | { readonly kind: "left" }
  /** Its ranks, or some of them, are to be elsewhere: what is on it begins again. */
  | { readonly kind: "moved" }
  /** The whole job was: another dispatcher goes on with what is on the disk. */
  | { readonly kind: "switched-off" };

export type Reason =
  | { readonly kind: "finished" }
  /** All that had not finished stand still, and can go on another time. */
  | { readonly kind: "frozen" }
  | (Unrepaired & {
      readonly kind: "rank-failed";
      readonly rank: number;
      readonly node: number;
      readonly ending: Ending;
    })
  | (Unrepaired & {
      readonly kind: "node-failed";
      readonly node: number;
      readonly ranks: readonly number[];
      readonly loss: NodeLoss;
    })
  | { readonly kind: "aborted"; readonly rank: number; readonly node: number; readonly message: string }
  | { readonly kind: "interrupted"; readonly signal: string }
  | { readonly kind: "timeout" }
  /** A rank waits for another one, whose program is over. */
  | { readonly kind: "stuck"; readonly message: string }
  /** All have come to their end, some without MPI_Finalize. */
  | { readonly kind: "unfinalized"; readonly message: string }
  | { readonly kind: "output-closed" }
  /** `disputed`: replicas differ, and in what. */
  | { readonly kind: "unusable"; readonly message: string; readonly disputed?: string };

interface Unrepaired {
  /** Where the dead are replaced, and this one is not: why. */
  readonly givenUp?: GivenUp;
  /** Where ranks are played by several processes: those that no process plays any more. */
  readonly unplayed?: readonly number[];
}

export interface JobOutcome {
  readonly code: number;
  readonly reason: Reason;
  /** From the start of the job to the decision. */
  readonly afterMs: number;
}
