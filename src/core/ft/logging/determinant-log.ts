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

  /** The same for a kind that has three words: what a receive from any source pays. */
  append3(kind: DeterminantKind, a: number, b: number, c: number): void {
    if (this.nothings !== 0) this.closeRun();
    this.bytes += 4 * (determinantHeaderWords + 3);
    this.stream.append3(this.rank, kind, a, b, c);
  }

  private put(kind: DeterminantKind, words: readonly number[]): void {
    this.bytes += 4 * (determinantHeaderWords + words.length);
    this.stream.append(this.rank, kind, words);
  }

  /** "Nothing yet" was said once more; or a file was used once more, and that came to what was to be expected. */
  nothing(isOfFile = false): void {
    if (isOfFile !== this.isOfFiles) this.closeRun();
    this.isOfFiles = isOfFile;
    this.nothings++;
  }

  get hasOpenRun(): boolean {
    return this.nothings !== 0;
  }

  /** What is sent now, if only inside the set, depends on what was said. */
  closeRun(): void {
    if (this.nothings === 0) return;
    const times = this.nothings;
    this.nothings = 0;
    this.put(DeterminantKind.NOTHING, [times]);
  }

  /** What leaves now may depend on all that is born: the position that must be stable before it does. */
  ticket(): number {
    this.closeRun();
    return this.stream.born;
  }

  /** The same for what is done to a file: it may be done again after what was done to files just before, if that is done again. */
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
}

lives({ DeterminantLog });
