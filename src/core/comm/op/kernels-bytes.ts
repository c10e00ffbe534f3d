/**
 * BAND, BOR and BXOR on bytes, word by word where all three operands are aligned: the length of an integer makes no difference
 * to its bits. Also the two operations of one-sided communication that use one side only: REPLACE takes the right, NO_OP the
 * left.
 */
import type { Kernel, Views } from "../datatype/views.ts";
import { kernelLoop } from "./kernel-loop.ts";

/** The kernel counts bytes. */
export function bitsKernel(operator: "&" | "|" | "^"): Kernel {
  const body = `c[z + i] = a[x + i] ${operator} b[y + i];`;
  const combineWords = kernelLoop("int32", body);
  const combineBytes = kernelLoop("uint8", body);
  return (l, la, r, ra, o, oa, bytes) => {
    const words = ((la | ra | oa) & 3) === 0 ? bytes >>> 2 : 0;
    const done = 4 * words;
    if (words !== 0) combineWords(l, la, r, ra, o, oa, words);
    if (done !== bytes) combineBytes(l, la + done, r, ra + done, o, oa + done, bytes - done);
  };
}

export const replaceBytes: Kernel = (_l, _la, r, ra, o, oa, bytes) => move(r, ra, o, oa, bytes);

export const noOpBytes: Kernel = (l, la, _r, _ra, o, oa, bytes) => move(l, la, o, oa, bytes);

export function move(from: Views, fromAt: number, to: Views, toAt: number, bytes: number): void {
  if (from.buffer === to.buffer) to.uint8.copyWithin(toAt, fromAt, fromAt + bytes);
  else to.uint8.set(from.uint8.subarray(fromAt, fromAt + bytes), toAt);
}
