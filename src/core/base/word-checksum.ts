/**
 * A checksum of words for records that are written often and read rarely: a table of CRC-32 takes 4 ns a byte here, this takes about a
 * nanosecond a word. Every step is a bijection of the state, so one changed word is always noticed; other damage with the chance that 32 bits
 * give. Four lanes, because a step waits for the one before; sixteen for many words, which are four vectors in WebAssembly
 * (vector-checksum.ts).
 */
const multiplier = 0x9e3779b1;
const rotation = 15;
const lanes = 16;
/** From here on there are sixteen lanes: no record that is written for each small message pays for them. */
const manyWords = 256;

/** Takes words `from` … `to` − 1, a multiple of sixteen, into the sixteen lanes, one after the other. */
type PassLanes = (words: Int32Array, from: number, to: number, states: Int32Array) => void;

/** The checksum of words of an array from an index on, so many. */
export type WordChecksum = (words: Int32Array, first: number, count: number) => number;

/** `pass`: for many words. */
export const checksumBy =
  (pass: PassLanes): WordChecksum =>
  (words, first, count) =>
    count < manyWords ? ofFew(words, first, count) : ofMany(words, first, count, pass);

function ofFew(words: Int32Array, first: number, count: number): number {
  let a = count;
  let b = 1;
  let c = 2;
  let d = 3;
  const end = first + count;
  let at = first;
  for (; at + 4 <= end; at += 4) {
    a = step(a, words[at]!);
    b = step(b, words[at + 1]!);
    c = step(c, words[at + 2]!);
    d = step(d, words[at + 3]!);
  }
  for (; at < end; at++) a = step(a, words[at]!);
  return step(step(step(step(step(a, b), c), d), 0), count);
}

const states = new Int32Array(lanes);

function ofMany(words: Int32Array, first: number, count: number, pass: PassLanes): number {
  for (let lane = 0; lane < lanes; lane++) states[lane] = lane === 0 ? count : lane;
  const end = first + (count & ~(lanes - 1));
  pass(words, first, end, states);
  let sum = states[0]!;
  for (let lane = 1; lane < lanes; lane++) sum = step(sum, states[lane]!);
  for (let at = end; at < first + count; at++) sum = step(sum, words[at]!);
  return step(step(sum, 0), count);
}

/** Four lanes at a time, in stretches that stay in the processor's nearest memory meanwhile. */
const stretchWords = 1 << 10;

function passLanes(words: Int32Array, first: number, end: number, states: Int32Array): void {
  for (let from = first; from < end; from += stretchWords) {
    const to = Math.min(from + stretchWords, end);
    for (let lane = 0; lane < lanes; lane += 4) passFour(words, from, to, states, lane);
  }
}

function passFour(words: Int32Array, from: number, to: number, states: Int32Array, lane: number): void {
  let a = states[lane]!;
  let b = states[lane + 1]!;
  let c = states[lane + 2]!;
  let d = states[lane + 3]!;
  for (let at = from + lane; at < to; at += lanes) {
    a = step(a, words[at]!);
    b = step(b, words[at + 1]!);
    c = step(c, words[at + 2]!);
    d = step(d, words[at + 3]!);
  }
  states[lane] = a;
  states[lane + 1] = b;
  states[lane + 2] = c;
  states[lane + 3] = d;
}

export const wordChecksum: WordChecksum = checksumBy(passLanes);

/** Of words whose first ones, so many, and the others have checksums of their own. */
export const mixChecksums = (first: number, second: number, before: number): number =>
  step(step(step(before, first), second), 0);

function step(state: number, word: number): number {
  const mixed = Math.imul(state ^ word, multiplier);
  return (mixed << rotation) | (mixed >>> (32 - rotation));
}
