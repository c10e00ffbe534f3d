/**
 * Whatever a program can observe and that may differ in a second run, beside which message a receive takes: what tests and
 * probes said, which of several requests was first, what the clock showed, how much input there was.
 *
 * The bindings, which offer the program such a choice, ask here first, if the protocol keeps choices:
 *
 *     const known = choices.replay(ChoiceKind.TEST);
 *     if (known === undefined) …                      // choose, and tell `made` or `nothing`
 *     else if (known === null) …                      // it was "not yet", and stays so
 *     else …                                          // it came to this: wait until it is so again
 *
 * `replay` takes the choice: it is not given twice. Whoever has to wait for what is known, and may be interrupted meanwhile,
 * keeps it. "Nothing yet" is counted, not listed: a program that polls costs a number.
 */
export const ChoiceKind = {
  /** Of one or several requests, complete all or not: MPI_Test, MPI_Testall, MPI_Request_get_status, MPI_Parrived. Outcome: none. */
  TEST: 1,
  /**
   * Which of several requests: MPI_Waitany, MPI_Testany, MPI_Request_get_status_any. Outcome: the index. In TypeScript also which
   * `await` goes on next. Outcome: its number, from 0.
   */
  ANY: 2,
  /** MPI_Waitsome, MPI_Testsome, MPI_Request_get_status_some. Outcome: the indices. */
  SOME: 3,
  /** Which message a probe found: every MPI_Iprobe and MPI_Improbe; MPI_Probe and MPI_Mprobe from any source. Outcome: world rank, sequence. */
  PROBE: 4,
  /** A reading of a clock. Outcome: the two words, low one first, of a double; of C's own clocks those of nanoseconds. */
  CLOCK: 5,
  /** How many bytes of input a read gave. Outcome: that number. */
  INPUT: 6,
  /** What an operation on a file came to; "nothing": what was to be expected. See abi/replay/replayed-files.ts. */
  FILE: 7,
} as const;
export type ChoiceKind = (typeof ChoiceKind)[keyof typeof ChoiceKind];

/** What a choice came to; null: nothing yet. */
export type Outcome = readonly number[] | null;

export interface Choices {
  /** May `replay` be asked? Otherwise the choice is made elsewhere, and the program waits, and makes progress, until it is known here. */
  readonly isReady: boolean;
  /** Takes what the next choice came to in the life before: null, "nothing yet"; undefined, it has never been made. */
  replay(kind: ChoiceKind): Outcome | undefined;
  /** It has been made. */
  made(kind: ChoiceKind, outcome: readonly number[]): void;
  /** There was nothing to choose yet, and the program is told so. */
  nothing(kind: ChoiceKind): void;
}

/** The program is about to see the outcome of a choice: the protocol, which keeps it, hears it first. */
export function note(choices: Choices, kind: ChoiceKind, outcome: Outcome): void {
  if (outcome === null) choices.nothing(kind);
  else choices.made(kind, outcome);
}
