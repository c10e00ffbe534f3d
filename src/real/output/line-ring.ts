/**
 * What a rank prints, on its way to the node: a ring of bytes in shared memory with one writer (the rank's thread, which
 * blocks and therefore cannot use Node's own streams) and one reader (the node's main thread).
 *
 * The ring dies with the node. A rank that ends, well or badly, loses nothing: the main thread reads its ring to the end. When
 * the whole node is killed (SIGKILL, out of memory) what its main thread has not passed on yet is lost: it is woken by the
 * first record, not by a clock, and passes on what it finds 0.2 ms after it was printed; after 4 ms, at worst 0.1 s, while
 * ranks that compute take all processors (8 ranks, 2 cores). Beyond `outputWindowBytes` that nobody has read from the job,
 * records stay here until somebody does.
 *
 * A record is three words and its bytes, padded to whole words. It counts from the moment `head` is stored, so a thread
 * that is terminated in the middle of writing leaves nothing half written, and all that it printed before is there.
 * Head and tail count bytes without end (mod 2^32); the ring's size is a power of two.
 *
 * Full means: the writer waits, in slices of a tenth of a second, until the reader has made room. That is how a slow
 * reader of the job's output slows down the ranks instead of filling memory.
 */
import { assert } from "../../core/base/assert.ts";
import { type LinePlace, passOver } from "../../core/service/line-places.ts";
import { ring as ringBell } from "../machine/bell.ts";
import type { LineChunk, Stream } from "../messages/lines.ts";

const head = 0;
const tail = 1;
const dataOffset = 64;
const recordHeaderBytes = 12;
const ringBytes = 1 << 17;

export function createLineRing(bytes = ringBytes): SharedArrayBuffer {
  assert((bytes & (bytes - 1)) === 0, "the size of a line ring is a power of two");
  return new SharedArrayBuffer(dataOffset + bytes);
}

/** Where both streams of a rank are: plain data, part of its image. */
export type LinePlaces = Readonly<Record<Stream, LinePlace>>;

export const newLinePlaces = (): LinePlaces => ({ stdout: { line: 0, offset: 0 }, stderr: { line: 0, offset: 0 } });

/** The rank's end. */
export class LineWriter {
  readonly #words: Int32Array;
  readonly #dataWords: Int32Array;
  readonly #data: Uint8Array;
  readonly #bell: Int32Array;
  /** May be written to before anything is printed, by whoever restores a rank. */
  readonly places: LinePlaces;

  constructor(ring: SharedArrayBuffer, bell: Int32Array, places = newLinePlaces()) {
    this.places = places;
    this.#words = new Int32Array(ring, 0, 2);
    this.#dataWords = new Int32Array(ring, dataOffset);
    this.#data = new Uint8Array(ring, dataOffset);
    this.#bell = bell;
  }

  /** Returns when all of it is in the ring. */
  write(stream: Stream, bytes: Uint8Array): void {
    const size = this.#data.length;
    for (let from = 0; from < bytes.length; ) {
      const room = this.#waitForRoom(recordHeaderBytes + 4);
      const count = Math.min(bytes.length - from, room - recordHeaderBytes, size >> 1);
      const piece = bytes.subarray(from, from + count);
      this.#append(stream, piece, false);
      passOver(this.places[stream], piece);
      from += count;
    }
  }

  /** Asks that the unfinished line of the stream be shown. */
  flush(stream: Stream): void {
    this.#waitForRoom(recordHeaderBytes);
    this.#append(stream, new Uint8Array(0), true);
  }

  #waitForRoom(bytes: number): number {
    const words = this.#words;
    for (;;) {
      const seenTail = Atomics.load(words, tail);
      const room = this.#data.length - ((words[head]! - seenTail) | 0);
      if (room >= bytes) return room;
      Atomics.wait(words, tail, seenTail, 100);
    }
  }

  #append(stream: Stream, bytes: Uint8Array, flush: boolean): void {
    const mask = this.#data.length - 1;
    const start = this.#words[head]!;
    this.#dataWords[(start & mask) >> 2] = (bytes.length << 2) | (flush ? 2 : 0) | (stream === "stderr" ? 1 : 0);
    const { line, offset } = this.places[stream];
    this.#dataWords[((start + 4) & mask) >> 2] = line;
    this.#dataWords[((start + 8) & mask) >> 2] = offset;
    const at = (start + recordHeaderBytes) & mask;
    const untilWrap = Math.min(bytes.length, this.#data.length - at);
    this.#data.set(untilWrap === bytes.length ? bytes : bytes.subarray(0, untilWrap), at);
    if (untilWrap < bytes.length) this.#data.set(bytes.subarray(untilWrap), 0);
    Atomics.store(this.#words, head, (start + recordBytes(bytes.length)) | 0);
    ringBell(this.#bell);
  }
}

/** The node's end. */
export class LineReader {
  readonly #words: Int32Array;
  readonly #dataWords: Int32Array;
  readonly #data: Uint8Array;

  constructor(ring: SharedArrayBuffer) {
    this.#words = new Int32Array(ring, 0, 2);
    this.#dataWords = new Int32Array(ring, dataOffset);
    this.#data = new Uint8Array(ring, dataOffset);
  }

  /** The next records of one stream as one chunk, and room made for the writer; nothing when the ring is empty. */
  read(): LineChunk | undefined {
    const mask = this.#data.length - 1;
    const end = Atomics.load(this.#words, head);
    let at = this.#words[tail]!;
    if (at === end) return undefined;
    const bytes = Buffer.allocUnsafe((end - at) | 0);
    const first = this.#dataWords[(at & mask) >> 2]!;
    const number = this.#dataWords[((at + 4) & mask) >> 2]!;
    const offset = this.#dataWords[((at + 8) & mask) >> 2]!;
    let filled = 0;
    let flush = false;
    while (at !== end && !flush) {
      const word = this.#dataWords[(at & mask) >> 2]!;
      if ((word & 1) !== (first & 1)) break;
      const length = word >>> 2;
      this.#copyOut((at + recordHeaderBytes) & mask, length, bytes, filled);
      filled += length;
      flush = (word & 2) !== 0;
      at = (at + recordBytes(length)) | 0;
    }
    Atomics.store(this.#words, tail, at);
    Atomics.notify(this.#words, tail);
    return { stream: first & 1 ? "stderr" : "stdout", number, offset, bytes: bytes.subarray(0, filled), flush };
  }

  #copyOut(from: number, length: number, target: Buffer, to: number): void {
    const untilWrap = Math.min(length, this.#data.length - from);
    target.set(this.#data.subarray(from, from + untilWrap), to);
    if (untilWrap < length) target.set(this.#data.subarray(0, length - untilWrap), to + untilWrap);
  }
}

function recordBytes(length: number): number {
  return recordHeaderBytes + ((length + 3) & ~3);
}
