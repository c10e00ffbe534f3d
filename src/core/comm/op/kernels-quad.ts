/** Operations on LONG_DOUBLE and the types made of it. One BigInt at a time: see quad.ts. */

import { type Kernel, scaled, type Views } from "../datatype/views.ts";
import { isQuadNaN, quadCompare, quadNaN, quadNegated, quadProd, quadSum } from "./quad.ts";

const read = (views: Views, at: number): bigint => views.uint64[at >>> 3]! | (views.uint64[(at >>> 3) + 1]! << 64n);

function write(views: Views, at: number, bits: bigint): void {
  views.uint64[at >>> 3] = bits;
  views.uint64[(at >>> 3) + 1] = bits >> 64n;
}

function each(combine: (left: bigint, right: bigint) => bigint): Kernel {
  return (l, la, r, ra, o, oa, n) => {
    for (let i = 0; i < 16 * n; i += 16) write(o, oa + i, combine(read(l, la + i), read(r, ra + i)));
  };
}

function extreme(u: bigint, v: bigint, wantsMax: boolean): bigint {
  if (isQuadNaN(u) || isQuadNaN(v)) return quadNaN;
  return quadCompare(u, v) > 0 === wantsMax ? u : v;
}

const prodComplex256: Kernel = (l, la, r, ra, o, oa, n) => {
  for (let i = 0; i < 32 * n; i += 32) {
    const re = read(l, la + i);
    const im = read(l, la + i + 16);
    const otherRe = read(r, ra + i);
    const otherIm = read(r, ra + i + 16);
    write(o, oa + i, quadSum(quadProd(re, otherRe), quadNegated(quadProd(im, otherIm))));
    write(o, oa + i + 16, quadSum(quadProd(re, otherIm), quadProd(im, otherRe)));
  }
};

/** By operation and format. */
export const quadKernels: Readonly<Record<string, Kernel>> = {
  "SUM float128": each(quadSum),
  "PROD float128": each(quadProd),
  "MIN float128": each((u, v) => extreme(u, v, false)),
  "MAX float128": each((u, v) => extreme(u, v, true)),
  "SUM complex256": scaled(each(quadSum), 2),
  "PROD complex256": prodComplex256,
};

/** Items of 32 bytes: the value, the index 16 bytes behind it, padding. Rules as in kernels-location.ts. */
export const locationFloat128Int32 =
  (wantsMax: boolean): Kernel =>
  (l, la, r, ra, o, oa, n) => {
    for (let i = 0; i < 32 * n; i += 32) {
      const u = read(l, la + i);
      const v = read(r, ra + i);
      const index = l.int32[(la + i + 16) >>> 2]!;
      const otherIndex = r.int32[(ra + i + 16) >>> 2]!;
      const left = keepsLeft(u, v, wantsMax) ?? index <= otherIndex;
      write(o, oa + i, left ? u : v);
      o.int32[(oa + i + 16) >>> 2] = left ? index : otherIndex;
    }
  };

/** Nothing when the two are equal. */
function keepsLeft(u: bigint, v: bigint, wantsMax: boolean): boolean | undefined {
  if (isQuadNaN(u) || isQuadNaN(v)) return isQuadNaN(u) && isQuadNaN(v) ? undefined : isQuadNaN(u);
  const isBothZero = ((u | v) & ((1n << 127n) - 1n)) === 0n;
  const order = isBothZero ? 0 : quadCompare(u, v);
  return order === 0 ? undefined : order > 0 === wantsMax;
}
