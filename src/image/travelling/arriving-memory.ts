/**
 * A memory that comes while its program runs elsewhere, and goes into a fresh one: pages straight to their places (travel-stream.ts). Whoever has the stream asks where
 * the next bytes belong, puts them there, and says how many came.
 *
 * Nothing in the stream is trusted. Until the end is there the memory is of no use, and after an error it never will be.
 */
import { assert } from "../../core/base/assert.ts";
import { checksumOf } from "../checksum.ts";
import { decodeHeader, type ImageHeader } from "../header.ts";
import { pageBytes } from "../kernel.ts";
import { hashBytes } from "../page-hash.ts";
import { viewOf } from "../record.ts";
import { PageBook } from "./page-book.ts";
import {
  damagedTravel,
  decodeNumbers,
  decodeTravelHead,
  decodeTravelStart,
  endSumsBytes,
  numberBytes,
  recordPagesMax,
  runOf,
  type TravelHead,
  TravelRecord,
  travelHeadBytes,
  travelStartBytes,
} from "./travel-stream.ts";

type Step = "start" | "head" | "pages" | "numbers" | "single" | "end" | "over";

interface Contents {
  readonly header: ImageHeader;
  readonly state: Uint8Array;
}

export class ArrivingMemory {
  readonly #memory: WebAssembly.Memory;
  readonly #bytes: Uint8Array;
  readonly #answer: (hashes: Uint8Array) => void;
  readonly #start = new Uint8Array(travelStartBytes);
  readonly #headBytes = new Uint8Array(travelHeadBytes);
  #book: PageBook | undefined;
  #head: TravelHead | undefined;
  #step: Step = "start";
  /** What is to be filled in this step, and how much of it is. */
  #place: Uint8Array = this.#start;
  #filled = 0;
  /** Of single pages that come next, and the room for them. */
  #numbers: readonly number[] = [];
  readonly #stage = new Uint8Array(recordPagesMax * pageBytes);
  #contents: Contents | undefined;
  /** That have come. */
  bytes = 0;

  /** `memory` is fresh. `answer` is given hashes for the source, which are its own to keep. */
  constructor(memory: WebAssembly.Memory, answer: (hashes: Uint8Array) => void) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#answer = answer;
  }

  /** Where the next bytes belong; null: the memory is complete. */
  get wanted(): Uint8Array | null {
    if (this.#step === "over") return null;
    return this.#filled === 0 ? this.#place : this.#place.subarray(this.#filled);
  }

  /** So many bytes are there. Throws an `ImageError` for every mistake in the stream. */
  took(bytes: number): void {
    assert(this.#step !== "over" && this.#filled + bytes <= this.#place.length, "no more bytes than were wanted");
    this.bytes += bytes;
    this.#filled += bytes;
    if (this.#filled < this.#place.length) return;
    this.#filled = 0;
    this.#next();
  }

  /** Of a complete memory. */
  get contents(): Contents {
    assert(this.#contents !== undefined, "the memory is complete");
    return this.#contents;
  }

  /** A step is over. */
  #next(): void {
    switch (this.#step) {
      case "start":
        this.#book = new PageBook(this.#memory, decodeTravelStart(this.#start));
        this.#fill("head", this.#headBytes);
        return;
      case "head":
        this.#begin(decodeTravelHead(this.#headBytes, this.#known.pages));
        return;
      case "pages": {
        const run = runOf(this.#travelHead);
        this.#known.note(run);
        this.#answer(this.#known.hashesOf(run).slice());
        this.#fill("head", this.#headBytes);
        return;
      }
      case "numbers":
        this.#numbers = decodeNumbers(this.#place, this.#known.pages);
        this.#fill("single", this.#stage.subarray(0, this.#numbers.length * pageBytes));
        return;
      case "single":
        this.#put(this.#numbers);
        this.#fill("head", this.#headBytes);
        return;
      default:
        this.#contents = this.#checkedEnd();
        this.#step = "over";
    }
  }

  /** Single pages have come. */
  #put(pages: readonly number[]): void {
    const hashes = new Uint8Array(pages.length * hashBytes);
    for (const [index, page] of pages.entries()) {
      const run = { from: page, to: page + 1 };
      this.#bytes.set(this.#stage.subarray(index * pageBytes, (index + 1) * pageBytes), page * pageBytes);
      this.#known.note(run);
      hashes.set(this.#known.hashesOf(run), index * hashBytes);
    }
    this.#answer(hashes);
  }

  #begin(head: TravelHead): void {
    const { kind, page, count } = head;
    this.#head = head;
    if (kind === TravelRecord.end) {
      this.#fill("end", new Uint8Array(endSumsBytes + page + count));
      return;
    }
    if (kind === TravelRecord.single) {
      this.#fill("numbers", new Uint8Array(count * numberBytes));
      return;
    }
    const place = this.#bytes.subarray(page * pageBytes, (page + count) * pageBytes);
    if (kind === TravelRecord.pages) {
      this.#fill("pages", place);
      return;
    }
    place.fill(0);
    this.#known.clear(runOf(head));
    this.#fill("head", this.#headBytes);
  }

  #checkedEnd(): Contents {
    const sums = viewOf(this.#place);
    const headerEnd = endSumsBytes + this.#travelHead.page;
    const header = this.#place.subarray(endSumsBytes, headerEnd);
    const state = this.#place.slice(headerEnd);
    const isRight = sums.getBigUint64(8, true) === checksumOf(state, checksumOf(header));
    if (!isRight || sums.getBigUint64(0, true) !== this.#known.digest) throw damagedTravel();
    return { header: decodeHeader(header), state };
  }

  get #known(): PageBook {
    assert(this.#book !== undefined, "the start has come");
    return this.#book;
  }

  get #travelHead(): TravelHead {
    assert(this.#head !== undefined, "a head has come");
    return this.#head;
  }

  #fill(step: Step, place: Uint8Array): void {
    this.#step = step;
    this.#place = place;
  }
}
