/**
 * Everything that one process has sent in one run, to be compared with other runs of the same program: one entry for each message, in the
 * order in which messages were posted. Plain words, so that the log of a run can cross from one process to another.
 *
 * Bounded: behind `entriesMax` entries messages are counted and not kept.
 */

/** Words of an entry. */
export const L_DEST = 0;
/** Number of the message in its channel. */
export const L_SEQUENCE = 1;
export const L_CONTEXT = 2;
export const L_TAG = 3;
export const L_BYTES = 4;
/** Of the payload. */
export const L_HASH = 5;
/** Which call of the program sent it: an index in a table of texts; −1: not known. */
const L_CALL = 6;
/** When, among all messages of the run, it was posted; −1: not known. */
const L_ORDER = 7;
export const entryWords = 8;

/** Plain data. */
export interface SendEntries {
  /** `entryWords` for each. */
  readonly words: Int32Array;
  /** Messages that were sent, more than `words` has if the log was full. */
  readonly count: number;
}

/** Contexts of the program's own messages are even, those of collectives are odd. */
export const isOfProgram = (context: number): boolean => (context & 1) === 0;

export class SendLog {
  private words = new Int32Array(entryWords << 6);
  private used = 0;
  count = 0;
  private readonly entriesMax: number;

  constructor(entriesMax: number) {
    this.entriesMax = entriesMax;
  }

  /** The first of the words of a new entry in the array that `entries` has; −1: the log is full. */
  private next(): number {
    this.count++;
    if (this.count > this.entriesMax) return -1;
    const at = this.used;
    this.used += entryWords;
    if (this.used > this.words.length) {
      const longer = new Int32Array(2 * this.words.length);
      longer.set(this.words);
      this.words = longer;
    }
    return at;
  }

  add(entry: LoggedSend): void {
    const at = this.next();
    if (at < 0) return;
    const { words } = this;
    words[at + L_DEST] = entry.dest;
    words[at + L_SEQUENCE] = entry.sequence;
    words[at + L_CONTEXT] = entry.context;
    words[at + L_TAG] = entry.tag;
    words[at + L_BYTES] = entry.bytes;
    words[at + L_HASH] = entry.hash;
    words[at + L_CALL] = entry.call;
    words[at + L_ORDER] = entry.order;
  }

  get entries(): SendEntries {
    return { words: this.words.slice(0, this.used), count: this.count };
  }
}

/** An entry, for people. */
export interface LoggedSend {
  readonly dest: number;
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  readonly hash: number;
  readonly call: number;
  readonly order: number;
}

export function sendAt(words: Int32Array, index: number): LoggedSend {
  const at = index * entryWords;
  return {
    dest: words[at + L_DEST]!,
    sequence: words[at + L_SEQUENCE]!,
    context: words[at + L_CONTEXT]!,
    tag: words[at + L_TAG]!,
    bytes: words[at + L_BYTES]!,
    hash: words[at + L_HASH]!,
    call: words[at + L_CALL]!,
    order: words[at + L_ORDER]!,
  };
}
