/**
 * SUM and PROD. Integers wrap as in C, so signed and unsigned share a kernel. Floating point is plain IEEE arithmetic, each
 * result rounded to its own format once: a sum or product of two float32, computed in float64 and rounded, is the float32 one.
 *
 * One function per kind of element, written out: a shared loop would see every kind of typed array and lose its speed.
 */
import type { Kernel } from "../datatype/views.ts";

const sumInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! + b[y + i]!;
};

const sumInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! + b[y + i]!;
};

const sumInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! + b[y + i]!;
};

const sumFloat32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.fround(a[x + i]! + b[y + i]!);
};

const sumFloat64: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  const x = la >>> 3;
  const y = ra >>> 3;
  const z = oa >>> 3;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! + b[y + i]!;
};

const prodInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! * b[y + i]!;
};

const prodInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! * b[y + i]!;
};

const prodInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.imul(a[x + i]!, b[y + i]!);
};

const prodFloat32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.fround(a[x + i]! * b[y + i]!);
};

const prodFloat64: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  const x = la >>> 3;
  const y = ra >>> 3;
  const z = oa >>> 3;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! * b[y + i]!;
};

export {
  prodFloat32,
  prodFloat64,
  prodInt8,
  prodInt16,
  prodInt32,
  sumFloat32,
  sumFloat64,
  sumInt8,
  sumInt16,
  sumInt32,
};
