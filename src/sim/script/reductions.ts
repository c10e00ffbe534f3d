/** The operations of generated programs: one that commutes and one that does not, both exact in 32 bits. */
import type { Views } from "../../core/comm/datatype/views.ts";
import type { Reduction } from "../../core/process/reduction.ts";

/** into = left ∘ right for one element, at word offsets; `into` may be either of the two. */
type Combine = (left: Int32Array, l: number, right: Int32Array, r: number, into: Int32Array, i: number) => void;

interface ExactReduction extends Reduction {
  /** Words of one element. */
  readonly words: number;
  /** left ∘ right of whole vectors. */
  combine(left: Int32Array, right: Int32Array): Int32Array;
}

function exact(words: number, combine: Combine): ExactReduction {
  return {
    words,
    elementBytes: 4 * words,
    inMemory: true,
    apply({ int32 }: Views, left: number, right: number, into: number, count: number): void {
      for (let at = 0; at < count * words; at += words) {
        combine(int32, (left >> 2) + at, int32, (right >> 2) + at, int32, (into >> 2) + at);
      }
    },
    combine(left: Int32Array, right: Int32Array): Int32Array {
      const into = new Int32Array(left.length);
      for (let at = 0; at < left.length; at += words) combine(left, at, right, at, into, at);
      return into;
    },
  };
}

const sum: Combine = (left, l, right, r, into, i) => {
  into[i] = left[l]! + right[r]!;
};

/** Two words (a, b) stand for the map x → ax + b; maps are composed, and order matters. */
const compose: Combine = (left, l, right, r, into, i) => {
  const a = Math.imul(left[l]!, right[r]!);
  const b = Math.imul(left[l]!, right[r + 1]!) + left[l + 1]!;
  into[i] = a;
  into[i + 1] = b;
};

export const exactReductions = { sum: exact(1, sum), compose: exact(2, compose) } as const;
