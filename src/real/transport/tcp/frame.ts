/**
 * A frame: a packet on its way through a stream. Its eight header words are those of the packet (core/wire/packet.ts), but
 * for the three that the transport writes anyway:
 *
 *   word 0  length     bytes of payload behind the header
 *   word 2  received   how much of the stream in the other direction the sender had read: frees its resend buffer
 *   word 7  check      ties kind and length together, so that a stream out of step is noticed at once
 *
 * A frame without payload has all 16 words of a control packet; a payload is filled up to eight bytes, so frames stay
 * aligned. Two kinds of frame are the transport's own and have only the header.
 *
 * `badFrame` trusts nobody: it knows for each kind what may come from another node. A pointer never may: memory is not
 * shared between nodes, and the engine would believe it.
 */
import {
  BYTES,
  EXTRA,
  KIND,
  kindOf,
  PAYLOAD,
  PacketKind,
  SEQUENCE,
  SOURCE,
  STAMP,
  TAG,
} from "../../../core/wire/packet.ts";

export const LENGTH = STAMP;
export const RECEIVED = SOURCE;
export const CHECK = PAYLOAD;
/** Of a FRAGMENT: not 0 when the sender waits to hear that it has been read. */
export const RECEIPT = SEQUENCE;

export const headerBytes = 32;
const controlBytes = 64;

export const FrameKind = {
  /** Only `received` matters. */
  RECEIPT: 0x81,
  /** The sender's process has ended in order: it reads nothing any more. */
  FINISHED: 0x82,
} as const;

/** The largest piece of a large message in one frame: the time a short message behind it may have to wait. */
export const pieceBytesMax = 16 << 20;

const checkSalt = 0x42616e79;
const checkOf = (length: number, kind: number): number => (Math.imul(length, 0x9e3779b1) ^ kind ^ checkSalt) | 0;

export function frameBytes(length: number, kind: number): number {
  if (length !== 0) return headerBytes + ((length + 7) & ~7);
  return (kind & 0x80) !== 0 ? headerBytes : controlBytes;
}

/** Room a packet with that much payload needs in the stream. */
export const packetFrameBytes = (payloadBytes: number): number =>
  payloadBytes === 0 ? controlBytes : headerBytes + ((payloadBytes + 7) & ~7);

/** Makes a frame of the packet at word `at`, whose KIND is set. */
export function stampFrame(words: Int32Array, at: number, length: number, received: number): void {
  words[at + LENGTH] = length;
  words[at + RECEIVED] = received;
  words[at + CHECK] = checkOf(length, words[at + KIND]!);
}

/** Why the frame whose header is at word `at` (all 16 words, if it has no payload) cannot be right; `null` when it is. */
export function badFrame(words: Int32Array, at: number, eagerBytesMax: number): string | null {
  const length = words[at + LENGTH]!;
  const kind = words[at + KIND]!;
  if (words[at + CHECK] !== checkOf(length, kind)) return "the stream is out of step";
  switch (kindOf(kind) as number) {
    case PacketKind.EAGER:
      if (length < 0 || length > eagerBytesMax)
        return `a message of ${length} bytes, at most ${eagerBytesMax} may be eager`;
      return words[at + BYTES] === length ? null : "a message whose length is not that of its frame";
    case PacketKind.FRAGMENT:
      if (length <= 0 || length > pieceBytesMax || words[at + BYTES] !== length) return `a piece of ${length} bytes`;
      if (length > eagerBytesMax && (length & 7) !== 0) return "a large piece that is not whole words";
      return words[at + TAG]! >= 0 ? null : "a piece before the start of its message";
    case PacketKind.PROTOCOL:
      if (length < 0 || length > eagerBytesMax) return `a protocol's frame of ${length} bytes`;
      return words[at + BYTES] === length ? null : "a protocol's frame whose length is not that of its payload";
    case PacketKind.RTS:
      if (length !== 0 || words[at + BYTES]! < 0) return "an envelope of impossible length";
      return words[at + EXTRA + 1] === -1 ? null : "an envelope with a pointer into memory that is not shared";
    case PacketKind.CTS:
      if (length !== 0 || words[at + SEQUENCE]! < 0) return "an answer that cannot be one";
      return words[at + BYTES] === -1 ? null : "an answer with a pointer into memory that is not shared";
    case PacketKind.RELEASE:
    case PacketKind.EAGER_CLOSE:
    case PacketKind.EAGER_OPEN:
    case PacketKind.CANCEL:
    case PacketKind.CANCEL_ANSWER:
    case FrameKind.RECEIPT:
    case FrameKind.FINISHED:
      return length === 0 ? null : "a frame with a payload it cannot have";
    default:
      return `a frame of kind ${kindOf(kind)}`;
  }
}
