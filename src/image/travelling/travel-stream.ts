/**
 * How a memory travels while its program runs. All numbers are little-endian.
 *
 *   to the clone     start    "BANYANTR", the keys of the books (page-book.ts)
 *                    pages …  neighbours; their bytes follow; later ones take the place of earlier ones
 *                    single … pages from anywhere: their numbers u32 follow, then their bytes
 *                    zero …   those pages are zero now
 *                    end      digest of the source's book, checksum of all that follows, the header (JSON), the state
 *   to the source    the hashes of the pages of each record `pages` and `single`, as they have arrived
 *
 * A record begins with kind u32, page u32, count u32, 0 u32: the first page (of `single` 0) and how many; of `end` the bytes of header and of state.
 *
 * Pages leave where they lie, while the program changes them: nobody knows which bytes of a page have left until its hash comes back. A page that has changed
 * meanwhile, or was damaged on its way, has another hash than the one that the source finds there later, and goes again. In the end both books are equal, or
 * there is no clone: nothing needs a checksum of its own but the end.
 */
import { headerBytesMax } from "../header.ts";
import { ImageError } from "../image-error.ts";
import { keysBytes } from "../page-hash.ts";
import type { PageRun } from "../page-set.ts";
import { viewOf } from "../record.ts";

export const TravelRecord = { pages: 1, zero: 2, end: 3, single: 4 } as const;
export type TravelRecord = (typeof TravelRecord)[keyof typeof TravelRecord];

export interface TravelHead {
  readonly kind: TravelRecord;
  readonly page: number;
  readonly count: number;
}

/** In one record: few enough that what has come is in a processor's cache when it is looked at, and enough that nobody notices what a record costs. */
export const recordPagesMax = 256;

const magic = 0x5254_4e41_594e_4142n; // "BANYANTR"
export const travelStartBytes = 8 + keysBytes;
export const travelHeadBytes = 16;
/** Digest and checksum. */
export const endSumsBytes = 16;
/** Of a page. */
export const numberBytes = 4;
const stateBytesMax = 2 ** 31 - 1;

export function encodeTravelStart(keys: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(travelStartBytes);
  viewOf(bytes).setBigUint64(0, magic, true);
  bytes.set(keys, 8);
  return bytes;
}

/** The keys. */
export function decodeTravelStart(bytes: Uint8Array): Uint8Array {
  if (viewOf(bytes).getBigUint64(0, true) !== magic) throw damagedTravel();
  return bytes.slice(8);
}

export function encodeTravelHead({ kind, page, count }: TravelHead): Uint8Array {
  const bytes = new Uint8Array(travelHeadBytes);
  const view = viewOf(bytes);
  view.setUint32(0, kind, true);
  view.setUint32(4, page, true);
  view.setUint32(8, count, true);
  return bytes;
}

/** `pages`: of the memory. */
export function decodeTravelHead(bytes: Uint8Array, pages: number): TravelHead {
  const view = viewOf(bytes);
  const kind = view.getUint32(0, true) as TravelRecord;
  const [page, count] = [view.getUint32(4, true), view.getUint32(8, true)];
  const head = { kind, page, count };
  if (view.getUint32(12, true) !== 0 || !isPossible(head, pages)) throw damagedTravel();
  return head;
}

function isPossible({ kind, page, count }: TravelHead, pages: number): boolean {
  switch (kind) {
    case TravelRecord.pages:
      return count > 0 && count <= recordPagesMax && page + count <= pages;
    case TravelRecord.single:
      return count > 0 && count <= recordPagesMax && page === 0;
    case TravelRecord.zero:
      return count > 0 && page + count <= pages;
    case TravelRecord.end:
      return page <= headerBytesMax && count <= stateBytesMax;
    default:
      return false;
  }
}

export function encodeNumbers(pages: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(pages.length * numberBytes);
  const view = viewOf(bytes);
  for (const [index, page] of pages.entries()) view.setUint32(index * numberBytes, page, true);
  return bytes;
}

/** `pages`: of the memory. */
export function decodeNumbers(bytes: Uint8Array, pages: number): number[] {
  const view = viewOf(bytes);
  const numbers = Array.from({ length: bytes.length / numberBytes }, (_, index) =>
    view.getUint32(index * numberBytes, true),
  );
  if (numbers.some((page) => page >= pages)) throw damagedTravel();
  return numbers;
}

export const runOf = ({ page, count }: TravelHead): PageRun => ({ from: page, to: page + count });

export function damagedTravel(): ImageError {
  return new ImageError("what has arrived of the memory is damaged");
}
