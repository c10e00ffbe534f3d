/**
 * Words of decision logs as a stream of 32-bit words, and back: a packet of a protocol has room for three words. Each replica sends each
 * other one stream, in pieces, and the reader takes from it whatever is complete. The encoder asserts; the reader believes
 * nothing: of a sender that says nonsense nothing is read any more.
 */
import { assert } from "../../../base/assert.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { Decision, DecisionWord } from "./decision-log.ts";

const kinds = ["decision", "held", "query", "state"] as const;
/** The first word has the length in its low bits and the kind above them. */
const kindShift = 24;
const lengthMax = (1 << kindShift) - 1;
/** The kind of a decision is in the low bits of its number's word: what is said most often has six words. */
const decisionShift = 3;

export function encodeDecision(word: DecisionWord): readonly number[] {
  const words: number[] = [0, word.view];
  switch (word.kind) {
    case "decision": {
      const [kind, ...rest] = word.decision;
      words.push((word.number << decisionShift) | kind!, ...rest);
      break;
    }
    case "held":
      words.push(word.known, word.passed);
      break;
    case "query":
      words.push(word.known);
      break;
    case "state":
      words.push(word.from, word.known);
      for (const decision of word.decisions) words.push(decision.length, ...decision);
      break;
  }
  assert(words.length <= lengthMax, `a word of ${words.length} words about decisions`);
  words[0] = words.length | (kinds.indexOf(word.kind) << kindShift);
  return words;
}

/** What has come of the stream of one replica. */
export class DecisionReader {
  /** Of a word that is not complete. */
  private words: number[] = [];
  private isWrong = false;

  /** The next of the stream; what it completes, or null. */
  push(next: number): DecisionWord | null {
    if (this.isWrong) return null;
    this.words.push(next);
    const length = this.words[0]! & lengthMax;
    if (length < 3) this.isWrong = true;
    if (this.isWrong || this.words.length < length) return null;
    const word = decode(this.words);
    this.words = [];
    if (word === null) this.isWrong = true;
    return word;
  }
}

/** Numbers of decisions and of views are no less than 0. */
const isCount = (value: number | undefined): value is number => value !== undefined && value >= 0;

function decode([head, view, ...words]: readonly number[]): DecisionWord | null {
  const kind = kinds[head! >>> kindShift];
  const [one, two] = words;
  if (kind === undefined || !isCount(view) || !isCount(one)) return null;
  switch (kind) {
    case "decision": {
      const decision = [one & ((1 << decisionShift) - 1), ...words.slice(1)];
      return { kind, view, number: one >>> decisionShift, decision };
    }
    case "held":
      return words.length === 2 && isCount(two) ? { kind, view, known: one, passed: two } : null;
    case "query":
      return words.length === 1 ? { kind, view, known: one } : null;
    case "state": {
      const decisions = decisionsIn(words.slice(2));
      return decisions === null || !isCount(two) ? null : { kind, view, from: one, known: two, decisions };
    }
  }
}

function decisionsIn(words: readonly number[]): Decision[] | null {
  const decisions: Decision[] = [];
  for (let at = 0; at < words.length; ) {
    const length = words[at]!;
    if (length < 1 || at + 1 + length > words.length) return null;
    decisions.push(words.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return decisions;
}

lives({ DecisionReader });
