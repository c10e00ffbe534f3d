/** Are two messages the same, byte by byte? The sign of a NaN that arithmetic makes is left out, as in hashes (message-hash.ts). */
import { signless } from "./message-hash.ts";

export function areSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  const { length } = one;
  const words = length >> 2;
  if (((one.byteOffset | other.byteOffset) & 3) === 0) {
    const left = new Int32Array(one.buffer, one.byteOffset, words);
    const right = new Int32Array(other.buffer, other.byteOffset, words);
    for (let at = 0; at < words; at++) {
      if (left[at] !== right[at] && signless(left[at]!) !== signless(right[at]!)) return false;
    }
  } else {
    const left = new DataView(one.buffer, one.byteOffset, length);
    const right = new DataView(other.buffer, other.byteOffset, length);
    for (let at = 0; at < 4 * words; at += 4) {
      if (signless(left.getInt32(at, true)) !== signless(right.getInt32(at, true))) return false;
    }
  }
  for (let at = 4 * words; at < length; at++) if (one[at] !== other[at]) return false;
  return true;
}
