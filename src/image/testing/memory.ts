/** Shared by the tests of this folder and of real/image: a memory with contents, and a file in memory. */
import type { Codec } from "../codec.ts";
import { ImageDecoder } from "../decoder.ts";
import { ImageEncoder, type Piece } from "../encoder.ts";
import { checkHeader, decodeHeader, type Expectation, type ImageFacts, type ImageHeader } from "../header.ts";
import { pageBytes } from "../kernel.ts";
import { keysBytes } from "../page-hash.ts";
import { PageStage } from "../page-stage.ts";
import { checkStart, cutOff, damaged, decodeHead, headBytes, ImageRecordKind, startBytes } from "../record.ts";
import { decodeTrailer, trailerBytes } from "../trailer.ts";

export const facts: ImageFacts = { program: "0123456789abcdef", layout: 7, rank: 2, ranks: 4, note: "test" };

export function newMemory(wasmPages = 1): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: wasmPages, maximum: wasmPages, shared: true });
}

export const bytesOf = (memory: WebAssembly.Memory): Uint8Array => new Uint8Array(memory.buffer);

/** Fills a page: 0 with zeros, other values with bytes that hardly compress, or with one byte again and again. */
export function fillPage(memory: WebAssembly.Memory, page: number, value: number): void {
  const bytes = bytesOf(memory).subarray(page * pageBytes, (page + 1) * pageBytes);
  if (value === 0 || value % 2 === 1) bytes.fill(value);
  else {
    let x = value;
    for (let i = 0; i < bytes.length; i++) {
      x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
      bytes[i] = x >>> 24;
    }
  }
}

/** Runs of equal bytes as (count, byte): a codec for tests. */
const runLengths: Codec = {
  number: 200,
  compress(pages) {
    const out: number[] = [];
    for (let i = 0; i < pages.length; ) {
      let count = 1;
      while (count < 255 && i + count < pages.length && pages[i + count] === pages[i]) count++;
      out.push(count, pages[i]!);
      i += count;
    }
    return Uint8Array.from(out);
  },
  decompress(stored) {
    const out: number[] = [];
    for (let i = 0; i < stored.length; i += 2) for (let n = 0; n < stored[i]!; n++) out.push(stored[i + 1]!);
    return Uint8Array.from(out);
  },
};

export const testKeys = Uint8Array.from({ length: keysBytes }, (_, i) => (i * 167 + 42) & 255);

export function newTestEncoder(memory: WebAssembly.Memory, isLive = true): ImageEncoder {
  return new ImageEncoder({
    stage: new PageStage({ memory, keys: testKeys, books: 1, isLive }),
    book: 0,
    base: null,
    codec: runLengths,
  });
}

/** Concatenates the pieces. */
export function joined(pieces: Iterable<Piece>): Uint8Array {
  const parts = [...pieces].flat();
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Copies of the pieces of a round, made as they come: each piece is valid until the next one. */
export function* copied(pieces: Iterable<Piece>): Generator<Piece> {
  for (const piece of pieces) yield piece.map((part) => new Uint8Array(part));
}

/** The same as `readImage` in real/image, on bytes. */
export function restore(
  file: Uint8Array,
  memory: WebAssembly.Memory,
  expected: Expectation = {},
): { header: ImageHeader; state: Uint8Array } {
  checkStart(file.subarray(0, startBytes));
  if (file.length < startBytes + trailerBytes) throw cutOff();
  const trailer = decodeTrailer(file.slice(file.length - trailerBytes), file.length);
  const { headerAt } = trailer;
  const head = decodeHead(file.subarray(headerAt, headerAt + headBytes), headerAt);
  if (head.kind !== ImageRecordKind.header) throw damaged("its header");
  const bodyAt = headerAt + headBytes;
  const header = decodeHeader(file.subarray(bodyAt, bodyAt + head.bytes));
  checkHeader(header, expected);
  const decoder = new ImageDecoder({ memory, codecs: [runLengths], trailer });
  for (let at = decoder.nextHeadAt; at !== undefined; at = decoder.nextHeadAt) {
    let from = at + headBytes;
    for (const target of decoder.begin(file.slice(at, from))) {
      target.set(file.subarray(from, from + target.length));
      from += target.length;
    }
    decoder.end();
  }
  return { header, state: decoder.finish() };
}
