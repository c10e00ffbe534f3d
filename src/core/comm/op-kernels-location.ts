/**
 * MINLOC and MAXLOC on pairs of a value and an index (MPI 5.0 §6.9.4): the extreme value, and of equal ones the lowest index. A
 * NaN counts as the extreme value, as in MIN and MAX, so the result does not depend on the order of combination.
 */
import type { Kernel } from "./views.ts";

type Pick = (wantsMax: boolean) => Kernel;

export function keepsLeft(u: number, index: number, v: number, otherIndex: number, wantsMax: boolean): boolean {
  if (u === v || (Number.isNaN(u) && Number.isNaN(v))) return index <= otherIndex;
  if (Number.isNaN(u) || Number.isNaN(v)) return Number.isNaN(u);
  return wantsMax ? u > v : u < v;
}

export const locationFloat32Int32: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const ai = l.int32;
  const bi = r.int32;
  const ci = o.int32;
  let x = la >>> 2;
  let y = ra >>> 2;
  let z = oa >>> 2;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[x]!;
    const iu = ai[x + 1]!;
    const v = b[y]!;
    const iv = bi[y + 1]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[z] = left ? u : v;
    ci[z + 1] = left ? iu : iv;
  }
};

/** The index is 8 bytes behind the value; 4 bytes of padding follow. */
export const locationFloat64Int32: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  const ai = l.int32;
  const bi = r.int32;
  const ci = o.int32;
  let x = la >>> 3;
  let y = ra >>> 3;
  let z = oa >>> 3;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[x]!;
    const iu = ai[2 * x + 2]!;
    const v = b[y]!;
    const iv = bi[2 * y + 2]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[z] = left ? u : v;
    ci[2 * z + 2] = left ? iu : iv;
  }
};

export const locationInt32Int32: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  let x = la >>> 2;
  let y = ra >>> 2;
  let z = oa >>> 2;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[x]!;
    const iu = a[x + 1]!;
    const v = b[y]!;
    const iv = b[y + 1]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[z] = left ? u : v;
    c[z + 1] = left ? iu : iv;
  }
};

/** The index is 4 bytes behind the value, with padding between. */
export const locationInt16Int32: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const ai = l.int32;
  const bi = r.int32;
  const ci = o.int32;
  let x = la >>> 2;
  let y = ra >>> 2;
  let z = oa >>> 2;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[2 * x]!;
    const iu = ai[x + 1]!;
    const v = b[2 * y]!;
    const iv = bi[y + 1]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[2 * z] = left ? u : v;
    ci[z + 1] = left ? iu : iv;
  }
};

export const locationFloat32Float32: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  let x = la >>> 2;
  let y = ra >>> 2;
  let z = oa >>> 2;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[x]!;
    const iu = a[x + 1]!;
    const v = b[y]!;
    const iv = b[y + 1]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[z] = left ? u : v;
    c[z + 1] = left ? iu : iv;
  }
};

export const locationFloat64Float64: Pick = (wantsMax) => (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  let x = la >>> 3;
  let y = ra >>> 3;
  let z = oa >>> 3;
  for (let i = 0; i < n; i++, x += 2, y += 2, z += 2) {
    const u = a[x]!;
    const iu = a[x + 1]!;
    const v = b[y]!;
    const iv = b[y + 1]!;
    const left = keepsLeft(u, iu, v, iv, wantsMax);
    c[z] = left ? u : v;
    c[z + 1] = left ? iu : iv;
  }
};
