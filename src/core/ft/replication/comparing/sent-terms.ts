/**
 * The last messages of a process to one rank, each as one word that stands for its envelope and its bytes (`send-hash.ts`), and the run of
 * them that other replicas have not been told of. Runs follow the numbers of messages, not the order of posting: messages of
 * non-blocking collectives are posted when their time has come.
 *
 * Bounded: `termsMax` messages are remembered. A number that stays unposted for half of that is given up, with those before it.
 */
import { saves } from "../../../base/saved-classes.ts";

const termsMax = 256;
/** A run of a channel that has few messages is short, so that the first messages are compared soon. */
export const runMessagesMax = 64;

/** A run of numbers, and the sum of the terms of their messages. */
export interface TermRun {
  readonly first: number;
  readonly count: number;
  readonly sum: number;
}

/** What is said of a message that others do not send likewise. */
export interface SentMessage {
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
}

const P_SEQUENCE = 0;
const P_TERM = 1;
const P_CONTEXT = 2;
const P_TAG = 3;
const P_BYTES = 4;
const placeWords = 5;

export class SentTerms {
  readonly dest: number;
  private readonly words = new Int32Array(termsMax * placeWords);
  private readonly isTaken = new Uint8Array(termsMax);
  /** The number behind the run that is being made: all before it that are not given up have been posted. */
  next: number;
  private count = 0;
  private sum = 0;
  private countMax = 1;

  /** `first`: the number of the first message that it will be given. */
  constructor(dest: number, first: number) {
    this.dest = dest;
    this.next = first;
  }

  /** A message was posted; true: a run is long enough to be told. */
  add(message: SentMessage, term: number): boolean {
    const { sequence } = message;
    const place = sequence & (termsMax - 1);
    const at = place * placeWords;
    const { words } = this;
    words[at + P_SEQUENCE] = sequence;
    words[at + P_TERM] = term;
    words[at + P_CONTEXT] = message.context;
    words[at + P_TAG] = message.tag;
    words[at + P_BYTES] = message.bytes;
    this.isTaken[place] = 1;
    if (((sequence - this.next) | 0) >= termsMax >> 1) {
      this.next = sequence;
      this.count = 0;
      this.sum = 0;
    }
    while (this.has(this.next) && this.count < this.countMax) {
      this.sum = (this.sum + this.termOf(this.next)) | 0;
      this.count++;
      this.next = (this.next + 1) | 0;
    }
    return this.count === this.countMax;
  }

  get hasRun(): boolean {
    return this.count !== 0;
  }

  /** The run, which counts as told then. */
  takeRun(): TermRun {
    const { count, sum } = this;
    const run = { first: (this.next - count) | 0, count, sum };
    this.count = 0;
    this.sum = 0;
    this.countMax = Math.min(runMessagesMax, 2 * this.countMax);
    return run;
  }

  /** Is that message still remembered? */
  has(sequence: number): boolean {
    const place = sequence & (termsMax - 1);
    return this.isTaken[place] !== 0 && this.words[place * placeWords + P_SEQUENCE] === sequence;
  }

  termOf(sequence: number): number {
    return this.words[(sequence & (termsMax - 1)) * placeWords + P_TERM]!;
  }

  message(sequence: number): SentMessage {
    const at = (sequence & (termsMax - 1)) * placeWords;
    const { words } = this;
    return { sequence, context: words[at + P_CONTEXT]!, tag: words[at + P_TAG]!, bytes: words[at + P_BYTES]! };
  }

  /** The sum of the same run here; null: not all of its messages are remembered. */
  sumOf({ first, count }: Pick<TermRun, "first" | "count">): number | null {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const sequence = (first + i) | 0;
      if (!this.has(sequence)) return null;
      sum = (sum + this.termOf(sequence)) | 0;
    }
    return sum;
  }
}

saves({ SentTerms });
