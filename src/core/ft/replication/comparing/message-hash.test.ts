import { equal, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { filledBytes } from "../../../../../test/filled-bytes.ts";
import { bytesHash, envelopeHash, type HashedBytes } from "./message-hash.ts";

const seen = ({ buffer }: Uint8Array): HashedBytes => ({
  view: new DataView(buffer),
  words: buffer.byteLength % 4 === 0 ? new Int32Array(buffer) : null,
});
const hashOf = (bytes: Uint8Array): number => bytesHash(seen(bytes), 0, bytes.length);

/** Bytes that are no NaN. */
const message = (length: number): Uint8Array => filledBytes(length, (at) => (at * 37 + 11) & 0x3f);

function flipped(bytes: Uint8Array, ...bits: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const bit of bits) copy[bit >> 3] = copy[bit >> 3]! ^ (1 << (bit & 7));
  return copy;
}

describe("D1 hashes of whole messages", () => {
  it("D1 each bit counts, at every length", () => {
    for (const length of [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 131]) {
      const bytes = message(length);
      for (let bit = 0; bit < 8 * length; bit++)
        notEqual(hashOf(flipped(bytes, bit)), hashOf(bytes), `bit ${bit} of ${length} bytes`);
    }
  });

  it("D1 two flips do not cancel each other", () => {
    const bytes = message(128);
    const whole = hashOf(bytes);
    for (let one = 0; one < 512; one++) {
      for (let other = one + 1; other < 512; other++) notEqual(hashOf(flipped(bytes, one, other)), whole);
      // The word that follows it in the same sum.
      const next = 512 + (one & ~31);
      for (let other = next; other < next + 32; other++) notEqual(hashOf(flipped(bytes, one, other)), whole);
    }
  });

  it("D1 a message is hashed where it lies, aligned or not", () => {
    const bytes = message(1_001);
    for (let from = 0; from < 9; from++) {
      const there = new Uint8Array(1_100);
      there.set(bytes, from);
      equal(bytesHash(seen(there), from, bytes.length), hashOf(bytes));
    }
  });

  it("D1 the same bytes have the same hash, by words or by bytes, with and without what could be a NaN, in blocks and across them", () => {
    for (const length of [16, 4_096, 4_100, 12_345 * 4, 20_000]) {
      for (const nan of [-1, 0, 4_080, 4_096, 8_200]) {
        const bytes = message(length);
        if (nan >= 0 && nan + 4 <= length) new DataView(bytes.buffer).setInt32(nan, -1, true);
        const { view } = seen(bytes);
        equal(hashOf(bytes), bytesHash({ view, words: null }, 0, length), `${length} bytes, ${nan}`);
      }
    }
  });

  it("D1 the length counts, and what is behind it does not", () => {
    notEqual(hashOf(new Uint8Array(8)), hashOf(new Uint8Array(12)));
    const bytes = message(20);
    equal(bytesHash(seen(bytes), 0, 10), hashOf(bytes.slice(0, 10)));
  });

  it("D1 of a NaN all counts but its sign", () => {
    const double = (high: number, low = 0): number => {
      const bytes = new Uint8Array(24).fill(5);
      new DataView(bytes.buffer).setInt32(8, low, true);
      new DataView(bytes.buffer).setInt32(12, high | 0, true);
      return hashOf(bytes);
    };
    equal(double(0x7ff80000), double(0xfff80000));
    notEqual(double(0x7ff80000), double(0x7ff80000, 1));
    notEqual(double(0x7ff80000), double(0x7ff00000));
    const float = (word: number): number => double(0, word);
    equal(float(0x7fc00000), float(0xffc00000));
    notEqual(float(0x7fc00000), float(0x7f800000));
    notEqual(double(0x3ff00000), double(0xbff00000));
  });

  it("D1 each word of an envelope counts", () => {
    const hashes = [envelopeHash(2, 5, 64), envelopeHash(4, 5, 64), envelopeHash(2, 6, 64), envelopeHash(2, 5, 65)];
    equal(new Set(hashes).size, 4);
    for (const hash of hashes) equal(hash >= 0 && hash < 2 ** 28, true);
  });
});
