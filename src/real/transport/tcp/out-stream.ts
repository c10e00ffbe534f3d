/**
 * One direction of a link, seen from its sender: a stream of frames that outlives connections.
 *
 * Frames are built in a circular buffer in the node's memory and stay there until the peer says it has read them: when a
 * connection breaks, the next one goes on at the byte the peer has reached, as if nothing had happened. Large pieces are
 * not copied into the buffer: they are lent by the program, sent straight from its memory, and given back when the peer
 * has read them.
 *
 * The stream is a queue of segments, each either consecutive bytes of the buffer (many small frames, coalesced) or a lent
 * piece. Positions in the stream are int32 and wrap; only differences count, and those stay far below 2³¹.
 *
 *   acked ≤ sent ≤ written
 */
import { assert } from "../../../core/base/assert.ts";
import type { SocketCalls } from "../sockets/socket-calls.ts";
import { headerBytes, pieceBytesMax, stampFrame } from "./frame.ts";

/** Segments in the queue; a power of two. */
const segmentsMax = 64;
const segmentMask = segmentsMax - 1;
/** Pieces lent at the same time. Each may split the buffer's bytes in two, and a wrap may once more. */
const lentMax = 16;
assert(2 * lentMax + 8 < segmentsMax, "every lent piece needs up to two segments");
assert(lentMax * pieceBytesMax < 2 ** 30, "differences of positions stay far below 2^31");
/** Room kept free for our own frames: receipts must get through when the buffer is full of packets, or both sides wait. */
const ownFramesBytes = 32 * headerBytes;

/**
 * How much a receiver may leave unconfirmed, when frames have up to that many bytes. A frame that finds no room must be able
 * to count on a receipt: the free space may lie half before and half behind the unconfirmed frames, and one half must do.
 */
export const receiptEveryBytes = (bufferBytes: number, frameBytesMax: number): number =>
  bufferBytes - 2 * (frameBytesMax + ownFramesBytes);

const Lent = { FREE: 0, UNDER_WAY: 1, READ: 2 } as const;

interface LentPiece {
  /** Byte offset in the node's memory, or the bytes themselves in an ordinary view. */
  readonly at: number;
  readonly view: Uint8Array | null;
  /** Whole lines. */
  readonly bytes: number;
  /** The request that asks for it again: the peer's receive, our pointer and the offset there. */
  readonly receive: number;
  readonly from: number;
  readonly offset: number;
}

interface OutStreamOptions {
  readonly words: Int32Array;
  /** Byte offset and size of the buffer. */
  readonly at: number;
  readonly bytes: number;
}

export class OutStream {
  readonly #words: Int32Array;
  readonly #at: number;
  readonly #bytes: number;
  /** Offsets in the buffer: where the next frame goes, and the oldest byte kept. Equal: empty, and then both are 0. */
  #head = 0;
  #tail = 0;
  /** Where the frame reserved last is, and how long. */
  #reservedAt = 0;
  #reservedBytes = 0;

  written = 0;
  sent = 0;
  acked = 0;
  /** The end of the last packet; only frames of the link's own lie behind it. Not before `acked`. */
  #packetsEnd = 0;
  /** Our process has said that it ends: see `finish`. */
  #isFinished = false;

  readonly #segmentStart = new Int32Array(segmentsMax);
  readonly #segmentBytes = new Int32Array(segmentsMax);
  /** Byte offset in the node's memory, or −1: in `#segmentView`. */
  readonly #segmentAt = new Int32Array(segmentsMax);
  readonly #segmentView: (Uint8Array | null)[] = new Array(segmentsMax).fill(null);
  /** The lent piece this segment is, or −1. */
  readonly #segmentLent = new Int8Array(segmentsMax).fill(-1);
  #first = 0;
  #count = 0;
  /** How many of the first segments are sent in full. */
  #sentSegments = 0;

  readonly #lentState = new Uint8Array(lentMax);
  readonly #lentEnd = new Int32Array(lentMax);
  readonly #lentReceive = new Int32Array(lentMax);
  readonly #lentFrom = new Float64Array(lentMax);
  readonly #lentOffset = new Float64Array(lentMax);
  readonly #lentBytes = new Int32Array(lentMax);
  #lentCount = 0;

  constructor({ words, at, bytes }: OutStreamOptions) {
    this.#words = words;
    this.#at = at;
    this.#bytes = bytes;
  }

  get unsent(): boolean {
    return this.sent !== this.written;
  }
  get unread(): boolean {
    return this.acked !== this.written;
  }
  /** Packets under way of which the peer has not said that it has them: they would be lost if we left. */
  get unconfirmed(): boolean {
    return this.acked !== this.#packetsEnd;
  }

  /**
   * Packets from now on are answers of a process that is ending, and are not owed: a peer that has heard that we end may end itself
   * without reading them, and then nobody confirms them.
   */
  finish(): void {
    this.#isFinished = true;
  }

  /** First word of a frame of that length, or −1 when the buffer is full. */
  reserve(bytes: number, own = false): number {
    const keep = own ? 0 : ownFramesBytes;
    const head = this.#head;
    const tail = this.#tail;
    let offset = head;
    if (head >= tail) {
      if (head + bytes + keep > this.#bytes) {
        if (bytes + keep >= tail) return -1;
        offset = 0;
      }
    } else if (head + bytes + keep >= tail) return -1;
    if (this.#count > segmentsMax - (own ? 1 : 4)) return -1;
    this.#reservedAt = offset;
    this.#reservedBytes = bytes;
    return (this.#at + offset) >> 2;
  }

  /** The reserved frame is complete but for the fields of the transport. `own`: it is no packet, and is not sent again. */
  commit(length: number, received: number, own = false): void {
    const at = this.#at + this.#reservedAt;
    const bytes = this.#reservedBytes;
    stampFrame(this.#words, at >> 2, length, received);
    const last = (this.#first + this.#count - 1) & segmentMask;
    const follows =
      this.#count !== 0 && this.#segmentLent[last]! < 0 && this.#segmentAt[last]! + this.#segmentBytes[last]! === at;
    if (follows) {
      this.#segmentBytes[last] = this.#segmentBytes[last]! + bytes;
      if (this.#sentSegments === this.#count) this.#sentSegments--;
    } else this.#append(at, bytes, null, -1);
    this.#head = this.#reservedAt + bytes;
    this.written = (this.written + bytes) | 0;
    if (!own && !this.#isFinished) this.#packetsEnd = this.written;
  }

  #append(at: number, bytes: number, view: Uint8Array | null, lent: number): void {
    const segment = (this.#first + this.#count) & segmentMask;
    this.#segmentStart[segment] = this.written;
    this.#segmentBytes[segment] = bytes;
    this.#segmentAt[segment] = at;
    this.#segmentView[segment] = view;
    this.#segmentLent[segment] = lent;
    this.#count++;
  }

  // Lent pieces

  get canLend(): boolean {
    return this.#lentCount < lentMax && this.#count <= segmentsMax - 8;
  }

  /** The payload of the FRAGMENT committed last; `takeLent` answers for it. */
  lend(piece: LentPiece): number {
    const lent = this.#lentState.indexOf(Lent.FREE);
    this.#append(piece.at, piece.bytes, piece.view, lent);
    this.written = (this.written + piece.bytes) | 0;
    if (!this.#isFinished) this.#packetsEnd = this.written;
    this.#lentState[lent] = Lent.UNDER_WAY;
    this.#lentEnd[lent] = this.written;
    this.#lentReceive[lent] = piece.receive;
    this.#lentFrom[lent] = piece.from;
    this.#lentOffset[lent] = piece.offset;
    this.#lentBytes[lent] = piece.bytes;
    this.#lentCount++;
    return lent;
  }

  /** The frame committed last is the end of that piece. */
  extendLent(lent: number, bytes: number): void {
    this.#lentEnd[lent] = this.written;
    this.#lentBytes[lent] = this.#lentBytes[lent]! + bytes;
  }

  /**
   * The state of that piece: its bytes when the peer has read it (and then it is forgotten), 0 while it is under way, −1
   * when it is unknown. Two pieces that agree in everything are from one buffer, so it does not matter which is which.
   */
  takeLent(receive: number, from: number, offset: number): number {
    if (this.#lentCount === 0) return -1;
    for (let lent = 0; lent < lentMax; lent++) {
      if (this.#lentState[lent] === Lent.FREE) continue;
      if (this.#lentReceive[lent] !== receive || this.#lentFrom[lent] !== from) continue;
      if (this.#lentOffset[lent] !== offset) continue;
      if (this.#lentState[lent] === Lent.UNDER_WAY) return 0;
      this.#lentState[lent] = Lent.FREE;
      this.#lentCount--;
      return this.#lentBytes[lent]!;
    }
    return -1;
  }

  // Connections

  /** Sends as many frames as the socket takes: 0 when all of them went, WOULD_BLOCK when the socket is full, CLOSED. */
  flush(calls: SocketCalls, fd: number): number {
    while (this.sent !== this.written) {
      const segment = (this.#first + this.#sentSegments) & segmentMask;
      const done = (this.sent - this.#segmentStart[segment]!) | 0;
      const left = this.#segmentBytes[segment]! - done;
      const view = this.#segmentView[segment]!;
      // A header goes with the piece behind it.
      const more = this.#sentSegments + 1 < this.#count;
      const at = this.#segmentAt[segment]! + done;
      const took = view === null ? calls.send(fd, at, left, more) : calls.sendView(fd, view, done, left);
      if (took <= 0) return took;
      this.sent = (this.sent + took) | 0;
      if (took === left) this.#sentSegments++;
    }
    return 0;
  }

  /** The peer has read up to that position. False: it cannot have. */
  acknowledge(position: number): boolean {
    const news = (position - this.acked) | 0;
    if (news <= 0) return true;
    if (news > ((this.sent - this.acked) | 0)) return false;
    this.acked = position;
    if (((this.#packetsEnd - position) | 0) < 0) this.#packetsEnd = position;
    while (this.#count !== 0) {
      const segment = this.#first;
      if (((this.#segmentStart[segment]! + this.#segmentBytes[segment]! - position) | 0) > 0) break;
      this.#segmentView[segment] = null;
      this.#first = (segment + 1) & segmentMask;
      this.#count--;
      this.#sentSegments--;
    }
    this.#moveTail(position);
    if (this.#lentCount !== 0) this.#settleLent(position);
    return true;
  }

  #moveTail(position: number): void {
    for (let i = 0; i < this.#count; i++) {
      const segment = (this.#first + i) & segmentMask;
      if (this.#segmentLent[segment]! >= 0) continue;
      const read = Math.max(0, (position - this.#segmentStart[segment]!) | 0);
      this.#tail = this.#segmentAt[segment]! - this.#at + read;
      return;
    }
    // Back to the start: the same few cache lines again and again.
    this.#head = 0;
    this.#tail = 0;
  }

  #settleLent(position: number): void {
    for (let lent = 0; lent < lentMax; lent++) {
      if (this.#lentState[lent] === Lent.UNDER_WAY && ((this.#lentEnd[lent]! - position) | 0) <= 0)
        this.#lentState[lent] = Lent.READ;
    }
  }

  /** A new connection, on which the peer has told how far it has read: go on from there. False: it cannot have. */
  resume(position: number): boolean {
    if (((position - this.acked) | 0) < 0 || !this.acknowledge(position)) return false;
    this.sent = this.acked;
    this.#sentSegments = 0;
    return true;
  }

  /** The peer will never read again: everything under way counts as read. */
  forget(): void {
    this.sent = this.written;
    this.#sentSegments = this.#count;
    this.acknowledge(this.written);
  }
}
