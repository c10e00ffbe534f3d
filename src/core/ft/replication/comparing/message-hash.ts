/**
 * Hashes by which replicas compare messages: of all bytes, and of the envelope. Nothing is allocated, and nothing waits for a step before: four
 * sums go on beside each other, so a processor hashes some bytes in each of its cycles.
 *
 * Every step is a bijection of the sum for a given word and of the word for a given sum. So messages that differ in one word of four bytes
 * never have the same hash, and others with a chance of one in 2^32.
 *
 * The sign of a NaN is left out. WebAssembly says of a result that is NaN all but its sign, as long as nobody makes NaNs by hand: two processors, or two
 * compilers of one, may differ there. Such a NaN is known by its first word (0x7fc00000 of a float, 0x7ff80000 of a double), whatever
 * the datatype of the message: of other data, too, the highest bit of words with just these values is not compared.
 */
import { splitmix32 } from "../../../base/splitmix-32.ts";

/** Bits of the hash of an envelope: a word of a packet has no room for more. */
const envelopeBits = 28;

const floatNan = 0x7fc00000;
const doubleNan = 0x7ff80000;
/** Of a float; that of a double has more bits. */
const exponentBits = 0x7f800000;
const exponentUnit = 0x00800000;

function signless(word: number): number {
  const rest = word & 0x7fffffff;
  return rest === doubleNan || rest === floatNan ? rest : word;
}

/** A word is spread before it meets the sum: two changes of single bits would cancel each other otherwise. */
function mixed(sum: number, word: number): number {
  const spread = Math.imul(word, 0x735a2d97);
  return Math.imul(((sum << 13) | (sum >>> 19)) ^ spread ^ (spread >>> 15), 0x9e3779b1);
}

/** Memory that is hashed: as bytes, and as the words that begin at its start. Null: it does not begin at a word. */
export interface HashedBytes {
  readonly view: DataView;
  readonly words: Int32Array | null;
}

/** Of four sums; used again. */
const sums = new Int32Array(4);

export function bytesHash({ view, words }: HashedBytes, from: number, length: number): number {
  sums[0] = 0x811c9dc5;
  sums[1] = 0x2545f491;
  sums[2] = 0x5bd1e995;
  sums[3] = 0x1b873593;
  const end = from + length;
  const wide = end - (length & 15);
  const isAligned = words !== null && (from & 3) === 0;
  for (let at = from; at < wide; at += blockBytes) {
    const blockEnd = Math.min(at + blockBytes, wide);
    // What could be a NaN is looked at once more, word by word.
    if (!isAligned || !addWords(words, at >> 2, blockEnd >> 2)) addSignless(view, at, blockEnd);
  }
  let one = sums[0]!;
  let two = sums[1]!;
  let at = wide;
  for (; at + 4 <= end; at += 4) one = mixed(one, signless(view.getInt32(at, true)));
  for (; at < end; at++) two = mixed(two, view.getUint8(at));
  return splitmix32(mixed(mixed(mixed(mixed(length, one), two), sums[2]!), sums[3]!)) | 0;
}

/** A multiple of 16. */
const blockBytes = 1 << 12;

/** False, and nothing is added: a word has an exponent as NaNs have it. */
function addWords(words: Int32Array, first: number, end: number): boolean {
  let one = sums[0]!;
  let two = sums[1]!;
  let three = sums[2]!;
  let four = sums[3]!;
  // The highest bit is set by exponents of ones alone.
  let exponents = 0;
  for (let at = first; at < end; at += 4) {
    const a = words[at]!;
    const b = words[at + 1]!;
    const c = words[at + 2]!;
    const d = words[at + 3]!;
    exponents |= ((a & exponentBits) + exponentUnit) | ((b & exponentBits) + exponentUnit);
    exponents |= ((c & exponentBits) + exponentUnit) | ((d & exponentBits) + exponentUnit);
    one = mixed(one, a);
    two = mixed(two, b);
    three = mixed(three, c);
    four = mixed(four, d);
  }
  if (exponents < 0) return false;
  sums[0] = one;
  sums[1] = two;
  sums[2] = three;
  sums[3] = four;
  return true;
}

function addSignless(view: DataView, first: number, end: number): void {
  let one = sums[0]!;
  let two = sums[1]!;
  let three = sums[2]!;
  let four = sums[3]!;
  for (let at = first; at < end; at += 16) {
    one = mixed(one, signless(view.getInt32(at, true)));
    two = mixed(two, signless(view.getInt32(at + 4, true)));
    three = mixed(three, signless(view.getInt32(at + 8, true)));
    four = mixed(four, signless(view.getInt32(at + 12, true)));
  }
  sums[0] = one;
  sums[1] = two;
  sums[2] = three;
  sums[3] = four;
}

/** Not negative, of `envelopeBits`. */
export function envelopeHash(context: number, tag: number, bytes: number): number {
  return splitmix32(mixed(mixed(mixed(0x811c9dc5, context), tag), bytes)) >>> (32 - envelopeBits);
}
