/**
 * fold.wat combines sixteen bytes at a time where it can: every element is what it would be alone. data-plane.test.ts compares it with the
 * engine. (What is not a number has the same bits in a vector of float64 and alone on arm64, not on x86-64: there alone this finds fold.wat
 * without its look at them.)
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import foldBytes from "./fold.wat";

type Fold = (left: number, right: number, bytes: number, format: number, operation: number) => void;

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const bytes = new Uint8Array(memory.buffer);
const words = new Uint32Array(memory.buffer);
const fold = new WebAssembly.Instance(new WebAssembly.Module(foldBytes), { node: { memory } }).exports["fold"] as Fold;

const [leftAt, rightAt, aloneAt, otherAt] = [1024, 2048, 4096, 4160];
/** By format: logarithms of bytes of an element. */
const widths = [0, 0, 1, 1, 2, 2, 3, 3, 2, 3];
const operations = [1, 2, 3, 4, 8, 9, 10, 16, 17, 18];
const isFloat = (format: number): boolean => format >= 8;

/** Zeros with both signs, ones, infinities, what is not a number, quiet and signalling: as words of float32, and upper words of float64. */
const odd = [
  0, 0x80000000, 0x3f800000, 0x7f800000, 0x7fc00001, 0x7f800001, 0xffc12345, 0x7ff00000, 0x7ff80001, 0x7ff00001,
];

test("ADR 38: an element of a vector is what it would be alone", () => {
  const random = new SeededRandom(38);
  let vectors = 0;
  for (const [format, width] of widths.entries()) {
    const size = 1 << width;
    for (const operation of operations) {
      if (isFloat(format) && operation > 4) continue;
      for (const count of [1, 2, 3, 4, 5, 15, 16, 17, 40]) {
        const length = count * size;
        for (let word = 0; word < length / 4; word++) {
          for (const at of [leftAt, rightAt]) {
            words[(at >> 2) + word] = random.bits() % 2 === 0 ? odd[random.bits() % odd.length]! : random.bits();
          }
        }
        const wanted = new Uint8Array(length);
        for (let at = 0; at < length; at += size) {
          bytes.copyWithin(aloneAt, leftAt + at, leftAt + at + size);
          bytes.copyWithin(otherAt, rightAt + at, rightAt + at + size);
          fold(aloneAt, otherAt, size, format, operation);
          wanted.set(bytes.subarray(aloneAt, aloneAt + size), at);
        }
        fold(leftAt, rightAt, length, format, operation);
        const what = `${count} of format ${format} by operation ${operation}`;
        assert.equal(Buffer.compare(bytes.subarray(leftAt, leftAt + length), wanted), 0, what);
        if (length >= 16) vectors++;
      }
    }
  }
  assert.ok(vectors > 100);
});
