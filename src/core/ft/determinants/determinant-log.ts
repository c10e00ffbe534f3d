/** The determinants of one process on their way to the stream of its set. */
import { lives } from "../../base/saved-classes.ts";
import { determinantHeaderWords } from "./determinant-entries.ts";
import { DeterminantKind, type DeterminantStream } from "./determinant-stream.ts";

export class DeterminantLog {
  static readonly unsaved = { stream: null };
  private readonly rank: number;
  private readonly stream: DeterminantStream;
  /** How often "nothing yet" was said since the last entry, */
  private nothings = 0;
  /** or how often something was done to a file that needs no entry of its own. */
  private isOfFiles = false;
  /** Of all entries so far. */
  bytes = 0;

  constructor(rank: number, stream: DeterminantStream) {
    this.rank = rank;
    this.stream = stream;
  }

  append(kind: DeterminantKind, words: readonly number[]): void {
    this.closeRun();
    this.put(kind, words);
  }

  /** The same for a kind that has three words: the cost of a receive from any source. */
  append3(kind: DeterminantKind, a: number, b: number, c: number): void {
    if (this.nothings !== 0) this.closeRun();
    this.bytes += 4 * (determinantHeaderWords + 3);
    this.stream.append3(this.rank, kind, a, b, c);
  }

  private put(kind: DeterminantKind, words: readonly number[]): void {
    this.bytes += 4 * (determinantHeaderWords + words.length);
    this.stream.append(this.rank, kind, words);
  }

  /** So many entries of three words have gone to the stream another way. */
  appended3(times: number): void {
    this.bytes += 4 * (determinantHeaderWords + 3) * times;
  }

  /** "Nothing yet" was said once more; or a file was used once more, with the usual result. */
  nothing(isOfFile = false): void {
    if (isOfFile !== this.isOfFiles) this.closeRun();
    this.isOfFiles = isOfFile;
    this.nothings++;
  }

  get hasOpenRun(): boolean {
    return this.nothings !== 0;
  }

  /** A message is sent, if only inside the set: it depends on the answers that the program was given. */
  closeRun(): void {
    if (this.nothings === 0) return;
    const times = this.nothings;
    this.nothings = 0;
    this.put(DeterminantKind.NOTHING, [times]);
  }

  /** The position that must be stable before an effect leaves now: the effect may depend on every entry so far. */
  ticket(): number {
    this.closeRun();
    return this.stream.born;
  }

  /** The same for a change of a file, which need not wait for changes of files just before: a life that repeats them repeats this one too. */
  ticketOfFile(): number {
    if (!this.isOfFiles) this.closeRun();
    return this.stream.born;
  }

  /** Where the stream of the set is. */
  get position(): number {
    return this.stream.born;
  }

  isStable(ticket: number): boolean {
    if (((this.stream.stable - ticket) | 0) >= 0) return true;
    this.stream.urge();
    return false;
  }

  /** Somebody else waits until all entries so far are stable. */
  hurry(): void {
    this.isStable(this.stream.born);
  }
}

lives({ DeterminantLog });
