/**
 * The file, as records. All numbers are little-endian, whatever the CPU.
 *
 *   start     "BANYANIM", version u32 (2: the image has a base), 0 u32
 *   chunk …   pages of memory; a later chunk overwrites an earlier one
 *   state     the runtime's own bytes
 *   header    JSON: whose image this is
 *   end       where state and header are, and how much there is of everything
 *
 * The header is near the end because a capture knows it last: chunks are written while the program still runs. A reader
 * starts with `end`, whose place is fixed from the end of the file, so a file that was cut off has none.
 *
 * A record is a head of 56 bytes and a body:
 *
 *    0  kind u32, codec u32 (chunks only)
 *    8  address u64: of a chunk's first page, a multiple of the chunk size
 *   16  bytes u64 of the body as stored
 *   24  checksum u64 of the body as stored
 *   32  pages: bitmap of the pages in the body, one behind the other
 *   40  zeroed: bitmap of pages that an earlier chunk had and that are zero now
 *   48  checksum u64 of the head up to here
 *
 * Before the body of a large raw chunk there are zeros up to the next multiple of 4096 in the file: the system then copies
 * whole pages, which makes reading a fifth faster.
 *
 * An image may have a base, which its header names: an earlier image of the same process, onto which its chunks are laid.
 *
 * A record that is missing, added or moved is noticed by the `chain` in `end`: the checksum of each head seeded with that of
 * the heads before it.
 */
import { checksumOf } from "./checksum.ts";
import { rawCodec } from "./codec.ts";
import { ImageError } from "./image-error.ts";
import { pageBytes } from "./kernel.ts";
import { chunkBytes, PageSet, pageSetBytes } from "./page-set.ts";

/** An image that needs another one has a version of its own: a Banyan that does not know of bases must not restore half of it. */
export const Format = { WHOLE: 1, WITH_BASE: 2 } as const;
const formatNewest = Format.WITH_BASE;
export const startBytes = 16;
const magic = 0x4d49_4e41_594e_4142n; // "BANYANIM"
const pagesAt = 32;
const zeroedAt = pagesAt + pageSetBytes;
const headSumAt = zeroedAt + pageSetBytes;
export const headBytes = headSumAt + 8;

export const ImageRecordKind = { chunk: 1, state: 2, header: 3, end: 4 } as const;
export type ImageRecordKind = (typeof ImageRecordKind)[keyof typeof ImageRecordKind];

export interface RecordHead {
  readonly kind: ImageRecordKind;
  readonly codec: number;
  readonly address: number;
  readonly bytes: number;
  readonly checksum: bigint;
  readonly pages: PageSet;
  readonly zeroed: PageSet;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function encodeStart(format: number): Uint8Array {
  const bytes = new Uint8Array(startBytes);
  const view = viewOf(bytes);
  view.setBigUint64(0, magic, true);
  view.setUint32(8, format, true);
  return bytes;
}

export function checkStart(bytes: Uint8Array): void {
  const view = viewOf(bytes);
  if (bytes.length < startBytes || view.getBigUint64(0, true) !== magic) {
    throw new ImageError("it does not start like an image of Banyan; give the file that a checkpoint wrote");
  }
  const version = view.getUint32(8, true);
  if (version > formatNewest) {
    throw new ImageError(
      `it was written by a newer Banyan (format ${version}, this one reads ${formatNewest}); use that version`,
    );
  }
  if (version < Format.WHOLE || view.getUint32(12, true) !== 0) throw damaged("its first bytes");
}

export function encodeHead(head: RecordHead): Uint8Array {
  const bytes = new Uint8Array(headBytes);
  const view = viewOf(bytes);
  view.setUint32(0, head.kind, true);
  view.setUint32(4, head.codec, true);
  view.setBigUint64(8, BigInt(head.address), true);
  view.setBigUint64(16, BigInt(head.bytes), true);
  view.setBigUint64(24, head.checksum, true);
  bytes.set(head.pages.bytes, pagesAt);
  bytes.set(head.zeroed.bytes, zeroedAt);
  view.setBigUint64(headSumAt, checksumOf(bytes.subarray(0, headSumAt)), true);
  return bytes;
}

/** `at` is the offset of the head in the file, for the message. The sets are copies. */
export function decodeHead(bytes: Uint8Array, at: number): RecordHead {
  const view = viewOf(bytes);
  if (bytes.length < headBytes || view.getBigUint64(headSumAt, true) !== checksumOf(bytes.subarray(0, headSumAt))) {
    throw damaged(`the head of the record at byte ${at}`);
  }
  const head = {
    kind: view.getUint32(0, true) as ImageRecordKind,
    codec: view.getUint32(4, true),
    address: Number(view.getBigUint64(8, true)),
    bytes: Number(view.getBigUint64(16, true)),
    checksum: view.getBigUint64(24, true),
    pages: new PageSet(bytes.slice(pagesAt, zeroedAt)),
    zeroed: new PageSet(bytes.slice(zeroedAt, headSumAt)),
  };
  if (head.kind < ImageRecordKind.chunk || head.kind > ImageRecordKind.end || head.address % chunkBytes !== 0) {
    throw damaged(`the head of the record at byte ${at}`);
  }
  return head;
}

const alignedBytesMin = 65_536;

/** Zeros between the head, at offset `at`, and the body. */
export function gapBytes({ kind, codec, bytes }: RecordHead, at: number): number {
  if (kind !== ImageRecordKind.chunk || codec !== rawCodec || bytes < alignedBytesMin) return 0;
  return pageBytes - 1 - ((at + headBytes - 1) % pageBytes);
}

export function damaged(what: string): ImageError {
  return new ImageError(`${what} is damaged (checksum); use an older image or copy this one again`);
}

export function cutOff(): ImageError {
  return new ImageError("it is not complete: its end is missing; use an older image or copy this one again");
}
