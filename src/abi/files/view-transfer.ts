/**
 * Reads and writes the stream of a view. Pieces that touch are one. Pieces with small gaps are read together with the gaps, into
 * memory of our own: a read costs as much as copying some thousand bytes. They are not written so: what lies in a gap is
 * another process's, which may be writing it.
 */
import { Merging } from "../../core/comm/datatype/pieces.ts";
import { piecesOf, type View } from "./view.ts";

/** Of an open file: how many bytes were moved, fewer than asked for only at its end. */
export type Move = (bytes: Uint8Array, position: number) => number;

const gapBytesMax = 8 << 10;
const groupBytesMax = 1 << 20;

/** Fills `target` with the stream from byte `from` on. Answers how many bytes there were before the file's end. */
export function readView(view: View, from: number, target: Uint8Array, read: Move): number {
  const groups = new Groups(target, read);
  const merging = new Merging((at, bytes) => groups.add(at, bytes));
  piecesOf(view, from, from + target.length, merging.add);
  merging.end();
  groups.end();
  return groups.done;
}

export function writeView(view: View, from: number, source: Uint8Array, write: Move): number {
  let done = 0;
  const merging = new Merging((at, bytes) => {
    done += write(source.subarray(done, done + bytes), at);
    return true;
  });
  piecesOf(view, from, from + source.length, merging.add);
  merging.end();
  return done;
}

/** Pieces that are read at one go: ascending, close to each other. */
class Groups {
  /** Bytes of the stream that were there. */
  done = 0;
  #isAtEnd = false;
  readonly #target: Uint8Array;
  readonly #read: Move;
  readonly #positions: number[] = [];
  readonly #lengths: number[] = [];

  constructor(target: Uint8Array, read: Move) {
    this.#target = target;
    this.#read = read;
  }

  add(at: number, bytes: number): boolean {
    const last = this.#positions.length - 1;
    if (last >= 0) {
      const gap = at - this.#positions[last]! - this.#lengths[last]!;
      const span = at + bytes - this.#positions[0]!;
      if (gap < 0 || gap > gapBytesMax || span > groupBytesMax) this.end();
    }
    this.#positions.push(at);
    this.#lengths.push(bytes);
    return !this.#isAtEnd;
  }

  end(): void {
    const positions = this.#positions.splice(0);
    const lengths = this.#lengths.splice(0);
    const last = positions.length - 1;
    if (last < 0 || this.#isAtEnd) return;
    const [first, end] = [positions[0]!, positions[last]! + lengths[last]!];
    if (last === 0) {
      this.#took(this.#read(this.#target.subarray(this.done, this.done + lengths[0]!), first), lengths[0]!);
      return;
    }
    const span = new Uint8Array(end - first);
    const got = this.#read(span, first);
    for (let i = 0; i <= last && !this.#isAtEnd; i++) {
      const at = positions[i]! - first;
      const bytes = Math.max(0, Math.min(lengths[i]!, got - at));
      copy(span, at, this.#target, this.done, bytes);
      this.#took(bytes, lengths[i]!);
    }
  }

  #took(bytes: number, wanted: number): void {
    this.done += bytes;
    if (bytes < wanted) this.#isAtEnd = true;
  }
}

/** A loop beats `set` for a few bytes: that must first make a view. */
function copy(source: Uint8Array, from: number, target: Uint8Array, to: number, bytes: number): void {
  if (bytes > 64) target.set(source.subarray(from, from + bytes), to);
  else for (let i = 0; i < bytes; i++) target[to + i] = source[from + i]!;
}
