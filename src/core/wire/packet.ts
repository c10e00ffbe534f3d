/**
 * A packet: what crosses a channel. In every world it is the same thing, a header of Int32 words at an offset of a typed
 * array and a payload somewhere in the same memory. The engine reads ring slots in place; a socket's buffer and the
 * simulated network hand it the very same shape.
 *
 *   word 0  stamp      the transport's own; no other part reads or writes it
 *   word 1  kind       low 8 bits the kind, then 8 bits replica, 16 bits incarnation of the sender
 *   word 2  source     rank of the sender
 *   word 3  context    ┐ of a message; other kinds give these words the meanings listed with them below
 *   word 4  tag        │
 *   word 5  bytes      │ length of the whole message (eager: also of the payload here)
 *   word 6  sequence   ┘ number of the message in its channel (rank to rank, all communicators), from 0, wraps
 *   word 7  payload    byte offset of the payload; set by the transport in `commit`, read by the receiver; 0: none
 *   word 8 …           more words of kinds without a payload; inline payload otherwise
 *
 * (rank, replica) is the name of the process on whose behalf the packet is sent, and to which answers go: the table of the
 * receiver (core/p2p/peers.ts) says which process has that name now. The incarnation says which life of that name it is; it wraps,
 * because lives that are compared are neighbours.
 *
 * Header and 32 bytes of payload are one cache line; a slot has two.
 */
import type { Identity } from "../base/identity.ts";

export const STAMP = 0;
export const KIND = 1;
export const SOURCE = 2;
export const CONTEXT = 3;
export const TAG = 4;
export const BYTES = 5;
export const SEQUENCE = 6;
export const PAYLOAD = 7;
export const EXTRA = 8;
export const headerWords = 8;
/** Words of a packet without payload: header and up to 8 further words. */
export const controlWords = 16;

export const PacketKind = {
  /** A slot whose producer died before it was committed: skipped. */
  VOID: 0,
  /** A whole message; its payload is here. */
  EAGER: 1,
  /** Ready to send: the message's envelope. EXTRA: send request; EXTRA+1: pointer in shared memory or −1. */
  RTS: 2,
  /** Clear to send, receiver → sender. Words: 3 send request, 4 receive request, 5 pointer to write to directly or −1. */
  CTS: 3,
  /** A piece of a large message. Words: 3 receive request, 4 offset, 5 bytes in this piece, 6 the transport's; payload. */
  FRAGMENT: 4,
  /** Receiver → sender: the message has been taken from your memory. Word 3: send request. */
  RELEASE: 5,
  /** Sender → receiver: the whole message has been written to your memory. Word 3: receive request. */
  FINISH: 6,
  /** Receiver → sender: help to copy. Words: 3 send request, 4 target pointer, 5 bytes; EXTRA, EXTRA+1: the transport's. */
  HELP: 7,
  /** Receiver → sender: keep payloads to yourself for now (its unexpected memory is full), send envelopes. */
  EAGER_CLOSE: 8,
  EAGER_OPEN: 9,
  /** Sender → receiver: forget the envelope. Words: 3 send request. Answered with CANCEL_ANSWER. */
  CANCEL: 10,
  /** Words: 3 send request, 4 1 when the envelope was forgotten, 0 when it was matched already. */
  CANCEL_ANSWER: 11,
  /** A protocol's own frame: handed to `Protocol.control`. BYTES is the length of its payload, the other words are its own. */
  PROTOCOL: 12,
  /** Member → member: a communicator is revoked. Words: 3 its context, 4 bits, see core/process/revocations.ts. */
  REVOKE: 13,
  /** Receiver → sender: your message will never be received, its communicator is revoked. Word 3: send request. */
  REFUSAL: 14,
  /** A step of an agreement among the members of a communicator: all words are those of core/process/agreements.ts. */
  AGREEMENT: 15,
  /** A question about a collective that its sender waits in, or the answer: all words are those of core/process/inquiries.ts. */
  INQUIRY: 16,
} as const;
export type PacketKind = (typeof PacketKind)[keyof typeof PacketKind];

/** The three parts of a KIND word. */
export const kindOf = (word: number): PacketKind => (word & 0xff) as PacketKind;
export const replicaOf = (word: number): number => (word >>> 8) & 0xff;
export const incarnationOf = (word: number): number => word >>> 16;

/** The sender that a packet names: its SOURCE word, and the bits of its KIND word above the kind. */
export interface Sender {
  readonly rank: number;
  readonly bits: number;
}

export const senderOf = ({ rank, replica, incarnation }: Identity): Sender => ({
  rank,
  bits: ((replica & 0xff) << 8) | (incarnation << 16),
});
