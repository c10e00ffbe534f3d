/** Kernels of operations with the folds of a memory, and without: the same results, wherever operands and result lie. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MpiError } from "../../core/base/mpi-error.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { Views } from "../../core/comm/datatype/views.ts";
import { foldedAs } from "../../core/comm/op/fold.ts";
import { type Combine, kernelFor } from "../../core/comm/op/op.ts";
import { type PredefinedOp, predefinedOps } from "../../core/comm/op/op-predefined.ts";
import { foldIn } from "./memory-fold.ts";

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const folded = new Views(memory.buffer);
folded.fold = foldIn(memory);
const plain = new Views(new ArrayBuffer(memory.buffer.byteLength));

/** Ones, infinities, zeros of both signs, what is not a number: upper or only words of floating-point numbers. */
const odd = [0, 0x80000000, 0x3f800000, 0x3ff00000, 0x7f800000, 0x7ff00000, 0x7fc00000, 0x7ff80000];

const [leftAt, rightAt, elsewhere] = [64, 4096, 8192];
const end = 12_288;

function kernelOf(op: PredefinedOp, type: Datatype): Combine | null {
  try {
    return kernelFor(op, type);
  } catch (error) {
    assert.ok(error instanceof MpiError);
    return null;
  }
}

/** What differs, but for the bits of what is not a number: they are chance in compiled JavaScript. */
function differences(type: Datatype, op: PredefinedOp, into: number, count: number): number {
  const { format, itemBytes } = foldedAs(op, type)!;
  const elementBytes = format === 8 ? 4 : 8;
  let found = 0;
  if (Buffer.compare(folded.uint8.subarray(0, end), plain.uint8.subarray(0, end)) === 0) return found;
  for (let at = 0; at < end; at++) {
    if (folded.uint8[at] === plain.uint8[at]) continue;
    const isResult = format >= 8 && at >= into && at < into + count * itemBytes;
    const element = at - ((at - into) % elementBytes);
    if (!isResult || !isNaNAt(folded, element, elementBytes) || !isNaNAt(plain, element, elementBytes)) found++;
  }
  return found;
}

function isNaNAt({ buffer }: Views, at: number, bytes: number): boolean {
  const view = new DataView(buffer, at, bytes);
  return Number.isNaN(bytes === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true));
}

test("X9 M5 operations on long operands give what they give element by element, and write nowhere else", () => {
  const random = new SeededRandom(7);
  const seen = new Set<string>();
  for (const type of Object.values(predefinedTypes)) {
    for (const op of Object.values(predefinedOps)) {
      const kernel = kernelOf(op, type);
      if (kernel === null || foldedAs(op, type) === null) continue;
      seen.add(`${op.name} ${foldedAs(op, type)?.format}`);
      for (const count of [1, 7, 65, 200]) {
        const left = leftAt + (random.bits() % 4 === 0 ? 1 : 0);
        for (const into of [left, rightAt, elsewhere]) {
          for (let word = 0; word < end >> 2; word++) {
            const bits = random.bits() % 2 === 0 ? odd[random.bits() % odd.length]! : random.bits();
            folded.uint32[word] = bits;
            plain.uint32[word] = bits;
          }
          kernel(folded, left, rightAt, into, count);
          kernel(plain, left, rightAt, into, count);
          assert.equal(differences(type, op, into, count), 0, `${count} of ${type.name} by ${op.name} into ${into}`);
        }
      }
    }
  }
  assert.ok(seen.size > 70, `${seen.size} of 8 × 10 + 2 × 4 kernels`);
});
