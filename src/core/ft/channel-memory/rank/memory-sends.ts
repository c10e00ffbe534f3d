/**
 * What the program sends, under channel memories: every message goes to the home memory of its receiver. A send is complete when its bytes
 * are copied; a synchronous one when the sender's own home says that it was taken.
 *
 * A life that makes messages again which are with their memories (HELD) drops them: silent re-execution.
 */
import type { Pointer, RecordId } from "../../../base/brand.ts";
import { lives } from "../../../base/saved-classes.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_SEQUENCE,
  R_TAG,
  recordWords,
  SendMode,
} from "../../../request/records.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { ReceivedNumbers } from "../../received-numbers.ts";
import { keyOfMessage } from "../frames.ts";
import type { PostBox } from "./post-box.ts";

const nowhere = 0 as Pointer;

export class MemorySends {
  static readonly unsaved = { boxOf: null, held: null };
  private readonly ports: ProtocolPorts;
  private readonly boxOf: (rank: number) => PostBox;
  /** By receiver: the numbers that the program has sent, in this life or before its image. */
  private readonly posted = new Map<number, ReceivedNumbers>();
  /** By receiver: the numbers that its home had when this life began. */
  private held = new Map<number, ReceivedNumbers>();
  /** Synchronous sends that wait, by receiver and number. */
  private readonly waiting = new Map<number, RecordId>();
  /** Messages that were taken in an earlier life, and that this one has not made again yet. */
  private readonly takenBefore = new Set<number>();
  /** Messages that were sent, and how many of them were not said again. */
  messages = 0;
  silent = 0;

  constructor(ports: ProtocolPorts, boxOf: (rank: number) => PostBox) {
    this.ports = ports;
    this.boxOf = boxOf;
  }

  /** Of another life: which messages are held is not known any more, but asked. */
  beginLife(): void {
    this.held = new Map();
  }

  hearHeld(dest: number, numbers: Int32Array): void {
    const held = new ReceivedNumbers();
    held.addBefore(numbers[0]!);
    for (const number of numbers.subarray(1)) held.add(number);
    this.held.set(dest, held);
  }

  isHeld(dest: number, sequence: number): boolean {
    return this.held.get(dest)?.has(sequence) === true;
  }

  /** Has this life made again all messages of the lives before that are with their memories? */
  get isRepeated(): boolean {
    for (const [dest, { firstMissing, later }] of this.held) {
      const posted = this.posted.get(dest);
      if (((firstMissing - (posted?.firstMissing ?? 0)) | 0) > 0) return false;
      for (const number of later) if (posted?.has(number) !== true) return false;
    }
    return true;
  }

  /** Takes a message of the program; `ticket`: events that must be stable before it leaves. */
  post(send: RecordId, ticket: number): void {
    const { words } = this.ports.records;
    const at = send * recordWords;
    const dest = words[at + R_PEER]!;
    const sequence = words[at + R_SEQUENCE]!;
    const isSynchronous = words[at + R_MODE] === SendMode.SYNCHRONOUS;
    const bytes = words[at + R_BYTES]!;
    this.messages++;
    this.note(dest, sequence);
    if (this.isHeld(dest, sequence)) this.silent++;
    else {
      const { memory } = this.ports;
      const from = words[at + R_POINTER]! as Pointer;
      const pointer = bytes === 0 ? nowhere : memory.allocate(bytes);
      const context = words[at + R_CONTEXT]!;
      const tag = words[at + R_TAG]!;
      const message = { dest, sequence, context, tag, bytes, isSynchronous, pointer, ticket };
      this.boxOf(dest).addMessage(message, from);
      if (bytes > 0) memory.copy(pointer, 0, from, 0, bytes);
    }
    const key = keyOfMessage(dest, sequence);
    if (isSynchronous && !this.takenBefore.delete(key)) this.waiting.set(key, send);
    else this.ports.complete(send);
  }

  private note(dest: number, sequence: number): void {
    let posted = this.posted.get(dest);
    if (posted === undefined) {
      posted = new ReceivedNumbers();
      this.posted.set(dest, posted);
    }
    posted.add(sequence);
  }

  /** That receiver has taken that synchronous message. It may be said before this life makes the message again, and twice. */
  taken(dest: number, sequence: number): void {
    const key = keyOfMessage(dest, sequence);
    const send = this.waiting.get(key);
    if (send !== undefined) {
      this.waiting.delete(key);
      this.ports.complete(send);
    } else if (this.posted.get(dest)?.has(sequence) !== true) this.takenBefore.add(key);
  }
}

lives({ MemorySends });
