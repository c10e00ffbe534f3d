/**
 * A store in ordinary memory, for simulated worlds and tests: it outlives the channel memory that writes to it, which may be lost in the
 * middle of a write. A power cut takes what was not synced, up to any byte, and may leave garbage in its place.
 */
import { assert } from "../../../base/assert.ts";
import type { SegmentStore, WrittenSegment } from "./segment-store.ts";

export class MemorySegments implements SegmentStore {
  readonly #syncs: boolean;
  readonly #segments = new Map<number, Uint8Array>();
  /** Bytes of the present segment that are synced; those of the others are if any are. */
  #synced = 0;
  #present = 0;
  #tear: { readonly share: number; readonly torn: () => void } | null = null;
  /** How often something was read again. */
  reads = 0;
  /** How often something was written, and segments that were dropped. */
  appends = 0;
  dropped = 0;

  /** `syncs`: whatever is written is synced. */
  constructor(syncs = true) {
    this.#syncs = syncs;
  }

  /** `share`: of what is not synced that much is there, and behind it `garbage`. */
  powerCut(share: number, garbage: Uint8Array): void {
    for (const [segment, bytes] of this.#segments) {
      const isPresent = segment === this.#present;
      const synced = isPresent ? this.#synced : this.#syncs ? bytes.length : 0;
      const kept = synced + Math.floor(share * (bytes.length - synced));
      const behind = isPresent && kept > 0 ? garbage : new Uint8Array(0);
      const all = new Uint8Array(kept + behind.length);
      all.set(bytes.subarray(0, kept));
      all.set(behind, kept);
      this.#segments.set(segment, all);
    }
  }

  begin(segment: number): void {
    this.#synced = 0;
    assert(!this.#segments.has(segment), `segment ${segment} begins twice`);
    this.#segments.set(segment, new Uint8Array(0));
    this.#present = segment;
  }

  append(parts: readonly Int32Array[]): void {
    this.appends++;
    const tear = this.#tear;
    this.#tear = null;
    const before = this.#segments.get(this.#present)!;
    const words = Int32Array.from(parts.flatMap((part) => [...part]));
    const length = tear === null ? words.byteLength : Math.floor(tear.share * words.byteLength);
    const bytes = new Uint8Array(words.buffer, words.byteOffset, length);
    const all = new Uint8Array(before.length + bytes.length);
    all.set(before);
    all.set(bytes, before.length);
    this.#segments.set(this.#present, all);
    if (tear === null && this.#syncs) this.#synced = all.length;
    tear?.torn();
  }

  read(segment: number, at: number, into: Int32Array): void {
    this.reads++;
    const bytes = this.#segments.get(segment);
    assert(bytes !== undefined && bytes.length >= 4 * (at + into.length), `segment ${segment} has not what is read`);
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes.subarray(4 * at, 4 * (at + into.length)));
  }

  cut(segment: number, byte: number): void {
    this.#segments.set(segment, this.#segments.get(segment)!.slice(0, byte));
  }

  drop(segment: number): void {
    this.dropped++;
    assert(segment !== this.#present && this.#segments.delete(segment), `segment ${segment} cannot be dropped`);
  }

  /** The process is lost in the middle of its next write: that share of it is there. Returns a function that takes this back, if it has not happened. */
  tearNext(share: number, torn: () => void): () => boolean {
    const tear = { share, torn };
    this.#tear = tear;
    return () => {
      const isLeft = this.#tear === tear;
      if (isLeft) this.#tear = null;
      return isLeft;
    };
  }

  /** Is the next write the last one of a process? */
  get willTear(): boolean {
    return this.#tear !== null;
  }

  /** All that is here now, for a process that is lost, and reads and writes until it notices. */
  copy(): MemorySegments {
    const copy = new MemorySegments(this.#syncs);
    for (const [segment, bytes] of this.#segments) copy.#segments.set(segment, bytes);
    copy.#present = this.#present;
    return copy;
  }

  get bytes(): number {
    return [...this.#segments.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get count(): number {
    return this.#segments.size;
  }

  written(): WrittenSegment[] {
    return [...this.#segments].map(([number, bytes]) => ({ number, pieces: [bytes] }));
  }
}
