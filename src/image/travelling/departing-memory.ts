/**
 * A memory that leaves while its program runs, in rounds (pre-copy.ts): what to send, and what was answered (travel-stream.ts). Many pages leave from the program's
 * own memory, single ones are gathered first; those of the last round, when the program stands still, are copies, and it may go on before they have left.
 */
import { assert } from "../../core/base/assert.ts";
import { checksumOf } from "../checksum.ts";
import { encodeHeader, type ImageFacts } from "../header.ts";
import { ImageError } from "../image-error.ts";
import { pageBytes } from "../kernel.ts";
import { chunkPages, type PageRun, type PageSet } from "../page-set.ts";
import { type MemoryRange, pagesOf } from "../ranges.ts";
import { Format, viewOf } from "../record.ts";
import { PageBook } from "./page-book.ts";
import {
  encodeNumbers,
  encodeTravelHead,
  encodeTravelStart,
  endSumsBytes,
  recordPagesMax,
  TravelRecord,
} from "./travel-stream.ts";

/** Bytes that follow each other: a head, and what belongs to it. */
export type TravelPiece = readonly Uint8Array[];

/** Fewer neighbours are copied together with others: each piece has its price. */
const neighboursMin = 16;

export class DepartingMemory {
  readonly #bytes: Uint8Array;
  readonly #book: PageBook;
  readonly #keys: Uint8Array;
  /** Pages that have left, oldest first; which of these runs is the first whose hashes have not all come, and how many bytes of hashes have come of that one. */
  readonly #left: PageRun[] = [];
  #unanswered = 0;
  #answered = 0;
  #isFirst = true;
  /** That have left since the start. */
  pages = 0;

  constructor(memory: WebAssembly.Memory, keys: Uint8Array) {
    this.#bytes = new Uint8Array(memory.buffer);
    this.#book = new PageBook(memory, keys);
    this.#keys = keys;
  }

  start(): Uint8Array {
    return encodeTravelStart(this.#keys);
  }

  /** Pages in the ranges that the clone lacks; nothing of an earlier round is unanswered. */
  *round(ranges: readonly MemoryRange[]): Generator<TravelPiece, void, void> {
    assert(this.isAnswered, "a round begins when all hashes are there");
    const runs = pagesOf(ranges, this.#bytes.length);
    if (this.#isFirst) yield* this.#first(runs);
    else yield* this.#changed(runs, neighboursMin);
    this.#isFirst = false;
  }

  /** The program stands still: pages in the ranges that the clone lacks; whatever is not in the ranges is zero. */
  *last(ranges: readonly MemoryRange[]): Generator<TravelPiece, void, void> {
    assert(this.isAnswered && !this.#isFirst, "a last round follows others");
    const runs = pagesOf(ranges, this.#bytes.length);
    yield* this.#changed(runs, Number.POSITIVE_INFINITY);
    for (const run of this.#book.without(runs)) yield this.#zero(run);
  }

  /** Behind the last round. */
  end(facts: ImageFacts, state: Uint8Array): TravelPiece {
    const header = encodeHeader({ ...facts, format: Format.WHOLE, memoryBytes: this.#bytes.length });
    const head = encodeTravelHead({ kind: TravelRecord.end, page: header.length, count: state.length });
    const sums = new Uint8Array(endSumsBytes);
    viewOf(sums).setBigUint64(0, this.#book.digest, true);
    viewOf(sums).setBigUint64(8, checksumOf(state, checksumOf(header)), true);
    return [head, sums, header, state];
  }

  /** Hashes have come. Throws an `ImageError` if there are more than were asked for. */
  heard(hashes: Uint8Array): void {
    let at = 0;
    while (at < hashes.length) {
      const run = this.#left[this.#unanswered];
      if (run === undefined) throw new ImageError("the other node has answered what nobody asked");
      const place = this.#book.hashesOf(run).subarray(this.#answered);
      const part = hashes.subarray(at, at + place.length);
      place.set(part);
      at += part.length;
      this.#answered += part.length;
      if (part.length < place.length) return;
      this.#unanswered++;
      this.#answered = 0;
    }
    if (!this.isAnswered) return;
    this.#left.length = 0;
    this.#unanswered = 0;
  }

  get isAnswered(): boolean {
    return this.#unanswered === this.#left.length;
  }

  /** All that are not zero: their hashes are not needed yet. */
  *#first(runs: readonly PageRun[]): Generator<TravelPiece, void, void> {
    for (const { from, to } of runs) {
      for (let first = this.#book.firstNotZero({ from, to }); first < to; ) {
        // The first may have become zero meanwhile.
        const end = this.#book.firstZero({ from: first + 1, to: Math.min(to, first + recordPagesMax) });
        yield this.#pages({ from: first, to: end });
        first = this.#book.firstNotZero({ from: end, to });
      }
    }
  }

  /** `inPlace`: so many neighbours are sent from where they lie. */
  *#changed(runs: readonly PageRun[], inPlace: number): Generator<TravelPiece, void, void> {
    let single: number[] = [];
    for (const { from, to } of runs) {
      let first = this.#book.firstChanged({ from, to });
      for (; first < to; first = this.#book.firstChanged({ from: Math.min(to, first + chunkPages), to })) {
        const { changed, zeroed } = this.#book.look({ from: first, to: Math.min(to, first + chunkPages) });
        for (const run of runsFrom(first, zeroed)) yield this.#zero(run);
        for (const run of runsFrom(first, changed)) {
          if (run.to - run.from >= inPlace) yield this.#pages(run);
          else for (let page = run.from; page < run.to; page++) single.push(page);
        }
        if (single.length <= recordPagesMax - chunkPages) continue;
        yield this.#single(single);
        single = [];
      }
    }
    if (single.length > 0) yield this.#single(single);
  }

  #pages(run: PageRun): TravelPiece {
    const count = run.to - run.from;
    this.pages += count;
    this.#left.push(run);
    const head = encodeTravelHead({ kind: TravelRecord.pages, page: run.from, count });
    return [head, this.#bytes.subarray(run.from * pageBytes, run.to * pageBytes)];
  }

  /** Copies. */
  #single(pages: readonly number[]): TravelPiece {
    const bytes = new Uint8Array(pages.length * pageBytes);
    for (const [index, page] of pages.entries()) {
      bytes.set(this.#bytes.subarray(page * pageBytes, (page + 1) * pageBytes), index * pageBytes);
      this.#left.push({ from: page, to: page + 1 });
    }
    this.pages += pages.length;
    const head = encodeTravelHead({ kind: TravelRecord.single, page: 0, count: pages.length });
    return [head, encodeNumbers(pages), bytes];
  }

  #zero(run: PageRun): TravelPiece {
    this.#book.clear(run);
    return [encodeTravelHead({ kind: TravelRecord.zero, page: run.from, count: run.to - run.from })];
  }
}

function runsFrom(first: number, pages: PageSet): PageRun[] {
  if (pages.isEmpty) return [];
  return pages.runs().map(({ from, to }) => ({ from: first + from, to: first + to }));
}
