/** Writes an image from the calling thread. In bounded memory, chunk by chunk. */
import { randomBytes } from "node:crypto";
import { type EncoderOptions, ImageEncoder, type Progress } from "../../image/encoder.ts";
import type { ImageFacts } from "../../image/header.ts";
import { ImageError } from "../../image/image-error.ts";
import { keysBytes } from "../../image/page-hash.ts";
import { PageStage } from "../../image/page-stage.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { imageFileError } from "./file-error.ts";
import { lz4 } from "./lz4.ts";
import { PartFile } from "./part-file.ts";

export interface ImageContents {
  readonly header: ImageFacts;
  readonly state: Uint8Array;
  readonly memory: WebAssembly.Memory;
  /** The parts of memory that are in use; the rest is zero after a restore. */
  readonly ranges: readonly MemoryRange[];
}

/**
 * The program stands still until the image is durable. Throws an `ImageError` if the image cannot be written; an older file of that
 * name stays.
 */
export function writeImageNow(path: string, contents: ImageContents): Progress {
  return write(path, contents, { encoder: newEncoder(contents.memory, false), end: (file) => file.commit() });
}

/**
 * The program stands still until this returns; then all of the image is in the file `<path>.part`, and somebody else has to make
 * it durable (`commitPart`). Nothing is compressed: that takes longer than writing. Throws as `writeImageNow` does.
 */
export function writeImagePart(
  path: string,
  contents: ImageContents,
  how: Pick<EncoderOptions, "stage" | "book" | "base">,
): Progress {
  return write(path, contents, {
    encoder: new ImageEncoder({ ...how, codec: null }),
    end: (file) => file.leave(),
  });
}

interface Writing {
  readonly encoder: ImageEncoder;
  end(file: PartFile): void;
}

function write(path: string, { header, state, ranges }: ImageContents, { encoder, end }: Writing): Progress {
  const what = `Cannot write image ${path}`;
  let file: PartFile;
  try {
    file = new PartFile(path);
  } catch (error) {
    throw imageFileError(what, error);
  }
  try {
    file.write(encoder.start());
    for (const piece of encoder.round(ranges)) file.write(piece);
    file.write(encoder.end(header, state));
    end(file);
    return encoder.progress;
  } catch (error) {
    file.discard();
    throw imageFileError(what, error);
  }
}

/** Of a whole image. `isLive`: the program may run. */
export function newEncoder(memory: WebAssembly.Memory, isLive: boolean): ImageEncoder {
  return new ImageEncoder({ stage: newStage(memory, { books: 1, isLive }), book: 0, base: null, codec: lz4 });
}

/** Throws an `ImageError` where there is no memory for it. */
export function newStage(
  memory: WebAssembly.Memory,
  how: { readonly books: number; readonly isLive: boolean },
): PageStage {
  try {
    return new PageStage({ memory, keys: randomBytes(keysBytes), ...how });
  } catch (error) {
    if (error instanceof RangeError)
      throw new ImageError("Cannot write images: there is no memory for a list of pages");
    throw error;
  }
}
