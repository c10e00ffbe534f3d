/**
 * Hashes of messages: 32 bits that differ, but for chance, when two messages differ in any byte or in any word of their envelopes.
 * Multiplications, shifts and rotations of words; neither for secrets nor for files. Nothing is allocated.
 *
 * Every step is a bijection of the hash for a given word and of the word for a given hash. So messages that differ in one word
 * always have different hashes, and others with a chance of one in 2^32 the same.
 */
import { splitmix32 } from "../../base/splitmix-32.ts";

const first = 0x811c9dc5 | 0;

/** Of large messages only a sample is hashed where hashing all bytes would cost more than sending them. */
interface Coverage {
  /** Longer messages are sampled: this many bytes of them, at least a word for each piece; Infinity: every byte counts. */
  readonly bytesMax: number;
}

export const everyByte: Coverage = { bytesMax: Number.POSITIVE_INFINITY };
/** For replicas at work: bytes at both ends and strides between, so that a message of any size costs about a microsecond at most. */
export const sampled: Coverage = { bytesMax: 1 << 9 };

/** Pieces into which a sample falls: the first is at the start, the last at the end. */
const pieces = 16;

/** Of the bytes from `from` on. */
export function payloadHash(bytes: Uint8Array, from: number, length: number, { bytesMax }: Coverage): number {
  if (length <= bytesMax) return splitmix32(hashOn(first, bytes, from, length) ^ length) | 0;
  const pieceBytes = Math.floor(bytesMax / pieces);
  let hash = first;
  for (let piece = 0; piece < pieces; piece++) {
    const at = Math.floor(((length - pieceBytes) * piece) / (pieces - 1));
    hash = hashOn(hash, bytes, from + at, pieceBytes);
  }
  return splitmix32(hash ^ length) | 0;
}

function hashOn(before: number, bytes: Uint8Array, from: number, length: number): number {
  let hash = before;
  const wholeWords = from + (length & ~3);
  let at = from;
  for (; at < wholeWords; at += 4) {
    hash = mixed(hash, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  }
  for (; at < from + length; at++) hash = mixed(hash, bytes[at]!);
  return hash;
}

/** The word is multiplied before it meets the hash: two changes of single bits would cancel each other otherwise. */
function mixed(hash: number, word: number): number {
  let spread = Math.imul(word, 0x735a2d97);
  spread = Math.imul(spread ^ (spread >>> 15), 0x21f0aaad);
  const turned = (hash << 13) | (hash >>> 19);
  return Math.imul(turned ^ spread, 0x9e3779b1);
}

/** Of a message with its envelope and its place in its channel. Sums of such terms do not depend on the order in which they are added. */
export function messageTerm(
  sequence: number,
  context: number,
  tag: number,
  bytes: number,
  hashOfPayload: number,
): number {
  let hash = mixed(first, sequence);
  hash = mixed(hash, context);
  hash = mixed(hash, tag);
  hash = mixed(hash, bytes);
  return splitmix32(mixed(hash, hashOfPayload)) | 0;
}
