/** A process that has joined and has no place gives a sign of life this often. */
export const idleBeatMs = 1_000;

/** What a process that offers itself as a node says to the command that has started it (`banyan node`), over Node's own channel. */
export type FromVolunteer =
  /** The job has taken it in, under that number. It waits for a place. */
  | { readonly kind: "joined"; readonly number: number }
  /** The job does not take it back under the number that it had; it calls again as a new one. */
  | { readonly kind: "not-back" }
  /** It is a node of the job now. */
  | { readonly kind: "node"; readonly node: number; readonly ranks: readonly number[] }
  /** It cannot join. `isGone`: no job is there. */
  | { readonly kind: "failed"; readonly why: string; readonly isGone: boolean }
  /** The job cannot use it. */
  | { readonly kind: "dismissed"; readonly why: string }
  /** The job is over, or lets it go. */
  | { readonly kind: "over" };
