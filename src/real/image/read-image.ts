/**
 * Reads an image file: its header alone, all of it into a fresh memory, or all of it to see whether it is good. Blocks. Throws an `ImageError` for every mistake in
 * it.
 */
import { closeSync, constants, fstatSync, openSync, readvSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checked, ImageDecoder } from "../../image/decoder.ts";
import { checkHeader, decodeHeader, type Expectation, headerBytesMax, type ImageHeader } from "../../image/header.ts";
import { ImageError } from "../../image/image-error.ts";
import { linksMax } from "../../image/image-history.ts";
import { chunkBytes } from "../../image/page-set.ts";
import { checkStart, cutOff, damaged, decodeHead, headBytes, ImageRecordKind, startBytes } from "../../image/record.ts";
import { decodeTrailer, type Trailer, trailerBytes } from "../../image/trailer.ts";
import { imageFileError } from "./file-error.ts";
import { lz4 } from "./lz4.ts";
import { partsAfter, withoutEmpty } from "./parts.ts";

const windowPages = chunkBytes / 65_536;
/** The room in which this thread checks images: a record is read and checked before anybody else has a turn. */
let window: WebAssembly.Memory | undefined;

interface Front {
  readonly header: ImageHeader;
  readonly trailer: Trailer;
}

interface RestoredImage {
  readonly header: ImageHeader;
  readonly state: Uint8Array;
}

/** The origin of the image, and the size of its memory. Reads three small pieces of the file. */
export function readImageHeader(path: string, expected: Expectation = {}): ImageHeader {
  return withFile(path, (file) => readFront(file, expected).header);
}

/**
 * `memory` is fresh (all zero) and of the header's size; after an exception it is unusable. Verifies the header first, so an
 * image of another program is refused before anything is read. Images that it builds upon are read from their files.
 */
export function readImage(path: string, memory: WebAssembly.Memory, expected: Expectation = {}): RestoredImage {
  return withFile(path, (file) => {
    const front = readFront(file, expected);
    const { header } = front;
    if (header.memoryBytes !== memory.buffer.byteLength) {
      throw new ImageError(
        `it is of a memory of ${header.memoryBytes} bytes, this one has ${memory.buffer.byteLength}; restore with the size it was captured from`,
      );
    }
    for (const base of basesOf(path, front))
      base.read((trailer) => new ImageDecoder({ memory, codecs: [lz4], trailer }));
    const decoder = new ImageDecoder({ memory, codecs: [lz4], trailer: front.trailer });
    readRecords(file, decoder);
    return { header, state: decoder.finish() };
  });
}

/**
 * Reads all of the image and checks what a restore would check, in the room of a chunk, and pauses after each record: whoever has other things to do as well
 * goes on later. Of an image that it builds upon, which was checked when it was new, no more than that it is there and the right one.
 */
export function* checkingImage(path: string): Generator<void, void, void> {
  let file: number | undefined;
  try {
    file = openImage(path);
    const front = readFront(file, {});
    const { header, trailer } = front;
    basesOf(path, front);
    window ??= new WebAssembly.Memory({ initial: windowPages, maximum: windowPages, shared: true });
    const { memoryBytes } = header;
    const decoder = ImageDecoder.checking({ window, memoryBytes, codecs: [lz4], trailer });
    yield* readingRecords(file, decoder);
    decoder.finish();
  } catch (error) {
    throw imageFileError(`Cannot read image ${path}`, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** An image that another one builds upon. */
interface Base {
  read(decoderOf: (trailer: Trailer) => ImageDecoder): void;
}

/** The images that this one builds upon, the whole one first. Each is in the folder of its checkpoint, beside the folder of this one. */
function basesOf(path: string, front: Front): Base[] {
  const bases: Base[] = [];
  let before = front.header;
  let numberBefore = Number.POSITIVE_INFINITY;
  for (let { base } = front.header; base !== undefined; base = before.base) {
    const { number, chain } = base;
    // Numbers that go down come to an end.
    if (number >= numberBefore || bases.length > linksMax) throw damaged("its header");
    const { program, layout, rank, ranks, memoryBytes } = before;
    const place = join(dirname(path), "..", String(number), basename(path));
    const { header, trailer } = withFile(place, (file) => readFront(file, { program, layout, rank, ranks }));
    if (trailer.chain.toString(16) !== chain || header.memoryBytes !== memoryBytes) {
      throw new ImageError(`${place}, on which it builds, is another image than it was; use an older image`);
    }
    bases.unshift({
      read: (decoderOf) =>
        withFile(place, (file) => {
          const decoder = decoderOf(trailer);
          readRecords(file, decoder);
          decoder.finish();
        }),
    });
    before = header;
    numberBefore = number;
  }
  return bases;
}

function readRecords(file: number, decoder: ImageDecoder): void {
  for (const _ of readingRecords(file, decoder));
}

/** Reads a body and the head behind it in one call; raw pages go straight to their places. Pauses after each record. */
function* readingRecords(file: number, decoder: ImageDecoder): Generator<void, void, void> {
  let at = startBytes;
  let head = new Uint8Array(headBytes);
  readAll(file, { at, targets: [head] });
  while (decoder.nextHeadAt !== undefined) {
    const targets = decoder.begin(head);
    const bodyAt = at + headBytes;
    head = new Uint8Array(headBytes);
    // Behind the last record the head of the end is read: it is as long as any.
    at = decoder.nextHeadAt ?? at;
    readAll(file, { at: bodyAt, targets: [...targets, head] });
    decoder.end();
    yield;
  }
}

function readFront(file: number, expected: Expectation): Front {
  const status = fstatSync(file);
  if (!status.isFile()) throw new ImageError("it is not a file; give the file that a checkpoint wrote");
  const fileBytes = status.size;
  const start = new Uint8Array(Math.min(startBytes, fileBytes));
  readAll(file, { at: 0, targets: [start] });
  checkStart(start);
  if (fileBytes < startBytes + trailerBytes) throw cutOff();
  const end = new Uint8Array(trailerBytes);
  readAll(file, { at: fileBytes - trailerBytes, targets: [end] });
  const trailer = decodeTrailer(end, fileBytes);
  const header = decodeHeader(readHeaderRecord(file, trailer));
  checkHeader(header, expected);
  return { header, trailer };
}

function readHeaderRecord(file: number, { headerAt, fileBytes }: Trailer): Uint8Array {
  const headRaw = new Uint8Array(headBytes);
  readAll(file, { at: headerAt, targets: [headRaw] });
  const head = decodeHead(headRaw, headerAt);
  const isInFile = headerAt + headBytes + head.bytes <= fileBytes - trailerBytes;
  if (head.kind !== ImageRecordKind.header || !isInFile || head.bytes > headerBytesMax) throw damaged("its header");
  const body = new Uint8Array(head.bytes);
  readAll(file, { at: headerAt + headBytes, targets: [body] });
  return checked(head, body, "its header");
}

function readAll(file: number, { at, targets }: { at: number; targets: readonly Uint8Array[] }): void {
  let rest = withoutEmpty(targets);
  let position = at;
  while (rest.length > 0) {
    const bytes = readvSync(file, rest, position);
    // The file became shorter while it was read.
    if (bytes === 0) throw cutOff();
    position += bytes;
    rest = partsAfter(rest, bytes);
  }
}

function withFile<Result>(path: string, use: (file: number) => Result): Result {
  const what = `Cannot read image ${path}`;
  let file: number | undefined;
  try {
    file = openImage(path);
    return use(file);
  } catch (error) {
    throw imageFileError(what, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Opening must never wait: a pipe would wait for a writer. */
const openImage = (path: string): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
