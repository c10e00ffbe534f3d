/**
 * MIN and MAX. The rule for floating point: a NaN on either side gives NaN, and −0 is less than +0. So the result does not
 * depend on the order of combination.
 */
import type { Kernel } from "../datatype/views.ts";

const minInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minUint8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint8;
  const b = r.uint8;
  const c = o.uint8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minUint16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint16;
  const b = r.uint16;
  const c = o.uint16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minUint32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint32;
  const b = r.uint32;
  const c = o.uint32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minFloat32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const minFloat64: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  const x = la >>> 3;
  const y = ra >>> 3;
  const z = oa >>> 3;
  for (let i = 0; i < n; i++) c[z + i] = Math.min(a[x + i]!, b[y + i]!);
};

const maxInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxUint8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint8;
  const b = r.uint8;
  const c = o.uint8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxUint16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint16;
  const b = r.uint16;
  const c = o.uint16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxUint32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.uint32;
  const b = r.uint32;
  const c = o.uint32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxFloat32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float32;
  const b = r.float32;
  const c = o.float32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

const maxFloat64: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.float64;
  const b = r.float64;
  const c = o.float64;
  const x = la >>> 3;
  const y = ra >>> 3;
  const z = oa >>> 3;
  for (let i = 0; i < n; i++) c[z + i] = Math.max(a[x + i]!, b[y + i]!);
};

export {
  maxFloat32,
  maxFloat64,
  maxInt8,
  maxInt16,
  maxInt32,
  maxUint8,
  maxUint16,
  maxUint32,
  minFloat32,
  minFloat64,
  minInt8,
  minInt16,
  minInt32,
  minUint8,
  minUint16,
  minUint32,
};
