/**
 * MINLOC and MAXLOC on pairs of a value and an index (MPI 5.0 §6.9.4): the extreme value, and of equal ones the lowest index. A
 * NaN counts as the extreme value, as in MIN and MAX, so the result does not depend on the order of combination.
 *
 * One loop for all pair types, unlike the other kernels: a program that uses these operations at all uses one or two of the types.
 */
import type { Kernel } from "../datatype/views.ts";

type Format = "int16" | "int32" | "float32" | "float64";

const log2Bytes: Readonly<Record<Format, number>> = { int16: 1, int32: 2, float32: 2, float64: 3 };

/** The kernel for pairs of these formats. The index of a pair lies in the middle of its item, as C aligns it. */
export function location(value: Format, index: Format, wantsMax: boolean): Kernel {
  const valueShift = log2Bytes[value];
  const indexShift = log2Bytes[index];
  const indexOffset = 1 << Math.max(valueShift, indexShift);
  const itemBytes = 2 * indexOffset;
  return (left, leftAt, right, rightAt, into, intoAt, count) => {
    const leftValues = left[value];
    const leftIndices = left[index];
    const rightValues = right[value];
    const rightIndices = right[index];
    const values = into[value];
    const indices = into[index];
    for (let at = 0; at < count * itemBytes; at += itemBytes) {
      const u = leftValues[(leftAt + at) >>> valueShift]!;
      const uIndex = leftIndices[(leftAt + at + indexOffset) >>> indexShift]!;
      const v = rightValues[(rightAt + at) >>> valueShift]!;
      const vIndex = rightIndices[(rightAt + at + indexOffset) >>> indexShift]!;
      const isLeft = keepsLeft(u, uIndex, v, vIndex, wantsMax);
      values[(intoAt + at) >>> valueShift] = isLeft ? u : v;
      indices[(intoAt + at + indexOffset) >>> indexShift] = isLeft ? uIndex : vIndex;
    }
  };
}

function keepsLeft(u: number, uIndex: number, v: number, vIndex: number, wantsMax: boolean): boolean {
  if (u === v || (Number.isNaN(u) && Number.isNaN(v))) return uIndex <= vIndex;
  if (Number.isNaN(u) || Number.isNaN(v)) return Number.isNaN(u);
  return wantsMax ? u > v : u < v;
}
