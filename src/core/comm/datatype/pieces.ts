/**
 * The pieces of a layout, one by one in packing order: all of them, or bytes `from` up to `to` of the packed order.
 * `transfer.ts` copies the same pieces; this file only names them, for bytes that lie in no memory (a file's).
 */
import type { Layout } from "./layout.ts";

/** `bytes` bytes at `at`, at least one. The result false ends the visits. */
export type Visit = (at: number, bytes: number) => boolean;

/** Bytes `from` up to `to` of copies of the layout, the i-th at base + i × stride. False when `visit` ended the visits. */
export function forEachPiece(
  layout: Layout,
  stride: number,
  base: number,
  from: number,
  to: number,
  visit: Visit,
): boolean {
  const size = layout.bytes;
  if (from >= to) return true;
  if (layout.kind === "run" && size === stride) return visit(base + layout.offset + from, to - from);
  for (let copy = Math.floor(from / size); copy * size < to; copy++) {
    const low = Math.max(from - copy * size, 0);
    const high = Math.min(to - copy * size, size);
    if (!piecesOfOne(layout, base + copy * stride, low, high, visit)) return false;
  }
  return true;
}

function piecesOfOne(layout: Layout, base: number, from: number, to: number, visit: Visit): boolean {
  const start = base + layout.offset;
  switch (layout.kind) {
    case "run":
      return visit(start + from, to - from);
    case "repeat":
      return forEachPiece(layout.child, layout.stride, start, from, to, visit);
    case "blocks": {
      const { offsets, lengths } = layout;
      for (let i = 0, before = 0; before < to; before += lengths[i]!, i++) {
        const low = Math.max(from - before, 0);
        const high = Math.min(to - before, lengths[i]!);
        if (low < high && !visit(start + offsets[i]! + low, high - low)) return false;
      }
      return true;
    }
    case "sequence": {
      let before = 0;
      for (const child of layout.children) {
        const low = Math.max(from - before, 0);
        const high = Math.min(to - before, child.bytes);
        if (low < high && !piecesOfOne(child, start, low, high, visit)) return false;
        before += child.bytes;
      }
      return true;
    }
  }
}

/** Passes pieces on and joins neighbours that touch. Call `end` after the last piece. */
export class Merging {
  readonly #visit: Visit;
  #at = 0;
  #bytes = 0;

  constructor(visit: Visit) {
    this.#visit = visit;
  }

  readonly add: Visit = (at, bytes) => {
    if (this.#bytes > 0 && this.#at + this.#bytes === at) {
      this.#bytes += bytes;
      return true;
    }
    const wantsMore = this.end();
    this.#at = at;
    this.#bytes = bytes;
    return wantsMore;
  };

  end(): boolean {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes === 0 || this.#visit(this.#at, bytes);
  }
}
