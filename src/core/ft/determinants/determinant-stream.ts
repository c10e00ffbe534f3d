/**
 * Where determinants go: one stream for all processes of a correlated set, in an order in which none stands before one that it
 * depends on. In a node that is the order of shared memory: a process appends before it sends, so choices of others that
 * follow from its messages stand behind. Hence every beginning of the stream is a consistent cut, and a set that is restarted replays
 * the beginning that the event logger has.
 *
 * An entry is words (determinant-entries.ts): their count, the rank, one of `DeterminantKind`, then the words of that kind. Positions
 * count words; they wrap, and no two that are compared are 2^31 apart.
 */
export const DeterminantKind = {
  /** A receive from any source has taken a message. Words: number of the receive, source, sequence. */
  MATCH: 1,
  /** A receive was cancelled. Words: its number. */
  CANCELLED: 2,
  /** Tests and probes said "nothing yet". Words: how often, one after the other. */
  NOTHING: 3,
  /** A receive from a named source was not cancelled, because it had its message. Words: its number. */
  CAME: 5,
  /** Any other choice. Words: one of `ChoiceKind`, its outcome. */
  CHOICE: 4,
} as const;
export type DeterminantKind = (typeof DeterminantKind)[keyof typeof DeterminantKind];

export interface DeterminantStream {
  /** Position behind the last entry of any rank of the set: an effect that leaves now depends on no later entry. */
  readonly born: number;
  /** Position up to which the event logger has acknowledged. */
  readonly stable: number;
  append(rank: number, kind: DeterminantKind, words: readonly number[]): void;
  /** The same for a kind that has three words: allocates nothing. */
  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void;
  /** A rank waits until all entries up to `born` are stable. */
  urge(): void;
}
