/**
 * What a protocol may decide about messages, and what the engine answers: the words that `core/ft` and `core/p2p`, which do
 * not know each other, have in common.
 */
import type { Pointer } from "../base/brand.ts";
import type { Identity } from "../base/identity.ts";

/** How a receive is matched. */
export const Pin = {
  /** By the standard's rules. */
  FREE: 0,
  /** With one message and no other: the protocol has written its source and sequence into the record. */
  MESSAGE: 1,
  /** With none: the program will cancel it. */
  NOTHING: 2,
  /** Not yet: it stands still, and takes no message, until the protocol asks for it again (`ProtocolPorts.pinWaiting`). */
  LATER: 3,
} as const;
export type Pin = (typeof Pin)[keyof typeof Pin];

/** The decision about a message that has arrived. */
export const Arrival = {
  /** A duplicate, or an old life's. */
  DROP: 0,
  TAKE: 1,
  /** Its envelope is here already without all bytes: the record that has the envelope gets them. */
  AGAIN: 2,
  /** All of it is here already: a sender that waits for it to be taken is told so. */
  HERE: 3,
  /** It is kept aside, and no receive and no probe knows of it, until the protocol lets it in (`ProtocolPorts.letIn`). */
  LATER: 4,
} as const;
export type Arrival = (typeof Arrival)[keyof typeof Arrival];

/**
 * The number of messages that stand in the order of no channel: marks by which processes find out that nothing is under way. A life that
 * goes on from an older image makes none, so protocols leave them alone.
 */
export const unordered = 0x7fffffff;

/** How much of a message has left. */
export const Went = { NOWHERE: 0, ENVELOPE: 1, WHOLE: 2 } as const;
export type Went = (typeof Went)[keyof typeof Went];

/** A packet of a protocol's own to another process. */
export interface Told {
  /** Five words, 0 unless given; where they are in a packet: CONTEXT, TAG, SEQUENCE, EXTRA and the one behind it. */
  readonly a: number;
  readonly b?: number;
  readonly c?: number;
  readonly d?: number;
  readonly e?: number;
  /** No more bytes than an eager message to that process may have. */
  readonly payload?: Uint8Array;
  /** On whose behalf; null or not given: our own. */
  readonly from?: Identity | null;
}

/** A message that the protocol keeps and sends itself. */
export interface KeptMessage {
  /** Rank. */
  readonly dest: number;
  /** Which of the processes that play it. */
  readonly replica: number;
  /** The process on whose behalf it is sent, which the receiver answers; null: this process. */
  readonly from: Identity | null;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  readonly sequence: number;
  readonly isSynchronous: boolean;
  readonly pointer: Pointer;
  /** May its receiver read it where it lies? Otherwise the bytes are asked for when they are wanted (`EngineHooks.lend`). */
  readonly isLent: boolean;
}
