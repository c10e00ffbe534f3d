/**
 * A frame: a packet on its way through a stream. Its eight header words are those of the packet (core/wire/packet.ts), but
 * for the three that the transport writes anyway:
 *
 *   word 0  length     bytes of payload behind the header
 *   word 2  received   how much of the stream in the other direction the sender had read: frees its resend buffer
 *   word 7  check      ties kind and length together, so that a stream out of step is noticed at once
 *   word 15 origin     the packet's source, whose own word has another use here: no packet has a word of its own there
 *
 * All 16 words of a control packet are the header; a payload is filled up to a cache line. So every frame is whole cache
 * lines, and payloads are aligned in the kernel's buffers and in ours, whatever small frames lie between (the kernel's
 * copies take a third longer when they are not). Two kinds of frame are the transport's own.
 *
 * `badFrame` trusts no sender: it knows for each kind which values may come from another node. A pointer never may: memory is not
 * shared between nodes, and the engine would believe it.
 */
import {
  BYTES,
  controlWords,
  EXTRA,
  KIND,
  kindOf,
  PAYLOAD,
  PacketKind,
  SEQUENCE,
  type Sender,
  SOURCE,
  STAMP,
  TAG,
} from "../../../core/wire/packet.ts";

export const LENGTH = STAMP;
export const RECEIVED = SOURCE;
const CHECK = PAYLOAD;
/** The last word of a header. */
export const ORIGIN = controlWords - 1;
/** Of a FRAGMENT: not 0 when the sender waits to hear that it has been read. */
export const RECEIPT = SEQUENCE;

/** The length of every frame is a multiple of it, too. */
export const headerBytes = 64;
const lineMask = 63;

export const FrameKind = {
  /** Only `received` matters. */
  RECEIPT: 0x81,
  /** The sender's process is ending in order: it reads no more messages, and waits only for a receipt. */
  FINISHED: 0x82,
} as const;

/** The largest piece of a large message in one frame: the time a short message behind it may have to wait. */
export const pieceBytesMax = 16 << 20;

const checkSalt = 0x42616e79;
const checkOf = (length: number, kind: number): number => (Math.imul(length, 0x9e3779b1) ^ kind ^ checkSalt) | 0;

/** Whole lines of a payload: pieces sent straight from a program's buffer have no others. */
export const wholeLines = (bytes: number): number => bytes & ~lineMask;

export const frameBytes = (length: number): number => headerBytes + ((length + lineMask) & ~lineMask);

/** On whose behalf the packet at word `at` is sent, whose KIND is set. */
export function signFrame(words: Int32Array, at: number, { rank, bits }: Sender): void {
  words[at + KIND]! |= bits;
  words[at + ORIGIN] = rank;
}

/** Makes a frame of the packet at word `at`, whose KIND is set. */
export function stampFrame(words: Int32Array, at: number, length: number, received: number): void {
  words[at + LENGTH] = length;
  words[at + RECEIVED] = received;
  words[at + CHECK] = checkOf(length, words[at + KIND]!);
}

/** Why the frame whose header is at word `at` cannot be right; `null` when it is. */
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
      if (length > eagerBytesMax && wholeLines(length) !== length) return "a large piece that is not whole lines";
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
    case PacketKind.REVOKE:
    case PacketKind.REFUSAL:
    case PacketKind.AGREEMENT:
    case PacketKind.INQUIRY:
    case FrameKind.RECEIPT:
    case FrameKind.FINISHED:
      return length === 0 ? null : "a frame with a payload it cannot have";
    default:
      return `a frame of kind ${kindOf(kind)}`;
  }
}
