/**
 * Operations of a rank on files, where several processes play the rank and each makes all of them: one process performs, the others are told
 * what the operation came to. A protocol whose ranks have several processes has such an object in each of them (`Protocol.operations`).
 */
import type { Outcome } from "./choices.ts";

/** What an operation came to. */
export interface PerformedEntry {
  readonly outcome: Outcome;
  /** Others do the operation themselves, which only looks. */
  readonly isRepeated: boolean;
}

/** What the program is told when it comes to its next operation. */
export type PerformedAnswer =
  /** Not yet: ask again when a word or a death has been heard. */
  | { readonly kind: "wait" }
  /** This process performs it, and calls `append` then. */
  | { readonly kind: "perform" }
  /** It has been performed. */
  | { readonly kind: "told"; readonly entry: PerformedEntry };

export interface SharedOperations {
  /** Would `ask` answer anything else than "wait"? */
  readonly isReady: boolean;
  /** The program is at its next operation. "told" takes it: the program is past it then. */
  ask(): PerformedAnswer;
  /** The program of the process that performs is past an operation. */
  append(entry: PerformedEntry): void;
  /** Does every process of the rank that lives hold all that this one, which performs, has appended? */
  readonly isHeld: boolean;
  /** May this process, which performs, change a file? Not before the others have looked at what they want to see unchanged. */
  readonly mayChange: boolean;
}
