/**
 * BAND, BOR and BXOR on bytes, word by word where all three operands are aligned: the length of an integer makes no difference
 * to its bits. Also the two operations of one-sided communication that use one side only: REPLACE takes the right, NO_OP the
 * left.
 */
import type { Kernel, Views } from "../datatype/views.ts";

/** `bytes` is the length of the operands. */
export const bandBytes: Kernel = (l, la, r, ra, o, oa, bytes) => {
  const words = ((la | ra | oa) & 3) === 0 ? bytes >>> 2 : 0;
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < words; i++) c[z + i] = a[x + i]! & b[y + i]!;
  for (let i = 4 * words; i < bytes; i++) o.uint8[oa + i] = l.uint8[la + i]! & r.uint8[ra + i]!;
};

/** `bytes` is the length of the operands. */
export const borBytes: Kernel = (l, la, r, ra, o, oa, bytes) => {
  const words = ((la | ra | oa) & 3) === 0 ? bytes >>> 2 : 0;
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < words; i++) c[z + i] = a[x + i]! | b[y + i]!;
  for (let i = 4 * words; i < bytes; i++) o.uint8[oa + i] = l.uint8[la + i]! | r.uint8[ra + i]!;
};

/** `bytes` is the length of the operands. */
export const bxorBytes: Kernel = (l, la, r, ra, o, oa, bytes) => {
  const words = ((la | ra | oa) & 3) === 0 ? bytes >>> 2 : 0;
  const a = l.int32;
  const b = r.int32;
  const c = o.int32;
  const x = la >>> 2;
  const y = ra >>> 2;
  const z = oa >>> 2;
  for (let i = 0; i < words; i++) c[z + i] = a[x + i]! ^ b[y + i]!;
  for (let i = 4 * words; i < bytes; i++) o.uint8[oa + i] = l.uint8[la + i]! ^ r.uint8[ra + i]!;
};

export const replaceBytes: Kernel = (_l, _la, r, ra, o, oa, bytes) => move(r, ra, o, oa, bytes);

export const noOpBytes: Kernel = (l, la, _r, _ra, o, oa, bytes) => move(l, la, o, oa, bytes);

export function move(from: Views, fromAt: number, to: Views, toAt: number, bytes: number): void {
  if (from.buffer === to.buffer) to.uint8.copyWithin(toAt, fromAt, fromAt + bytes);
  else to.uint8.set(from.uint8.subarray(fromAt, fromAt + bytes), toAt);
}
