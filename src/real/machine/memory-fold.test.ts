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

const [leftAt, rightAt, elsewhere] = [1024, 8192, 16384];
const end = 24_576;

function kernelOf(op: PredefinedOp, type: Datatype): Combine | null {
  try {
    return kernelFor(op, type);
  } catch (error) {
    assert.ok(error instanceof MpiError);
    return null;
  }
}

/** Differences but for the bits of what is not a number, which are chance in compiled JavaScript. */
function differences(type: Datatype, op: PredefinedOp): number {
  const format = foldedAs(op, type)?.format;
  const [ours, theirs] = format === 8 ? [folded.float32, plain.float32] : [folded.float64, plain.float64];
  let count = 0;
  for (let word = 0; word < end >> 2; word++) {
    if (folded.uint32[word] === plain.uint32[word]) continue;
    const i = format === 8 ? word : word >> 1;
    const areNaNs = format !== undefined && format >= 8 && Number.isNaN(ours[i]) && Number.isNaN(theirs[i]);
    if (!areNaNs) count++;
  }
  return count;
}

test("X9 M5 operations on long operands give what they give element by element, and write nowhere else", () => {
  const random = new SeededRandom(7);
  const seen = new Set<string>();
  for (const type of Object.values(predefinedTypes)) {
    for (const op of Object.values(predefinedOps)) {
      const kernel = kernelOf(op, type);
      if (kernel === null || foldedAs(op, type) === null) continue;
      seen.add(`${op.name} ${foldedAs(op, type)?.format}`);
      for (const count of [1, 7, 64, 65, 255]) {
        const left = leftAt + (random.bits() % 4 === 0 ? 1 : 0);
        for (const into of [left, rightAt, elsewhere]) {
          for (let word = 0; word < end >> 2; word++) {
            const bits = random.bits() % 2 === 0 ? odd[random.bits() % odd.length]! : random.bits();
            folded.uint32[word] = bits;
            plain.uint32[word] = bits;
          }
          kernel(folded, left, rightAt, into, count);
          kernel(plain, left, rightAt, into, count);
          assert.equal(differences(type, op), 0, `${count} of ${type.name} by ${op.name} into ${into}`);
        }
      }
    }
  }
  assert.ok(seen.size > 70, `${seen.size} of 8 × 10 + 2 × 4 kernels`);
});
