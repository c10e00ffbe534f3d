/**
 * Whatever a program can observe and that may differ in a second run, beside which message a receive takes: what tests and
 * probes said, which of several requests was first, what the clock showed, how much input there was.
 *
 * Who offers the program such a choice (the bindings) asks here first, if anybody is there to ask:
 *
 *     const known = choices.replay(ChoiceKind.TEST);
 *     if (known === undefined) …                      // choose, and tell `made` or `nothing`
 *     else if (known === null) …                      // it was "not yet", and stays so
 *     else …                                          // it came to this: wait until it is so again
 *
 * "Nothing yet" is counted, not listed: a program that polls costs a number.
 */
export const ChoiceKind = {
  /** Of one or several requests, complete all or not: MPI_Test, MPI_Testall, MPI_Request_get_status, MPI_Parrived. Outcome: none. */
  TEST: 1,
  /** Which of several requests: MPI_Waitany, MPI_Testany. Outcome: the index. */
  ANY: 2,
  /** MPI_Waitsome, MPI_Testsome. Outcome: the indices. */
  SOME: 3,
  /** Which message a probe found: every MPI_Iprobe and MPI_Improbe; MPI_Probe and MPI_Mprobe from any source. Outcome: world rank, sequence. */
  PROBE: 4,
  /** A reading of a clock. Outcome: the two words of a double. */
  CLOCK: 5,
  /** How many bytes of input a read gave. Outcome: that number. */
  INPUT: 6,
} as const;
export type ChoiceKind = (typeof ChoiceKind)[keyof typeof ChoiceKind];

export interface Choices {
  /** What the next choice came to in the life before: null, "nothing yet"; undefined, it has never been made. */
  replay(kind: ChoiceKind): readonly number[] | null | undefined;
  /** It has been made. */
  made(kind: ChoiceKind, outcome: readonly number[]): void;
  /** There was nothing to choose yet, and the program is told so. */
  nothing(kind: ChoiceKind): void;
}
