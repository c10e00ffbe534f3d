/**
 * The table of requests and envelopes. A record is an integer; its fields are words of one Int32Array, so nothing is
 * allocated per message and the whole state of a process's communication is plain data that an image can hold.
 *
 * The array is replaced when the table grows: read it through `records.words` each time, never keep it across a call.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { lives } from "../base/saved-classes.ts";

/** Words of a record, and the fields in it. */
export const recordWords = 42;

/** The kind of the record: one of `RecordKind`. */
export const R_KIND = 0;
/** Progress of the operation: one of `RecordState`. */
export const R_STATE = 1;
export const R_CONTEXT = 2;
/** Rank: wanted source of a receive (or ANY_SOURCE), destination of a send, source of an envelope. See `R_REPLICA`. */
export const R_PEER = 3;
export const R_TAG = 4;
/** Receive: room in the buffer. Send, envelope: length of the message. */
export const R_BYTES = 5;
/** Where the program's bytes are (`Pointer`); for an eager envelope the stored payload. */
export const R_POINTER = 6;
export const R_SEQUENCE = 7;
/** Arrival or posting order inside its queue: the smaller is the older. */
export const R_ORDER = 8;
/** Links of the queue as a whole, and of the free list. */
export const R_NEXT = 9;
export const R_PREVIOUS = 10;
/** Four pairs of links, one for each index a record may be in: exact, any source, any tag, any of both. */
export const R_INDEX = 11;
/** The other side's request: in an RTS envelope the send, in a send after CTS the receive. */
export const R_PEER_REQUEST = 19;
/** The other side's pointer, where its memory is shared. */
export const R_PEER_POINTER = 20;
/** Bytes moved so far of a message that moves in pieces. */
export const R_OFFSET = 21;
/** Send: one of `SendMode`. Envelope: the packet's kind. */
export const R_MODE = 22;
/** Bits of `RecordFlag`. */
export const R_FLAGS = 23;
/** The outcome, valid when complete: world rank, tag, bytes, error code. */
export const R_STATUS_SOURCE = 24;
export const R_STATUS_TAG = 25;
export const R_STATUS_BYTES = 26;
export const R_ERROR = 27;
/** Which life of this slot in the table: a handle made of (record, life) can be recognised as stale. */
const R_LIFE = 28;
/** Layers above (core/process, bindings) keep what they need here: a datatype's number, a count, a communicator's number. */
export const R_USER = 29;
export const userWords = 6;
/** Protocols keep what they need here. */
export const R_PROTOCOL = 35;
export const protocolWords = 5;
/**
 * Which of the processes that play the rank of `R_PEER`: of a send the one that gets it, of an envelope and of a receive that has its
 * message the one that sent it and gets the answers. Together they name a process, wherever it is.
 */
export const R_REPLICA = 40;
/** On whose behalf a send or a waiting packet leaves: 0, our own; otherwise a number of p2p/senders.ts. */
export const R_SENDER = 41;

export const RecordKind = {
  FREE: 0,
  SEND: 1,
  RECEIVE: 2,
  ENVELOPE: 3,
  /** A collective or another operation of several steps; core/coll owns its fields. */
  OPERATION: 4,
  /** A packet that waits for room on its channel. */
  OUTGOING: 5,
} as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

export const RecordState = {
  /** Posted, or queued for room in its channel. */
  PENDING: 0,
  /** Its envelope has left, or it has been matched; bytes are under way. */
  ACTIVE: 1,
  COMPLETE: 2,
} as const;

export const SendMode = { STANDARD: 0, SYNCHRONOUS: 1, READY: 2, BUFFERED: 3 } as const;
export type SendMode = (typeof SendMode)[keyof typeof SendMode];

export const RecordFlag = {
  CANCELLED: 1,
  /** Freed by the program before it was complete: given back on completion. */
  ORPHAN: 2,
  /** The message was longer than the buffer. */
  TRUNCATED: 4,
  /** The envelope of this send has left, and the receiver has not said yet how the bytes shall come (CTS, RELEASE). */
  AWAITS_ANSWER: 8,
  /** The bytes of this receive come as FRAGMENTs. */
  AWAITS_PIECES: 16,
  /** The program does not want the outcome, but a part of the runtime does, and gives the record back. */
  UNWANTED: 32,
  /** The protocol has let this send go; it waits for room, and the protocol is not asked again. */
  LET_GO: 64,
  /** The bytes of this receive are written by the sender, which then says FINISH; of a send: it is the one that writes them. */
  AWAITS_FINISH: 128,
  /** The program wants this send cancelled: its receiver has been asked, or will be when the envelope has left. */
  CANCELLING: 256,
  /** The protocol has taken this send: it says when it is complete. */
  TAKEN: 512,
  /** This send is one of the protocol's own, from what it keeps. */
  KEPT: 1024,
  /** The sender of this envelope, or of the message of this receive, is lost: the bytes come from its next life. */
  BROKEN: 2048,
  /** The protocol knows which message this receive takes, or that it takes none. */
  PINNED: 4096,
  /** This send travels eagerly if its size allows, however little memory its receiver says it has. */
  INSISTS: 8192,
  /** The bytes of this KEPT send are where the record says, until it is complete. */
  LENT: 16384,
  /** This operation stands for a message that the program has not let go yet: a revocation of its context ends it. */
  HELD: 32768,
  /** This envelope stands in no queue, because the protocol has not let it in. */
  ASIDE: 65536,
} as const;

/** Is that record a send of the program's whose envelope has left, and whose receiver has not taken it? */
export function isWaiting(words: Int32Array, at: number): boolean {
  if (words[at + R_KIND] !== RecordKind.SEND || words[at + R_STATE] !== RecordState.ACTIVE) return false;
  const { AWAITS_ANSWER, KEPT } = RecordFlag;
  return (words[at + R_FLAGS]! & (AWAITS_ANSWER | KEPT)) === AWAITS_ANSWER;
}

/** Hard bound on records of one process: 2²⁴ of 168 bytes are 2.7 GB, far beyond any sane program. */
const recordsMax = 1 << 24;
/** Most processes of a large job have few at a time; the table doubles as often as it must. */
const recordsFirst = 16;

export class Records {
  words: Int32Array;
  private free: number;
  private capacity: number;
  /** Records in use. */
  count = 0;

  constructor(capacity = recordsFirst) {
    this.words = new Int32Array(capacity * recordWords);
    this.capacity = capacity;
    this.free = -1;
    this.chain(0, capacity);
  }

  /** Puts records from … to−1 on the free list, lowest first. */
  private chain(from: number, to: number): void {
    for (let record = to - 1; record >= from; record--) {
      this.words[record * recordWords + R_NEXT] = this.free;
      this.free = record;
    }
  }

  private grow(): void {
    const capacity = this.capacity * 2;
    assert(capacity <= recordsMax, "more than 2^24 requests and envelopes in one process");
    const words = new Int32Array(capacity * recordWords);
    words.set(this.words);
    this.words = words;
    this.chain(this.capacity, capacity);
    this.capacity = capacity;
  }

  take(kind: RecordKind): RecordId {
    if (this.free < 0) this.grow();
    const record = this.free;
    const words = this.words;
    const at = record * recordWords;
    this.free = words[at + R_NEXT]!;
    words[at + R_KIND] = kind;
    words[at + R_STATE] = RecordState.PENDING;
    words[at + R_FLAGS] = 0;
    words[at + R_ERROR] = 0;
    words[at + R_OFFSET] = 0;
    words[at + R_PROTOCOL] = 0;
    words[at + R_REPLICA] = 0;
    words[at + R_SENDER] = 0;
    // A receive that fails has received nothing.
    words[at + R_STATUS_SOURCE] = ANY_SOURCE;
    words[at + R_STATUS_TAG] = ANY_TAG;
    words[at + R_STATUS_BYTES] = 0;
    this.count++;
    return record as RecordId;
  }

  /**
   * A request for a message to or from the rank `peer`; `bytes` is its length, or the room for it. Every message of the long way comes
   * here, hence numbers and no object.
   */
  takeMessage(kind: RecordKind, pointer: Pointer, bytes: number, peer: number, tag: number, context: number): RecordId {
    const record = this.take(kind);
    const { words } = this;
    const at = record * recordWords;
    words[at + R_CONTEXT] = context;
    words[at + R_PEER] = peer;
    words[at + R_TAG] = tag;
    words[at + R_BYTES] = bytes;
    words[at + R_POINTER] = pointer;
    return record;
  }

  give(record: RecordId): void {
    const words = this.words;
    const at = record * recordWords;
    words[at + R_KIND] = RecordKind.FREE;
    words[at + R_LIFE] = (words[at + R_LIFE]! + 1) | 0;
    words[at + R_NEXT] = this.free;
    this.free = record;
    this.count--;
  }

  /** Is there a record of that number, in use or not? For numbers that came from outside. */
  has(record: number): boolean {
    return record >= 0 && record < this.capacity;
  }

  get(record: RecordId, field: number): number {
    return this.words[record * recordWords + field]!;
  }

  put(record: RecordId, field: number, value: number): void {
    this.words[record * recordWords + field] = value;
  }

  /** `flag` is one of `RecordFlag`. */
  hasFlag(record: RecordId, flag: number): boolean {
    return (this.words[record * recordWords + R_FLAGS]! & flag) !== 0;
  }

  addFlag(record: RecordId, flag: number): void {
    const at = record * recordWords + R_FLAGS;
    this.words[at] = this.words[at]! | flag;
  }

  removeFlag(record: RecordId, flag: number): void {
    const at = record * recordWords + R_FLAGS;
    this.words[at] = this.words[at]! & ~flag;
  }
}

lives({ Records });
