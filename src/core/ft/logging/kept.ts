/** A message in the payload log of its sender, from its posting until no image that may be restored lacks it. */
import type { Pointer, RecordId } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import type { KeptMessage } from "../../request/decisions.ts";

export const noRequest = -1 as RecordId;

export const Lent = {
  NO: 0,
  /** Its receiver may read them, when it has a receive for them. */
  OFFERED: 1,
  /** They are on their way. */
  TAKEN: 2,
} as const;
export type Lent = (typeof Lent)[keyof typeof Lent];

export class Kept implements KeptMessage {
  readonly dest: number;
  /** Ranks have one process each here, and none speaks for another. */
  readonly replica = 0;
  readonly from = null;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  readonly sequence: number;
  readonly isSynchronous: boolean;
  pointer: Pointer;
  /** Position of the stream of determinants that must be stable before it leaves. */
  readonly ticket: number;
  /** The program's request, if that waits for the receiver. */
  send: RecordId;
  /** Its bytes are at `pointer`; otherwise they are outside (payload-memory.ts). */
  isInMemory = true;
  /** Where they are outside, if they ever went there. */
  stored: string | null = null;
  /** May others be reading them where they lie? */
  lent: Lent = Lent.NO;
  /** The receiver's present life has it, or had it from an earlier one of ours. */
  isDelivered = false;

  get isLent(): boolean {
    return this.lent !== Lent.NO;
  }

  constructor(message: Omit<KeptMessage, "isLent" | "replica" | "from">, ticket: number, send: RecordId) {
    this.dest = message.dest;
    this.context = message.context;
    this.tag = message.tag;
    this.bytes = message.bytes;
    this.sequence = message.sequence;
    this.isSynchronous = message.isSynchronous;
    this.pointer = message.pointer;
    this.ticket = ticket;
    this.send = send;
  }
}

/** A number made of the facts about a message that both sides know without its bytes; sums of these are compared after a restart. */
export function hashOfMessage(sequence: number, context: number, tag: number, bytes: number): number {
  let hash = Math.imul(sequence ^ 0x9e3779b1, 0x85ebca6b) ^ Math.imul(context ^ 0xc2b2ae35, 0x27d4eb2f);
  hash ^= Math.imul(tag ^ 0x165667b1, 0x9e3779b1) ^ Math.imul(bytes ^ 0x5bd1e995, 0x7feb352d);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x846ca68b);
  return (hash ^ (hash >>> 16)) | 0;
}

saves({ Kept });
