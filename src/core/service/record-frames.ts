/**
 * Records as bytes that are only ever appended, for files that a successor reads (ADR 13, ADR 51). A record is a frame:
 *
 *   0       1 byte    0xff, which is in no UTF-8 text: a frame can be found again behind a damaged one
 *   1       1 byte    version of the format
 *   2       4 bytes   length of the text, little endian
 *   6       4 bytes   CRC-32 of version, length and text
 *   10      …         the record, as JSON in UTF-8
 *
 * A process that is killed while it appends leaves a torn frame at the end. Nothing followed from that record, so it is left out. A frame
 * that is damaged while others follow it is something else: records upon which others acted are lost, and nobody may go on from such bytes.
 */
import { crc32 } from "../base/crc-32.ts";

/** Changes when records change their meaning. */
export const recordsVersion = 1;

const mark = 0xff;
const headerBytes = 10;
const lengthAt = 2;
const checksumAt = 6;

export function encodeFrame(record: object): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(record));
  const frame = new Uint8Array(headerBytes + text.length);
  const view = new DataView(frame.buffer);
  frame[0] = mark;
  frame[1] = recordsVersion;
  view.setUint32(lengthAt, text.length, true);
  frame.set(text, headerBytes);
  view.setUint32(checksumAt, checksumOf(frame), true);
  return frame;
}

export interface FramesRead<Item> {
  readonly kind: "read";
  readonly records: readonly Item[];
  /** Where the last whole record ends. A successor cuts off what follows, a torn record, before it appends. */
  readonly bytes: number;
}
export interface FramesDamaged {
  readonly kind: "damaged";
  /** For people: which record, and what is wrong with it. */
  readonly problem: string;
}

/** `writer`: whose records they must be, for people. */
export function decodeFrames<Item>(
  bytes: Uint8Array,
  isRecord: (value: unknown) => value is Item,
  writer: string,
): FramesRead<Item> | FramesDamaged {
  const records: Item[] = [];
  let at = 0;
  for (let frame = frameAt(bytes, at); frame !== null; frame = frameAt(bytes, at)) {
    const where = `record ${records.length} at byte ${at}`;
    if (frame.version !== recordsVersion) {
      return damaged(`${where} is of format ${frame.version}, and this Banyan reads format ${recordsVersion}`);
    }
    const record = parsed(frame.text);
    if (!isRecord(record)) return damaged(`${where} is not one that ${writer} writes`);
    records.push(record);
    at += headerBytes + frame.text.length;
  }
  if (at < bytes.length && isFollowed(bytes, at)) {
    return damaged(`record ${records.length} at byte ${at} is damaged, and others follow it`);
  }
  return { kind: "read", records, bytes: at };
}

interface Frame {
  readonly version: number;
  readonly text: Uint8Array;
}

/** The frame that begins there; null: none does, or it is not whole. */
function frameAt(bytes: Uint8Array, at: number): Frame | null {
  if (bytes[at] !== mark || bytes.length - at < headerBytes) return null;
  const end = at + headerBytes + viewOf(bytes).getUint32(at + lengthAt, true);
  if (end > bytes.length) return null;
  const frame = bytes.subarray(at, end);
  const checksum = viewOf(frame).getUint32(checksumAt, true);
  return checksum === checksumOf(frame) ? { version: frame[1]!, text: frame.subarray(headerBytes) } : null;
}

/** A frame that is not whole begins there. Is there a whole one behind it? */
function isFollowed(bytes: Uint8Array, at: number): boolean {
  for (let next = bytes.indexOf(mark, at + 1); next >= 0; next = bytes.indexOf(mark, next + 1)) {
    if (frameAt(bytes, next) !== null) return true;
  }
  return false;
}

const checksumOf = (frame: Uint8Array): number =>
  crc32(frame.subarray(headerBytes), crc32(frame.subarray(1, checksumAt)));

function parsed(text: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    return undefined;
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const damaged = (problem: string): FramesDamaged => ({ kind: "damaged", problem });
