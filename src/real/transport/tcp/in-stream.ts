/**
 * One direction of a link, seen from its receiver: bytes of the present connection become packets.
 *
 * Bytes are read into a buffer in the node's memory and frames are looked at in place. The payload of a large piece goes
 * straight into the buffer of its receive, when the engine (`Landing`) says where that is; then the engine gets the
 * FRAGMENT without payload. When it does not, the piece is cut into smaller ones as bytes come: the bytes here are delivered,
 * and the header is written again in front of the missing bytes.
 *
 * Frames are not trusted: `next` answers BAD with a `reason` and changes nothing any more, until `rewind`.
 */
import type { Pointer } from "../../../core/base/brand.ts";
import type { Memory } from "../../../core/request/memory.ts";
import { BYTES, CONTEXT, KIND, kindOf, PAYLOAD, PacketKind, SOURCE, TAG } from "../../../core/wire/packet.ts";
import type { Landing } from "../../../core/wire/transport.ts";
import { type SocketCalls, WOULD_BLOCK } from "../sockets/socket-calls.ts";
import {
  badFrame,
  FrameKind,
  frameBytes,
  headerBytes,
  LENGTH,
  ORIGIN,
  RECEIPT,
  RECEIVED,
  stampFrame,
  wholeLines,
} from "./frame.ts";
import type { OutStream } from "./out-stream.ts";

export const NOTHING = -1;
export const BAD = -2;

/** Below this a piece is worth no landing: it fits the buffer and will be copied in a moment. */
const landingBytesMinDefault = 4096;
/** Bytes of one read when the next frame is unknown: much more would be the start of a large piece, copied for nothing. */
const readBytes = 16 * 1024;
const impossibleReceipt = "a receipt for bytes that were never sent";
/** Space at the front of the buffer for the FRAGMENT that stands for a landed piece. */
const landedBytes = 64;

interface InStreamOptions {
  readonly words: Int32Array;
  readonly memory: Memory;
  readonly buffers: Memory;
  /** Byte offset and size of the buffer. */
  readonly at: number;
  readonly bytes: number;
  readonly eagerBytesMax: number;
  /** The other direction: every frame says how far the peer has read it. */
  readonly out: OutStream;
}

/** How large a buffer must be for messages of that size. */
export const inBufferBytes = (eagerBytesMax: number): number => landedBytes + 2 * (headerBytes + eagerBytesMax);

export class InStream {
  readonly #words: Int32Array;
  readonly #memory: Memory;
  readonly #buffers: Memory;
  readonly #at: number;
  readonly #bytes: number;
  readonly #landedAt: number;
  readonly #eagerBytesMax: number;
  readonly #landingBytesMin: number;
  readonly #out: OutStream;
  landing: Landing | null = null;

  /** Unparsed bytes lie from #start to #end of the buffer. */
  #start = 0;
  #end = 0;
  /** Bytes that are missing of the first frame, as far as is known. */
  #missing = 0;
  /** Bytes that `release` will take from the front. */
  #held = 0;

  /** The piece that is landing: where, and how much has not come yet. 0: none. */
  #landingLeft = 0;
  #landingTo = 0;
  #landingView: Uint8Array | null = null;
  #landingReceive = 0;
  #landingOffset = 0;
  #landingBytes = 0;
  #landingReceipt = 0;
  #landingKind = 0;
  #landingOrigin = 0;
  /** All bytes of a landing piece are there: `next` shall say so. */
  #landed = false;

  /** The missing rest of a piece that is being cut; `release` puts its header in place. */
  #restLeft = 0;
  #restReceive = 0;
  #restOffset = 0;
  #restReceipt = 0;
  #restKind = 0;
  #restOrigin = 0;

  /** Bytes of the stream read from sockets, int32, wraps. */
  received = 0;
  /** The peer's process is ending in order: it waits only to hear that we have everything. */
  finished = false;
  /** The peer waits to hear that we have read: a lent piece is complete, or it wants to end. */
  receiptDue = false;
  reason = "";

  constructor(options: InStreamOptions) {
    this.#words = options.words;
    this.#memory = options.memory;
    this.#buffers = options.buffers;
    this.#landedAt = options.at;
    this.#at = options.at + landedBytes;
    this.#bytes = options.bytes - landedBytes;
    this.#eagerBytesMax = options.eagerBytesMax;
    // Larger pieces than the buffer holds must land, or be cut.
    this.#landingBytesMin = Math.min(landingBytesMinDefault, options.eagerBytesMax);
    this.#out = options.out;
  }

  /** A large piece is on its way into its buffer; its end is confirmed, not its parts. */
  get isLanding(): boolean {
    return this.#landingLeft !== 0;
  }

  /** Reads once from the socket: a number of bytes, WOULD_BLOCK or CLOSED. */
  read(calls: SocketCalls, fd: number): number {
    let took: number;
    if (this.#landingLeft !== 0) {
      const done = this.#landingBytes - this.#landingLeft;
      took =
        this.#landingView === null
          ? calls.receive(fd, this.#landingTo + done, this.#landingLeft)
          : calls.receiveView(fd, this.#landingView, this.#landingOffset + done, this.#landingLeft);
      if (took <= 0) return took;
      this.#landingLeft -= took;
      if (this.#landingLeft === 0) this.#landed = true;
    } else {
      if (this.#start !== 0 && this.#bytes - this.#end < this.#bytes >> 2) this.#moveToFront();
      const room = this.#bytes - this.#end;
      if (room === 0) return WOULD_BLOCK;
      took = calls.receive(fd, this.#at + this.#end, Math.min(room, this.#missing + readBytes));
      if (took <= 0) return took;
      this.#end += took;
    }
    this.received = (this.received + took) | 0;
    return took;
  }

  /** A packet seen by `next` must not move. */
  #moveToFront(): void {
    if (this.#held !== 0) return;
    const at = this.#at;
    this.#memory.bytes.copyWithin(at, at + this.#start, at + this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }

  /** First word of the oldest whole packet in the buffer, NOTHING or BAD. Reads no socket. */
  next(): number {
    if (this.#landed) return this.#landedPacket();
    const words = this.#words;
    for (;;) {
      const available = this.#end - this.#start;
      if (available < headerBytes) return NOTHING;
      const at = (this.#at + this.#start) >> 2;
      const length = words[at + LENGTH]!;
      const kind = words[at + KIND]!;
      const bad = badFrame(words, at, this.#eagerBytesMax);
      if (bad !== null) return this.#fail(bad);
      const bytes = frameBytes(length);
      this.#missing = Math.max(0, bytes - available);
      if (available < bytes) {
        return kindOf(kind) === PacketKind.FRAGMENT && length === wholeLines(length) && length >= this.#landingBytesMin
          ? this.#startLanding(at, available - headerBytes)
          : NOTHING;
      }
      if (!this.#out.acknowledge(words[at + RECEIVED]!)) return this.#fail(impossibleReceipt);
      this.#held = bytes;
      if (kindOf(kind) === PacketKind.FRAGMENT && words[at + RECEIPT] !== 0) this.receiptDue = true;
      const isPacket = (kind & 0x80) === 0;
      if (kindOf(kind) === (FrameKind.FINISHED as number)) this.finished = true;
      // Behind FINISHED there may be an answer of the peer's engine.
      if (this.finished && (isPacket || kindOf(kind) === (FrameKind.FINISHED as number))) this.receiptDue = true;
      if (isPacket) return this.#packet(at, length);
      this.release();
    }
  }

  #fail(reason: string): number {
    this.reason = reason;
    return BAD;
  }

  /** After BAD: as if nothing had been read from the bad frame on. `received` says where that is. */
  rewind(): void {
    this.received = (this.received - (this.#end - this.#start)) | 0;
    this.#start = 0;
    this.#end = 0;
    this.#missing = 0;
    this.reason = "";
  }

  #packet(at: number, length: number): number {
    const words = this.#words;
    words[at + SOURCE] = words[at + ORIGIN]!;
    words[at + PAYLOAD] = length === 0 ? 0 : (at << 2) + headerBytes;
    return at;
  }

  release(): void {
    this.#start += this.#held;
    this.#held = 0;
    if (this.#restLeft !== 0) this.#writeRestHeader();
    else if (this.#start === this.#end) {
      this.#start = 0;
      this.#end = 0;
    }
  }

  /** A large piece of which only `have` bytes are here. */
  #startLanding(at: number, have: number): number {
    const words = this.#words;
    const length = words[at + LENGTH]!;
    const receive = words[at + CONTEXT]!;
    const offset = words[at + TAG]!;
    const to = this.landing === null ? Number.NaN : this.landing.landingOf(receive, offset, length);
    if (Number.isNaN(to)) return this.#cutPiece(at, wholeLines(have));
    if (!this.#out.acknowledge(words[at + RECEIVED]!)) return this.#fail(impossibleReceipt);
    if (have !== 0) this.#buffers.fromPayload(to as Pointer, offset, (at << 2) + headerBytes, have);
    this.#start = 0;
    this.#end = 0;
    this.#landingTo = to + offset;
    const isInNode = to >= 0 && this.#buffers === this.#memory;
    this.#landingView = isInNode ? null : this.#buffers.view(to as Pointer, offset + length);
    this.#landingReceive = receive;
    this.#landingOffset = offset;
    this.#landingBytes = length;
    this.#landingReceipt = words[at + RECEIPT]!;
    this.#landingKind = words[at + KIND]!;
    this.#landingOrigin = words[at + ORIGIN]!;
    this.#landingLeft = length - have;
    return NOTHING;
  }

  /** The piece has no place to land: the bytes that are here are delivered as a piece of their own. */
  #cutPiece(at: number, have: number): number {
    if (have < this.#landingBytesMin) return NOTHING;
    const words = this.#words;
    if (!this.#out.acknowledge(words[at + RECEIVED]!)) return this.#fail(impossibleReceipt);
    this.#restLeft = words[at + LENGTH]! - have;
    this.#restReceive = words[at + CONTEXT]!;
    this.#restOffset = words[at + TAG]! + have;
    this.#restReceipt = words[at + RECEIPT]!;
    this.#restKind = words[at + KIND]!;
    this.#restOrigin = words[at + ORIGIN]!;
    words[at + BYTES] = have;
    this.#held = have;
    return this.#packet(at, have);
  }

  /** The header of the missing rest, over the last bytes that have been delivered. */
  #writeRestHeader(): void {
    const words = this.#words;
    const at = (this.#at + this.#start) >> 2;
    words[at + KIND] = this.#restKind;
    words[at + ORIGIN] = this.#restOrigin;
    words[at + CONTEXT] = this.#restReceive;
    words[at + TAG] = this.#restOffset;
    words[at + BYTES] = this.#restLeft;
    words[at + RECEIPT] = this.#restReceipt;
    stampFrame(words, at, this.#restLeft, this.#out.acked);
    this.#restLeft = 0;
  }

  #landedPacket(): number {
    const words = this.#words;
    const at = this.#landedAt >> 2;
    words[at + KIND] = this.#landingKind;
    words[at + ORIGIN] = this.#landingOrigin;
    words[at + CONTEXT] = this.#landingReceive;
    words[at + TAG] = this.#landingOffset;
    words[at + BYTES] = this.#landingBytes;
    this.#landed = false;
    this.#landingView = null;
    this.#held = 0;
    if (this.#landingReceipt !== 0) this.receiptDue = true;
    return this.#packet(at, 0);
  }
}
