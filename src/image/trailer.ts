/** The last record: the places of the header and the state, and the counts that all records before it must agree with. */
import { checksumOf } from "./checksum.ts";
import { ImageError } from "./image-error.ts";
import { PageSet } from "./page-set.ts";
import { cutOff, damaged, decodeHead, encodeHead, headBytes, ImageRecordKind, startBytes, viewOf } from "./record.ts";

export interface Trailer {
  /** Offsets of the heads of these two records in the file. */
  readonly headerAt: number;
  readonly stateAt: number;
  /** Records before the end. */
  readonly records: number;
  /** Pages in all chunks; one that was written in three rounds counts three times. */
  readonly pages: number;
  readonly fileBytes: number;
  /** See record.ts. */
  readonly chain: bigint;
}

const bodyBytes = 48;
export const trailerBytes = headBytes + bodyBytes;

export function encodeTrailer(trailer: Trailer): Uint8Array {
  const bytes = new Uint8Array(trailerBytes);
  const body = bytes.subarray(headBytes);
  const view = viewOf(body);
  const { headerAt, stateAt, records, pages, fileBytes } = trailer;
  for (const [index, value] of [headerAt, stateAt, records, pages, fileBytes].entries()) {
    view.setBigUint64(index * 8, BigInt(value), true);
  }
  view.setBigUint64(40, trailer.chain, true);
  bytes.set(
    encodeHead({
      kind: ImageRecordKind.end,
      codec: 0,
      address: 0,
      bytes: bodyBytes,
      checksum: checksumOf(body),
      pages: new PageSet(),
      zeroed: new PageSet(),
    }),
  );
  return bytes;
}

/** Reads the last `trailerBytes` of a file of `fileBytes`. */
export function decodeTrailer(bytes: Uint8Array, fileBytes: number): Trailer {
  const trailer = readTrailer(bytes, fileBytes - trailerBytes);
  if (trailer === undefined) throw cutOff();
  const { headerAt, stateAt } = trailer;
  if (trailer.fileBytes !== fileBytes) {
    throw new ImageError(`it has ${fileBytes} bytes and should have ${trailer.fileBytes}; copy it again`);
  }
  const recordsEnd = fileBytes - trailerBytes;
  const isPlace = (at: number): boolean => at >= startBytes && at + headBytes <= recordsEnd;
  if (!isPlace(headerAt) || !isPlace(stateAt)) throw damaged("its end");
  return trailer;
}

/** Undefined if these bytes are no end: then the file was cut off, or is being written. */
function readTrailer(bytes: Uint8Array, at: number): Trailer | undefined {
  if (bytes.length !== trailerBytes || at < startBytes) return undefined;
  let head: ReturnType<typeof decodeHead>;
  try {
    head = decodeHead(bytes, at);
  } catch {
    return undefined;
  }
  const body = bytes.subarray(headBytes);
  if (head.kind !== ImageRecordKind.end || head.bytes !== bodyBytes || head.checksum !== checksumOf(body))
    return undefined;
  const view = viewOf(body);
  const number = (index: number): number => Number(view.getBigUint64(index * 8, true));
  return {
    headerAt: number(0),
    stateAt: number(1),
    records: number(2),
    pages: number(3),
    fileBytes: number(4),
    chain: view.getBigUint64(40, true),
  };
}
