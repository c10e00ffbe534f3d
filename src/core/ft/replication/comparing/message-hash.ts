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

function signless(word: number): number {
  const rest = word & 0x7fffffff;
  return rest === doubleNan || rest === floatNan ? rest : word;
}

/** A word is spread before it meets the sum: two changes of single bits would cancel each other otherwise. */
function mixed(sum: number, word: number): number {
  const spread = Math.imul(word, 0x735a2d97);
  return Math.imul(((sum << 13) | (sum >>> 19)) ^ spread ^ (spread >>> 15), 0x9e3779b1);
}

export function bytesHash(view: DataView, from: number, length: number): number {
  let one = 0x811c9dc5 | 0;
  let two = 0x2545f491;
  let three = 0x5bd1e995;
  let four = 0x1b873593;
  const end = from + length;
  let at = from;
  for (const last = end - 16; at <= last; at += 16) {
    one = mixed(one, signless(view.getInt32(at, true)));
    two = mixed(two, signless(view.getInt32(at + 4, true)));
    three = mixed(three, signless(view.getInt32(at + 8, true)));
    four = mixed(four, signless(view.getInt32(at + 12, true)));
  }
  for (; at + 4 <= end; at += 4) one = mixed(one, signless(view.getInt32(at, true)));
  for (; at < end; at++) two = mixed(two, view.getUint8(at));
  return splitmix32(mixed(mixed(mixed(mixed(length, one), two), three), four)) | 0;
}

/** Not negative, of `envelopeBits`. */
export function envelopeHash(context: number, tag: number, bytes: number): number {
  return splitmix32(mixed(mixed(mixed(0x811c9dc5, context), tag), bytes)) >>> (32 - envelopeBits);
}
