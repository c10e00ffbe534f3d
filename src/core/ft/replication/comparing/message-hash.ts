/**
 * Hashes by which replicas compare messages: of all bytes, and of the envelope. Nothing is allocated. Sixteen sums go on beside each other, so that nothing waits for a
 * step before; steps are those of xxHash, but for a rotation by 16 bits, which is one instruction for a vector. Where bytes are in a memory of WebAssembly its vectors do the same in a fifth of the time (real/transport/message-hash.wat).
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

/** A word of four bytes without the sign of a NaN that arithmetic makes. */
export function signless(word: number): number {
  const rest = word & 0x7fffffff;
  return rest === doubleNan || rest === floatNan ? rest : word;
}

function added(sum: number, word: number): number {
  const met = (sum + Math.imul(word, 0x735a2d97)) | 0;
  return Math.imul((met << 16) | (met >>> 16), 0x9e3779b1);
}

/** Memory that is hashed: as bytes, and as the words that begin at its start. Null: it does not begin at a word. */
export interface HashedBytes {
  readonly view: DataView;
  readonly words: Int32Array | null;
}

/** What is shorter has one sum, what is longer sixteen. */
const blockBytes = 64;
/** The words of a block go to sums of their own, which begin with these and are used again. */
const beginnings = Int32Array.of(
  0x811c9dc5,
  0x2545f491,
  0x5bd1e995,
  0x1b873593,
  0x165667b1,
  0x27d4eb2f,
  0x3c6ef372,
  0x510e527f,
  0x6a09e667,
  0xbb67ae85,
  0xa54ff53a,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
  0x428a2f98,
  0x71374491,
);
const sums = new Int32Array(beginnings.length);

export function bytesHash({ view, words }: HashedBytes, from: number, length: number): number {
  const end = from + length;
  const wide = end - (length & (blockBytes - 1));
  let sum = length;
  if (wide !== from) {
    // `set` takes longer.
    for (let lane = 0; lane < sums.length; lane++) sums[lane] = beginnings[lane]!;
    if (words === null || (from & 3) !== 0) addUnaligned(view, from, wide);
    else {
      for (let at = from; at < wide; at += stretchBytes) {
        const stretchEnd = Math.min(at + stretchBytes, wide);
        for (let lane = 0; lane < sums.length; lane += 4) addFour(words, at >> 2, stretchEnd >> 2, lane);
      }
    }
    for (let lane = 0; lane < sums.length; lane++) sum = added(sum, sums[lane]!);
  }
  let at = wide;
  for (; at + 4 <= end; at += 4) sum = added(sum, signless(view.getInt32(at, true)));
  for (; at < end; at++) sum = added(sum, view.getUint8(at));
  return splitmix32(sum) | 0;
}

/** A multiple of `blockBytes`. It is read four times, but for the first from a near cache. */
const stretchBytes = 1 << 12;

/** Four words of each block. All sums at a time are more than fit into registers. */
function addFour(words: Int32Array, first: number, end: number, lane: number): void {
  let one = sums[lane]!;
  let two = sums[lane + 1]!;
  let three = sums[lane + 2]!;
  let four = sums[lane + 3]!;
  for (let at = first + lane; at < end; at += 16) {
    one = added(one, signless(words[at]!));
    two = added(two, signless(words[at + 1]!));
    three = added(three, signless(words[at + 2]!));
    four = added(four, signless(words[at + 3]!));
  }
  sums[lane] = one;
  sums[lane + 1] = two;
  sums[lane + 2] = three;
  sums[lane + 3] = four;
}

function addUnaligned(view: DataView, first: number, end: number): void {
  for (let at = first; at < end; at += blockBytes) {
    for (let lane = 0; lane < sums.length; lane++) {
      sums[lane] = added(sums[lane]!, signless(view.getInt32(at + 4 * lane, true)));
    }
  }
}

/** Not negative, of `envelopeBits`. */
export function envelopeHash(context: number, tag: number, bytes: number): number {
  // The steps of `added`, in one function: this is called for every message, and mostly before it is optimised.
  let sum = (0x811c9dc5 + Math.imul(context, 0x735a2d97)) | 0;
  sum = (Math.imul((sum << 16) | (sum >>> 16), 0x9e3779b1) + Math.imul(tag, 0x735a2d97)) | 0;
  sum = (Math.imul((sum << 16) | (sum >>> 16), 0x9e3779b1) + Math.imul(bytes, 0x735a2d97)) | 0;
  return splitmix32(Math.imul((sum << 16) | (sum >>> 16), 0x9e3779b1)) >>> (32 - envelopeBits);
}
