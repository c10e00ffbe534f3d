/** PROD of complex numbers by the schoolbook formula, each step rounded to the format. Their SUM is that of their halves. */
import type { Kernel } from "../datatype/views.ts";

export const prodComplex64: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const { fround } = Math;
  let x = la >>> 2;
  let y = ra >>> 2;
  let z = oa >>> 2;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const re = a[x]!;
    const im = a[x + 1]!;
    const otherRe = b[y]!;
    const otherIm = b[y + 1]!;
    c[z] = fround(fround(re * otherRe) - fround(im * otherIm));
    c[z + 1] = fround(fround(re * otherIm) + fround(im * otherRe));
  }
};

export const prodComplex128: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  let x = la >>> 3;
  let y = ra >>> 3;
  let z = oa >>> 3;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const re = a[x]!;
    const im = a[x + 1]!;
    const otherRe = b[y]!;
    const otherIm = b[y + 1]!;
    c[z] = re * otherRe - im * otherIm;
    c[z + 1] = re * otherIm + im * otherRe;
  }
};
