/** The origin of an image: a plain object, as JSON in the file, so that people and other tools can read it. */
import { ImageError } from "./image-error.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The caller's fields; the caller may add more. */
export interface ImageFacts {
  /** Hash of the program's WebAssembly module: an image fits only the very bytes it was captured from. */
  readonly program: string;
  /** Version of the encoding of `state`. */
  readonly layout: number;
  readonly rank: number;
  readonly ranks: number;
  readonly [name: string]: Json;
}

/** The image onto which the pages of another are laid. */
export type ImageBase = {
  /** Of its checkpoint: its file has the same name, in the folder of that checkpoint. */
  readonly number: number;
  /** The chain of its end (record.ts), in hexadecimal digits: the very image that was there when this one was made. */
  readonly chain: string;
};

/** The fields in the file. */
export interface ImageHeader extends ImageFacts {
  readonly format: number;
  /** Size of the captured memory: the image is restored into a memory of the same size. */
  readonly memoryBytes: number;
  /** Missing: the image is whole. */
  readonly base?: ImageBase;
}

/** The demands of a restore; a field that is left out is not compared. */
export interface Expectation {
  readonly program?: string;
  readonly layout?: number;
  readonly rank?: number;
  readonly ranks?: number;
  /** The image of a frozen job builds upon nothing. */
  readonly isWhole?: boolean;
}

/** Far more than any header has: a longer one is not read. */
export const headerBytesMax = 1 << 20;
/** The reach of 32-bit addresses. */
const memoryBytesMax = 2 ** 32;
const wasmPageBytes = 65_536;

export function encodeHeader(header: ImageHeader): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(header));
}

export function decodeHeader(bytes: Uint8Array): ImageHeader {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    value = undefined;
  }
  if (!isHeader(value)) {
    throw new ImageError("its header lacks what this Banyan needs; use the version that wrote it");
  }
  return value;
}

function isHeader(value: unknown): value is ImageHeader {
  if (typeof value !== "object" || value === null) return false;
  const header = value as Partial<ImageHeader>;
  const { program, format, memoryBytes, layout, rank, ranks } = header;
  const isWhole = (number: unknown): number is number => Number.isSafeInteger(number) && (number as number) >= 0;
  if (typeof program !== "string" || !isWhole(format) || !isWhole(layout)) return false;
  if (!isWhole(rank) || !isWhole(ranks) || rank >= ranks) return false;
  if (header.base !== undefined && !isBase(header.base)) return false;
  return isWhole(memoryBytes) && memoryBytes <= memoryBytesMax && memoryBytes % wasmPageBytes === 0;
}

function isBase(value: unknown): value is ImageBase {
  if (typeof value !== "object" || value === null) return false;
  const { number, chain } = value as Partial<ImageBase>;
  return Number.isSafeInteger(number) && (number as number) > 0 && typeof chain === "string";
}

/** Refuses an image of another program, rank, or version of the runtime's state. */
export function checkHeader(header: ImageHeader, expected: Expectation): void {
  const { program, layout, rank, ranks, isWhole = false } = expected;
  if (isWhole && header.base !== undefined) {
    throw new ImageError("it holds only what has changed since another image; give the image of a frozen job");
  }
  if (program !== undefined && program !== header.program) {
    throw new ImageError(
      `it is of another program (${short(header.program)}, wanted ${short(program)}); an image fits only the very build it was captured from`,
    );
  }
  if (layout !== undefined && layout !== header.layout) {
    throw new ImageError(
      `its state has layout ${header.layout}, this Banyan reads ${layout}; use the version that wrote it`,
    );
  }
  if ((rank ?? header.rank) !== header.rank || (ranks ?? header.ranks) !== header.ranks) {
    throw new ImageError(
      `it is of rank ${header.rank} of ${header.ranks}, wanted rank ${rank ?? header.rank} of ${ranks ?? header.ranks}; give the image of that rank`,
    );
  }
}

const short = (hash: string): string => (hash.length > 12 ? `${hash.slice(0, 12)}…` : hash);
