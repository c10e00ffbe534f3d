/**
 * Words of operation logs as a stream of 32-bit words, and back. A packet of a protocol has room for three words, and an outcome may be a page of
 * a file: so each replica sends each other one stream, in pieces, and the reader takes from it whatever is complete.
 *
 * The encoder asserts; the reader believes nothing, and says so once: nothing of that sender is read any more.
 */
import { assert } from "../../../base/assert.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { PerformedEntry } from "../../shared-operations.ts";
import type { OperationWord } from "./operation-log.ts";

const kinds = ["entry", "held", "query", "state"] as const;
/** Of one word: more than any outcome has, with all that may be known of 4 096 operations. */
const wordsMax = 1 << 26;

const isRepeatedBit = 1;
const hasOutcomeBit = 2;

/** Its length first. */
export function encodeOperation(word: OperationWord): Int32Array {
  const words: number[] = [0, kinds.indexOf(word.kind), word.view];
  switch (word.kind) {
    case "entry":
      words.push(word.number, word.allHold, word.wantsWord ? 1 : 0);
      pushEntry(words, word.entry);
      break;
    case "held":
      words.push(word.known, word.passed);
      break;
    case "query":
      words.push(word.known);
      break;
    case "state":
      words.push(word.from, word.known, word.passed, word.entries.length);
      for (const entry of word.entries) pushEntry(words, entry);
      break;
  }
  assert(words.length <= wordsMax, `a word of ${words.length} words about operations`);
  words[0] = words.length;
  return Int32Array.from(words);
}

function pushEntry(words: number[], { outcome, isRepeated }: PerformedEntry): void {
  words.push((isRepeated ? isRepeatedBit : 0) | (outcome === null ? 0 : hasOutcomeBit), outcome?.length ?? 0);
  if (outcome !== null) for (const word of outcome) words.push(word);
}

/** What has come of the stream of one replica. */
export class OperationReader {
  /** Of a word that is not complete. */
  private words: number[] = [];
  private isWrong = false;

  /** The next of the stream; what it completes, or null. */
  push(next: number): OperationWord | null {
    if (this.isWrong) return null;
    this.words.push(next);
    const [length] = this.words;
    if (length! < 3 || length! > wordsMax) this.isWrong = true;
    if (this.isWrong || this.words.length < length!) return null;
    const word = decode(Int32Array.from(this.words));
    this.words = [];
    if (word === null) this.isWrong = true;
    return word;
  }
}

/** Takes numbers that are no less than 0 from an array; once one is missing or wrong, all are. */
class Cursor {
  isWrong = false;
  private at = 1;
  private readonly words: Int32Array;

  constructor(words: Int32Array) {
    this.words = words;
  }

  take(): number {
    const value = this.words[this.at++];
    if (value === undefined || value < 0) this.isWrong = true;
    return value ?? 0;
  }

  entry(): PerformedEntry {
    const bits = this.take();
    const count = this.take();
    const outcome = (bits & hasOutcomeBit) === 0 ? null : [...this.words.subarray(this.at, this.at + count)];
    if (bits > 3 || (outcome === null ? count !== 0 : outcome.length !== count)) this.isWrong = true;
    this.at += count;
    return { outcome, isRepeated: (bits & isRepeatedBit) !== 0 };
  }

  get isEnd(): boolean {
    return !this.isWrong && this.at === this.words.length;
  }
}

function decode(words: Int32Array): OperationWord | null {
  const from = new Cursor(words);
  const kind = kinds[from.take()];
  const view = from.take();
  if (kind === undefined) return null;
  const word = read(kind, view, from);
  return from.isEnd ? word : null;
}

function read(kind: (typeof kinds)[number], view: number, from: Cursor): OperationWord {
  switch (kind) {
    case "entry": {
      const [number, allHold, wants] = [from.take(), from.take(), from.take()];
      return { kind, view, number, allHold, wantsWord: wants !== 0, entry: from.entry() };
    }
    case "held":
      return { kind, view, known: from.take(), passed: from.take() };
    case "query":
      return { kind, view, known: from.take() };
    case "state": {
      const [first, known, passed, count] = [from.take(), from.take(), from.take(), from.take()];
      const entries: PerformedEntry[] = [];
      for (let i = 0; i < count && !from.isWrong; i++) entries.push(from.entry());
      return { kind, view, from: first, known, passed, entries };
    }
  }
}

lives({ OperationReader });
