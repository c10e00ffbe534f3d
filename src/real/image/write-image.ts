/** Writes an image from the calling thread, which blocks until the image is durable. In bounded memory, chunk by chunk. */
import { randomBytes } from "node:crypto";
import { ImageEncoder, type Piece, type Progress } from "../../image/encoder.ts";
import type { ImageFacts } from "../../image/header.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { fileError } from "./file-error.ts";
import { lz4 } from "./lz4.ts";
import { PartFile } from "./part-file.ts";

interface ImageContents {
  readonly header: ImageFacts;
  readonly state: Uint8Array;
  readonly memory: WebAssembly.Memory;
  /** The parts of memory that are in use; the rest is zero after a restore. */
  readonly ranges: readonly MemoryRange[];
}

/** All of an image, in memories that nobody changes meanwhile. */
export interface ImageToStore extends ImageContents {
  readonly path: string;
}

/** The program stands still. Throws an `ImageError` if the image cannot be written; an older file of that name stays. */
export function writeImageNow(path: string, { header, state, memory, ranges }: ImageContents): Progress {
  const what = `Cannot write image ${path}`;
  let file: PartFile;
  try {
    file = new PartFile(path);
  } catch (error) {
    throw fileError(what, error);
  }
  try {
    const encoder = newEncoder(memory);
    for (const piece of piecesOf(encoder, { header, state, ranges })) file.write(piece);
    file.commit();
    return encoder.progress;
  } catch (error) {
    file.discard();
    throw fileError(what, error);
  }
}

/** All of an image, in the order of its file. A piece is valid until the next one is asked for. */
export function imagePieces(contents: ImageContents): Iterable<Piece> {
  return piecesOf(newEncoder(contents.memory), contents);
}

function* piecesOf(
  encoder: ImageEncoder,
  { header, state, ranges }: Omit<ImageContents, "memory">,
): Generator<Piece, void, void> {
  yield encoder.start();
  yield* encoder.round({ ranges, isLast: true });
  yield encoder.end(header, state);
}

export function newEncoder(memory: WebAssembly.Memory): ImageEncoder {
  return new ImageEncoder({ memory, codec: lz4, seed: randomBytes(8).readBigUInt64LE() });
}
