/**
 * Turns a memory into the bytes of an image file, chunk by chunk, in bounded memory: rounds while the program runs, a last
 * round when it stands still, then state, header and end. The caller writes the pieces in the order they come. A piece is valid
 * until the next one is asked for.
 *
 * A whole image has every page that is not zero. An image with a base has the pages that differ from those of its base, which is an
 * earlier image that was made with the same book of pages (page-stage.ts).
 */
import { assert } from "../core/base/assert.ts";
import { checksumOf } from "./checksum.ts";
import { type Codec, isGain, rawCodec, seemsCompressible } from "./codec.ts";
import { encodeHeader, type ImageBase, type ImageFacts } from "./header.ts";
import { chunkBytes, chunkPages, type PageRun, PageSet } from "./page-set.ts";
import type { PageStage, ScannedChunk } from "./page-stage.ts";
import { type MemoryRange, pagesOf } from "./ranges.ts";
import { encodeHead, encodeStart, Format, gapBytes, ImageRecordKind, type RecordHead } from "./record.ts";
import { encodeTrailer } from "./trailer.ts";

/** Bytes that are consecutive in the file. */
export type Piece = readonly Uint8Array[];

export interface Progress {
  /** Pages written since the start, and pages that became zero again. */
  readonly pages: number;
  readonly zeroed: number;
  /** Pages in the last round that were not zero, and those of them that were new to the book. */
  readonly present: number;
  readonly changed: number;
  readonly fileBytes: number;
  /** Tells this image from all others, see record.ts. */
  readonly chain: bigint;
}

export interface EncoderOptions {
  readonly stage: PageStage;
  /** Which of the stage's books is compared with, and has the pages of this image at the end. */
  readonly book: number;
  /** Null: the image is whole. */
  readonly base: ImageBase | null;
  /** Null: nothing is compressed. */
  readonly codec: Codec | null;
}

const noPages = new PageSet();

/** The body of a chunk. */
interface Packed {
  readonly codec: number;
  readonly checksum: bigint;
  readonly body: Uint8Array;
}

export class ImageEncoder {
  readonly #stage: PageStage;
  readonly #book: number;
  readonly #base: ImageBase | null;
  readonly #codec: Codec | null;
  #at = 0;
  #rounds = 0;
  #records = 0;
  #pages = 0;
  #zeroed = 0;
  #present = 0;
  #changed = 0;
  #chain = 0n;

  constructor({ stage, book, base, codec }: EncoderOptions) {
    this.#stage = stage;
    this.#book = book;
    this.#base = base;
    this.#codec = codec;
  }

  get progress(): Progress {
    return {
      pages: this.#pages,
      zeroed: this.#zeroed,
      present: this.#present,
      changed: this.#changed,
      fileBytes: this.#at,
      chain: this.#chain,
    };
  }

  get #format(): number {
    return this.#base === null ? Format.WHOLE : Format.WITH_BASE;
  }

  start(): Piece {
    assert(this.#at === 0, "an image starts once");
    const start = encodeStart(this.#format);
    this.#at = start.length;
    return [start];
  }

  /** Every page in the ranges that the file, or its base, lacks. Pages outside the ranges are zero after a restore. */
  *round(ranges: readonly MemoryRange[]): Generator<Piece, void, void> {
    const runs = pagesOf(ranges, this.#stage.memoryBytes);
    const isAll = this.#rounds++ === 0 && this.#base === null;
    this.#present = 0;
    this.#changed = 0;
    for (const chunk of this.#stage.chunksOf(this.#book, runs)) {
      const address = chunk * chunkBytes;
      const scanned = this.#stage.scan(this.#book, address, chunkPart(runs, chunk * chunkPages));
      this.#present += scanned.present.size;
      this.#changed += scanned.changed.size;
      const piece = this.#chunk(address, scanned, isAll);
      if (piece !== null) yield piece;
    }
  }

  /** The rest of the file. */
  end(facts: ImageFacts, state: Uint8Array): Piece {
    const stateAt = this.#at;
    const stateHead = this.#record({
      ...plain(ImageRecordKind.state),
      bytes: state.length,
      checksum: checksumOf(state),
    });
    const whole = { ...facts, format: this.#format, memoryBytes: this.#stage.memoryBytes };
    const header = encodeHeader(this.#base === null ? whole : { ...whole, base: this.#base });
    const headerAt = this.#at;
    const headerHead = this.#record({
      ...plain(ImageRecordKind.header),
      bytes: header.length,
      checksum: checksumOf(header),
    });
    const counts = { records: this.#records, pages: this.#pages, chain: this.#chain, headerAt, stateAt };
    const fileBytes = this.#at + encodeTrailer({ ...counts, fileBytes: 0 }).length;
    this.#at = fileBytes;
    return [stateHead, state, headerHead, header, encodeTrailer({ ...counts, fileBytes })];
  }

  /** `isAll`: the file and its base have no page of the chunk yet. */
  #chunk(address: number, scanned: ScannedChunk, isAll: boolean): Piece | null {
    const pages = isAll ? scanned.present : scanned.changed;
    const zeroed = isAll ? noPages : scanned.zeroed;
    if (pages.isEmpty && zeroed.isEmpty) return null;
    this.#zeroed += zeroed.size;
    this.#pages += pages.size;
    const { codec, checksum, body } = this.#packed(pages);
    const head = { kind: ImageRecordKind.chunk, codec, address, bytes: body.length, checksum, pages, zeroed };
    const gap = new Uint8Array(gapBytes(head, this.#at));
    return [this.#record(head), gap, body];
  }

  #packed(pages: PageSet): Packed {
    const body = this.#stage.take(pages);
    return this.#compressed(body) ?? { codec: rawCodec, checksum: this.#stage.checksum(body), body };
  }

  #compressed(pages: Uint8Array): Packed | null {
    const codec = this.#codec;
    if (codec === null || !seemsCompressible(pages, codec)) return null;
    const body = codec.compress(pages);
    return isGain(pages, body) ? { codec: codec.number, checksum: checksumOf(body), body } : null;
  }

  #record(head: RecordHead): Uint8Array {
    const bytes = encodeHead(head);
    this.#chain = checksumOf(bytes, this.#chain);
    this.#records++;
    this.#at += bytes.length + gapBytes(head, this.#at) + head.bytes;
    return bytes;
  }
}

/** The part of the runs in the chunk that starts with page `first`. */
function chunkPart(runs: readonly PageRun[], first: number): PageRun[] {
  const end = first + chunkPages;
  return runs
    .filter(({ from, to }) => from < end && to > first)
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, end) }));
}

const plain = <Kind extends ImageRecordKind>(kind: Kind) =>
  ({ kind, codec: rawCodec, address: 0, pages: noPages, zeroed: noPages }) as const;
