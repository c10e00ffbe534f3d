/**
 * Turns a memory into the bytes of an image file, chunk by chunk, in bounded memory: rounds while the program runs, a last
 * round when it stands still, then state, header and end. The caller writes the pieces in the order they come.
 *
 * While the program runs, pages are first copied to a stage, and hashed, summed and written from there: the bytes written are
 * then the bytes hashed, even if the program changes the page meanwhile. In the last round pages are written from their own
 * places. A piece is valid until the next one is asked for.
 */
import { assert } from "../core/base/assert.ts";
import { checksumOf } from "./checksum.ts";
import { type Codec, isGain, rawCodec, seemsCompressible } from "./codec.ts";
import { encodeHeader, type ImageFacts } from "./header.ts";
import { MemoryKernel, pageBytes } from "./kernel.ts";
import { chunkBytes, chunkPages, type PageRun, PageSet } from "./page-set.ts";
import { PageTracker } from "./page-tracker.ts";
import { type MemoryRange, pagesOf } from "./ranges.ts";
import { encodeHead, encodeStart, formatVersion, gapBytes, type RecordHead, RecordKind } from "./record.ts";
import { encodeTrailer } from "./trailer.ts";

/** Bytes that are consecutive in the file. */
export type Piece = readonly Uint8Array[];

export interface Progress {
  /** Pages written since the start, and pages that became zero again. */
  readonly pages: number;
  readonly zeroed: number;
  readonly fileBytes: number;
}

interface EncoderOptions {
  readonly memory: WebAssembly.Memory;
  readonly codec: Codec;
  /** 64 random bits, see page-tracker.ts. */
  readonly seed: bigint;
}

interface RoundOptions {
  readonly ranges: readonly MemoryRange[];
  /** The program stands still and no round follows: nothing has to be remembered, and pages outside the ranges are dropped. */
  readonly isLast: boolean;
}

const wasmPageBytes = 65_536;
const noPages = new PageSet();
const nothing = new Uint8Array(0);

/** The body of a chunk. */
interface Packed {
  readonly codec: number;
  readonly checksum: bigint;
  readonly parts: readonly Uint8Array[];
}

export class ImageEncoder {
  readonly #memory: Uint8Array;
  readonly #kernel: MemoryKernel;
  readonly #codec: Codec;
  readonly #tracker: PageTracker;
  readonly #stageKernel: MemoryKernel;
  readonly #stage: Uint8Array;
  #at = 0;
  #records = 0;
  #pages = 0;
  #zeroed = 0;
  #chain = 0n;

  constructor({ memory, codec, seed }: EncoderOptions) {
    const stagePages = chunkBytes / wasmPageBytes;
    const stageMemory = new WebAssembly.Memory({ initial: stagePages, maximum: stagePages, shared: true });
    this.#memory = new Uint8Array(memory.buffer);
    this.#kernel = new MemoryKernel(memory);
    this.#kernel.seedPages(seed);
    this.#codec = codec;
    this.#tracker = new PageTracker(this.#kernel, this.#memory.length);
    this.#stageKernel = new MemoryKernel(stageMemory);
    this.#stageKernel.seedPages(seed);
    this.#stage = new Uint8Array(stageMemory.buffer);
  }

  get progress(): Progress {
    return { pages: this.#pages, zeroed: this.#zeroed, fileBytes: this.#at };
  }

  start(): Piece {
    assert(this.#at === 0, "an image starts once");
    const start = encodeStart();
    this.#at = start.length;
    return [start];
  }

  /** Every page in the ranges that the file lacks. */
  *round({ ranges, isLast }: RoundOptions): Generator<Piece, void, void> {
    const memoryBytes = this.#memory.length;
    const runs = pagesOf(ranges, memoryBytes);
    for (let address = 0; address < memoryBytes; address += chunkBytes) {
      const wanted = chunkPart(runs, address / pageBytes);
      const piece = this.#chunk({ address, wanted, isLast });
      if (piece !== undefined) yield piece;
    }
  }

  /** The rest of the file. */
  end(facts: ImageFacts, state: Uint8Array): Piece {
    const stateAt = this.#at;
    const stateHead = this.#record({ ...plain(RecordKind.state), bytes: state.length, checksum: checksumOf(state) });
    const header = encodeHeader({ ...facts, format: formatVersion, memoryBytes: this.#memory.length });
    const headerAt = this.#at;
    const headerHead = this.#record({
      ...plain(RecordKind.header),
      bytes: header.length,
      checksum: checksumOf(header),
    });
    const counts = { records: this.#records, pages: this.#pages, chain: this.#chain, headerAt, stateAt };
    const fileBytes = this.#at + encodeTrailer({ ...counts, fileBytes: 0 }).length;
    this.#at = fileBytes;
    return [stateHead, state, headerHead, header, encodeTrailer({ ...counts, fileBytes })];
  }

  #chunk({ address, wanted, isLast }: { address: number; wanted: PageRun[]; isLast: boolean }): Piece | undefined {
    const pages = new PageSet();
    const zeroed = new PageSet();
    const first = address / pageBytes;
    this.#select(first, { wanted, pages, zeroed });
    if (isLast) this.#dropOthers(first, { wanted, zeroed });
    if (pages.isEmpty && zeroed.isEmpty) return undefined;
    this.#zeroed += zeroed.size;

    this.#pages += pages.size;
    const { codec, checksum, parts } = isLast ? this.#packStill(address, pages) : this.#packLive(address, pages);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const head = { kind: RecordKind.chunk, codec, address, bytes, checksum, pages, zeroed };
    const gap = new Uint8Array(gapBytes(head, this.#at));
    return [this.#record(head), gap, ...parts];
  }

  #packLive(address: number, pages: PageSet): Packed {
    const staged = this.#staged(this.#placesOf(address, pages));
    this.#remember(address / pageBytes, pages);
    return this.#compressed(staged) ?? raw(this.#stageKernel, [staged]);
  }

  #packStill(address: number, pages: PageSet): Packed {
    const places = this.#placesOf(address, pages);
    const largest = places.reduce((a, b) => (b.length > a.length ? b : a), nothing);
    if (!seemsCompressible(largest, this.#codec)) return raw(this.#kernel, places);
    return this.#compressed(this.#staged(places)) ?? raw(this.#kernel, places);
  }

  #compressed(pages: Uint8Array): Packed | undefined {
    if (!seemsCompressible(pages, this.#codec)) return undefined;
    const bytes = this.#codec.compress(pages);
    if (!isGain(pages, bytes)) return undefined;
    return { codec: this.#codec.number, checksum: checksumOf(bytes), parts: [bytes] };
  }

  /** Examines the wanted pages of the chunk that starts with page `first`. */
  #select(first: number, { wanted, pages, zeroed }: { wanted: PageRun[]; pages: PageSet; zeroed: PageSet }): void {
    for (const { from, to } of wanted) {
      for (let page = from; page < to; page++) {
        const state = this.#tracker.stateOf(page);
        if (state === "changed") pages.add(page - first);
        else if (state === "zeroed") {
          zeroed.add(page - first);
          this.#tracker.zeroed(page);
        }
      }
    }
  }

  /** Pages that an earlier round wrote and the memory no longer uses must not be restored. */
  #dropOthers(first: number, { wanted, zeroed }: { wanted: PageRun[]; zeroed: PageSet }): void {
    const end = Math.min(first + chunkPages, this.#memory.length / pageBytes);
    let page = first;
    for (const run of [...wanted, { from: end, to: end }]) {
      for (; page < run.from; page++) if (this.#tracker.isStored(page)) zeroed.add(page - first);
      page = run.to;
    }
  }

  #placesOf(address: number, pages: PageSet): Uint8Array[] {
    return pages
      .runs()
      .map(({ from, to }) => this.#memory.subarray(address + from * pageBytes, address + to * pageBytes));
  }

  #staged(places: readonly Uint8Array[]): Uint8Array {
    let filled = 0;
    for (const place of places) {
      this.#stage.set(place, filled);
      filled += place.length;
    }
    return this.#stage.subarray(0, filled);
  }

  #remember(first: number, pages: PageSet): void {
    let staged = 0;
    for (const { from, to } of pages.runs()) {
      for (let page = from; page < to; page++) {
        const low = this.#stageKernel.hashLow(staged++);
        this.#tracker.stored(first + page, low, this.#stageKernel.hashHigh());
      }
    }
  }

  #record(head: RecordHead): Uint8Array {
    const bytes = encodeHead(head);
    this.#chain = checksumOf(bytes, this.#chain);
    this.#records++;
    this.#at += bytes.length + gapBytes(head, this.#at) + head.bytes;
    return bytes;
  }
}

/** `parts` lie in the kernel's memory. */
function raw(kernel: MemoryKernel, parts: readonly Uint8Array[]): Packed {
  kernel.begin(0n);
  for (const { byteOffset, length } of parts) kernel.update(byteOffset, length);
  return { codec: rawCodec, checksum: kernel.finish(0, 0), parts };
}

/** The part of the runs in the chunk that starts with page `first`. */
function chunkPart(runs: readonly PageRun[], first: number): PageRun[] {
  const end = first + chunkPages;
  return runs
    .filter(({ from, to }) => from < end && to > first)
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, end) }));
}

const plain = <Kind extends RecordKind>(kind: Kind) =>
  ({ kind, codec: rawCodec, address: 0, pages: noPages, zeroed: noPages }) as const;
