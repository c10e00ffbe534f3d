/**
 * Votes that carry the message itself (`--compare whole`): what a process sends is compared byte by byte, and nothing depends on a hash. The first packet has the
 * envelope, pieces of the bytes follow it; of a large message as many as fit into a window, and the hearer asks for the next ones: nowhere wait more than a few.
 *
 *   word   OPENING                          PIECE                          ASK
 *   a      kind                             kind, bytes in the words       kind
 *   b      number of the message            number of the message          number of the message
 *   c…     context, tag, length             offset, then the bytes         offset from which on bytes are lacking
 *
 * Where a packet has room for a payload, the three words behind the number or the bytes are there.
 */
import { lives } from "../../../base/saved-classes.ts";
import type { KeptSend } from "../sending/kept-send.ts";
import { SentVotes } from "./sent-votes.ts";

/** Votes, abstentions and revocations have the numbers below (sent-votes.ts). */
const wholeKind = 14;
const kindMask = 0xf;
const partShift = 4;
const partMask = 0x3;
const isLastBit = 1 << 6;
const countShift = 8;

const WholePart = { OPENING: 0, PIECE: 1, ASK: 2 } as const;
type WholePart = (typeof WholePart)[keyof typeof WholePart];

export const isWholeVote = (first: number): boolean => (first & kindMask) === wholeKind;
const partOf = (first: number): number => (first >>> partShift) & partMask;
export const isOpening = (first: number): boolean => partOf(first) === WholePart.OPENING;
export const isPiece = (first: number): boolean => partOf(first) === WholePart.PIECE;
export const isAsk = (first: number): boolean => partOf(first) === WholePart.ASK;
/** Is it the last before its hearer asks for more? */
export const isLastOfWindow = (first: number): boolean => (first & isLastBit) !== 0;
/** Bytes in the words of a piece without payload. */
export const bytesInWords = (first: number): number => Math.min(first >>> countShift, wordBytes);

const firstOf = (part: WholePart, more = 0): number => wholeKind | (part << partShift) | more;
export const askWord = firstOf(WholePart.ASK);

/** Of a piece without payload: two words. */
export const wordBytes = 8;
/** Of an opening with payload. */
export const envelopeBytes = 12;
/** Of one packet, and of all that leave at once: more than a message has whose bytes travel with its envelope. */
const pieceBytesMax = 32 << 10;
const windowBytes = 256 << 10;
const windowPackets = 64;

export class WholeVotes extends SentVotes {
  static readonly unsaved = { scratch: null };
  /** Used again for each packet. */
  private readonly scratch = new Uint8Array(pieceBytesMax);
  private readonly hearer = { rank: 0, replica: 0 };

  override cast(message: KeptSend): void {
    message.voteFirst = firstOf(WholePart.OPENING);
    message.voteBytes = 0;
  }

  override tell(message: KeptSend, replicas: number): void {
    if (!isWholeVote(message.voteFirst)) {
      super.tell(message, replicas);
      return;
    }
    for (let replica = 0; replicas >>> replica !== 0; replica++) {
      if ((replicas & (1 << replica)) === 0) continue;
      this.answer(message, replica, this.open(message, replica));
    }
  }

  /** The envelope, and what there is room for; how many bytes that were. */
  private open(message: KeptSend, replica: number): number {
    const { ports, scratch, hearer } = this;
    const { context, tag, bytes, sequence } = message;
    hearer.rank = message.dest;
    hearer.replica = replica;
    const room = this.roomTo();
    if (room <= envelopeBytes) {
      ports.tell(hearer, { a: firstOf(WholePart.OPENING), b: sequence, c: context, d: tag, e: bytes });
      return 0;
    }
    const count = pieceOf(room - envelopeBytes, bytes);
    const view = new DataView(scratch.buffer);
    view.setInt32(0, context, true);
    view.setInt32(4, tag, true);
    view.setInt32(8, bytes, true);
    if (count !== 0) scratch.set(ports.memory.view(message.pointer, bytes).subarray(0, count), envelopeBytes);
    const payload = scratch.subarray(0, envelopeBytes + count);
    ports.tell(hearer, { a: firstOf(WholePart.OPENING), b: sequence, payload });
    this.wholeBytes += count;
    return count;
  }

  /** A hearer lacks the bytes from there on: the next of them. */
  override answer(message: KeptSend, replica: number, from: number): void {
    const { ports, hearer } = this;
    const { bytes, sequence } = message;
    if (from < 0 || from >= bytes || !isWholeVote(message.voteFirst)) return;
    hearer.rank = message.dest;
    hearer.replica = replica;
    const room = this.roomTo();
    const all = ports.memory.view(message.pointer, bytes);
    const end = Math.min(bytes, from + windowBytes);
    let at = from;
    for (let packets = 1; at < end; packets++) {
      const count = room > wordBytes ? pieceOf(room, end - at) : Math.min(wordBytes, end - at);
      const isLast = at + count >= end || packets === windowPackets;
      const lastBit = isLast ? isLastBit : 0;
      if (room > wordBytes) {
        const a = firstOf(WholePart.PIECE, lastBit);
        ports.tell(hearer, { a, b: sequence, c: at, payload: all.subarray(at, at + count) });
      } else {
        const words = new DataView(new ArrayBuffer(wordBytes));
        for (let byte = 0; byte < count; byte++) words.setUint8(byte, all[at + byte]!);
        const a = firstOf(WholePart.PIECE, lastBit | (count << countShift));
        ports.tell(hearer, { a, b: sequence, c: at, d: words.getInt32(0, true), e: words.getInt32(4, true) });
      }
      this.wholeBytes += count;
      at += count;
      if (isLast) return;
    }
  }

  private roomTo(): number {
    return Math.min(pieceBytesMax, this.ports.toldBytesMax(this.hearer)) & ~3;
  }
}

/** Whole words as long as more follow: they are compared as words. */
const pieceOf = (room: number, left: number): number => (left <= room ? left : room & ~3);

lives({ WholeVotes });
