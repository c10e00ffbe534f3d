/** LAND, LOR and LXOR: any operand but 0 is true, a true result is 1. Also for LOGICAL, whose true is 1 here. */
import type { Kernel } from "../datatype/views.ts";

const landInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 && b[y + i]! !== 0 ? 1 : 0;
};

const landInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 && b[y + i]! !== 0 ? 1 : 0;
};

const landInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 && b[y + i]! !== 0 ? 1 : 0;
};

const lorInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 || b[y + i]! !== 0 ? 1 : 0;
};

const lorInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 || b[y + i]! !== 0 ? 1 : 0;
};

const lorInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = a[x + i]! !== 0 || b[y + i]! !== 0 ? 1 : 0;
};

const lxorInt8: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int8;
  const b = r.int8;
  const c = o.int8;
  const x = la;
  const y = ra;
  const z = oa;
  for (let i = 0; i < n; i++) c[z + i] = (a[x + i]! !== 0) !== (b[y + i]! !== 0) ? 1 : 0;
};

const lxorInt16: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int16;
  const b = r.int16;
  const c = o.int16;
  const x = la >>> 1;
  const y = ra >>> 1;
  const z = oa >>> 1;
  for (let i = 0; i < n; i++) c[z + i] = (a[x + i]! !== 0) !== (b[y + i]! !== 0) ? 1 : 0;
};

const lxorInt32: Kernel = (l, la, r, ra, o, oa, n) => {
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < n; i++) c[z + i] = (a[x + i]! !== 0) !== (b[y + i]! !== 0) ? 1 : 0;
};

export { landInt8, landInt16, landInt32, lorInt8, lorInt16, lorInt32, lxorInt8, lxorInt16, lxorInt32 };
