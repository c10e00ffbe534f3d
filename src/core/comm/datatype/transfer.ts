/**
 * Moves the bytes of a layout between memory and a packed buffer, in either direction: all of them, or bytes `from` up to
 * `to` of the packed order, so that a message can be packed in pieces and a short one unpacked as far as it goes.
 *
 * Whole nodes are moved by tight loops of block copies; only the nodes at the two ends of a part are entered. The caller checks
 * bounds: words are copied through views of the whole buffers, which reach beyond the program's own view.
 */
import type { Layout } from "./layout.ts";

/** Below this many bytes a loop is faster than `set`, which needs a new view. */
const loopBytesMax = 64;

export class Transfer {
  readonly #memory: Uint8Array;
  readonly #packed: Uint8Array;
  readonly #packs: boolean;
  /** Position in the packed buffer of the next byte. */
  #at: number;

  constructor(memory: Uint8Array, packed: Uint8Array, at: number, packs: boolean) {
    this.#memory = memory;
    this.#packed = packed;
    this.#at = at;
    this.#packs = packs;
  }

  /** Bytes `from` up to `to` of `count` copies of the layout, the i-th at base + i × stride. */
  copies(layout: Layout, count: number, stride: number, base: number, from: number, to: number): void {
    const size = layout.bytes;
    if (from >= to) return;
    if (layout.kind === "run" && size === stride) {
      this.#block(base + layout.offset + from, to - from);
      return;
    }
    let first = Math.floor(from / size);
    const last = Math.floor(to / size);
    if (first === last) {
      this.#piece(layout, base + first * stride, from - first * size, to - first * size);
      return;
    }
    if (from > first * size) {
      this.#piece(layout, base + first * stride, from - first * size, size);
      first++;
    }
    this.#whole(layout, last - first, stride, base + first * stride);
    if (to > last * size && last < count) this.#piece(layout, base + last * stride, 0, to - last * size);
  }

  #whole(layout: Layout, count: number, stride: number, base: number): void {
    const start = base + layout.offset;
    switch (layout.kind) {
      case "run":
        this.#runs(start, layout.bytes, count, stride);
        break;
      case "blocks": {
        const { offsets, lengths } = layout;
        for (let i = 0, at = start; i < count; i++, at += stride) {
          for (let j = 0; j < offsets.length; j++) this.#block(at + offsets[j]!, lengths[j]!);
        }
        break;
      }
      case "repeat":
        for (let i = 0, at = start; i < count; i++, at += stride) {
          this.#whole(layout.child, layout.count, layout.stride, at);
        }
        break;
      case "sequence":
        for (let i = 0, at = start; i < count; i++, at += stride) {
          for (const child of layout.children) this.#whole(child, 1, 0, at);
        }
        break;
    }
  }

  /** Bytes `from` up to `to` of one copy. */
  #piece(layout: Layout, base: number, from: number, to: number): void {
    const start = base + layout.offset;
    if (from === 0 && to === layout.bytes) {
      this.#whole(layout, 1, 0, base);
      return;
    }
    switch (layout.kind) {
      case "run":
        this.#block(start + from, to - from);
        break;
      case "repeat":
        this.copies(layout.child, layout.count, layout.stride, start, from, to);
        break;
      case "blocks":
        for (let i = 0, before = 0; before < to; before += layout.lengths[i]!, i++) {
          const low = Math.max(from - before, 0);
          const high = Math.min(to - before, layout.lengths[i]!);
          if (low < high) this.#block(start + layout.offsets[i]! + low, high - low);
        }
        break;
      case "sequence": {
        let before = 0;
        for (const child of layout.children) {
          const low = Math.max(from - before, 0);
          const high = Math.min(to - before, child.bytes);
          if (low < high) this.#piece(child, start, low, high);
          before += child.bytes;
        }
        break;
      }
    }
  }

  /** `count` blocks of the same length, the i-th at start + i × stride: word by word where everything is aligned. */
  #runs(start: number, bytes: number, count: number, stride: number): void {
    const memory = this.#memory;
    const packed = this.#packed;
    const alignment = (memory.byteOffset + start) | stride | bytes | (packed.byteOffset + this.#at);
    if ((alignment & 3) !== 0 || bytes > 2 * loopBytesMax || bytes * count <= 4 * loopBytesMax) {
      for (let i = 0, at = start; i < count; i++, at += stride) this.#block(at, bytes);
      return;
    }
    const from = this.#packs ? memory : packed;
    const to = this.#packs ? packed : memory;
    const source = new Int32Array(from.buffer, 0, Math.floor(from.buffer.byteLength / 4));
    const target = new Int32Array(to.buffer, 0, Math.floor(to.buffer.byteLength / 4));
    const words = bytes / 4;
    const memoryWord = (memory.byteOffset + start) / 4;
    const packedWord = (packed.byteOffset + this.#at) / 4;
    let s = this.#packs ? memoryWord : packedWord;
    let t = this.#packs ? packedWord : memoryWord;
    const sourceStep = this.#packs ? stride / 4 : words;
    const targetStep = this.#packs ? words : stride / 4;
    for (let i = 0; i < count; i++, s += sourceStep, t += targetStep) {
      for (let j = 0; j < words; j++) target[t + j] = source[s + j]!;
    }
    this.#at += bytes * count;
  }

  #block(at: number, bytes: number): void {
    const packed = this.#at;
    this.#at = packed + bytes;
    if (this.#packs) copy(this.#memory, at, this.#packed, packed, bytes);
    else copy(this.#packed, packed, this.#memory, at, bytes);
  }
}

function copy(source: Uint8Array, from: number, target: Uint8Array, to: number, bytes: number): void {
  if (bytes > loopBytesMax) target.set(source.subarray(from, from + bytes), to);
  else for (let i = 0; i < bytes; i++) target[to + i] = source[from + i]!;
}
