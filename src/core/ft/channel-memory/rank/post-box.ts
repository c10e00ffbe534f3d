/**
 * What one rank has to say to one channel memory, in order: messages to receivers whose home is there and, if it is the rank's own home, its
 * determinants, marks and wishes. What is said is kept until the memory confirms it, and messages are in the image until then (rule 3).
 */
import type { Pointer } from "../../../base/brand.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { Memory } from "../../../request/memory.ts";
import { type ClientEnd, wordsBetween } from "../../../service-channel/channel.ts";
import type { KeptPayload } from "../../protocol.ts";
import { FrameWriter, fewBytes, ToMemory } from "../frames.ts";

/** Plain data: an image holds it. */
interface PostedMessage extends KeptPayload {
  readonly kind: "message";
  readonly dest: number;
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly isSynchronous: boolean;
  /** So many events must be stable before it leaves. */
  ticket: number;
  /** Bytes that have been said. */
  offset: number;
  /** Position of the channel behind it. */
  end: number;
}

interface PostedWords {
  readonly kind: "words";
  /** One of `ToMemory`, and what belongs to it. */
  readonly words: readonly number[];
  ticket: number;
  end: number;
}

export type PostedItem = PostedMessage | PostedWords;

interface PostBoxPorts {
  readonly memory: Memory;
  /** Have so many events become stable? */
  isStable(ticket: number): boolean;
  /** The channel memory has it. */
  confirmed(posted: PostedItem): void;
}

export class PostBox {
  static readonly unsaved = {
    end: null,
    writer: null,
    next: 0,
    isOpen: true,
    awaited: null,
    uncopied: null,
    uncopiedFrom: 0,
    ports: null,
  };
  private readonly end: ClientEnd;
  private readonly ports: PostBoxPorts;
  private readonly writer: FrameWriter;
  private readonly pieceBytesMax: number;
  /** Does nothing wait for events? They go the same way, and so arrive before whatever follows from them. */
  private readonly isHome: boolean;
  /** Not confirmed yet, oldest first. */
  private queue: PostedItem[] = [];
  /** Of the queue: the first that has not been said wholly. */
  private next = 0;
  /** May anything be said? Not before the memory has told which messages it has of lives before. */
  private isOpen = true;
  /** Somebody waits until the memory has it, and all before it; null: nobody does. */
  private awaited: PostedItem | null = null;
  /** A message whose bytes are still with the program, while `addMessage` says it; and where. */
  private uncopied: PostedItem | null = null;
  private uncopiedFrom = 0 as Pointer;

  constructor(end: ClientEnd, options: { pieceBytesMax: number; isHome: boolean }, ports: PostBoxPorts) {
    this.end = end;
    this.ports = ports;
    this.pieceBytesMax = options.pieceBytesMax;
    this.isHome = options.isHome;
    this.writer = new FrameWriter(end);
  }

  /** Has the memory not told yet which messages it has? */
  get isClosed(): boolean {
    return !this.isOpen;
  }

  get isEmpty(): boolean {
    return this.queue.length === 0;
  }

  /** Messages in it whose bytes are in the process's memory. */
  get kept(): PostedMessage[] {
    return this.queue.filter((posted) => posted.kind === "message" && posted.bytes > 0) as PostedMessage[];
  }

  /** `from`: where its bytes are now; the caller copies them to its pointer afterwards, while the memory works. */
  addMessage(message: Omit<PostedMessage, "kind" | "offset" | "end">, from = message.pointer): void {
    const { dest, sequence, context, tag, bytes, isSynchronous, pointer, ticket } = message;
    // Not by a spread, which takes each field through a call of the runtime.
    this.queue.push({
      kind: "message",
      dest,
      sequence,
      context,
      tag,
      bytes,
      isSynchronous,
      pointer,
      ticket,
      offset: 0,
      end: 0,
    });
    this.uncopied = this.queue.at(-1)!;
    this.uncopiedFrom = from;
    this.say();
    this.uncopied = null;
  }

  addWords(words: readonly number[], ticket = 0): void {
    this.queue.push({ kind: "words", words, ticket, end: 0 });
    this.say();
  }

  /** Whoever calls waits until the memory has all that is in it: it is asked to say so. */
  urge(): void {
    this.awaited = this.queue.at(-1) ?? null;
    this.ask();
  }

  /** At once: the rank may not look here again before it hears something. Also when there is no room for more. */
  private ask(): void {
    if (this.awaited !== null || this.writer.left > 0) this.end.ask();
  }

  /** Words that are said before all that is in the queue. */
  addFirst(words: readonly number[]): void {
    this.queue.splice(this.next, 0, { kind: "words", words, ticket: 0, end: 0 });
    this.say();
  }

  /**
   * Another life begins with what the image says was not confirmed. Its events are with its home, because the image counts; what only
   * concerned the life before is dropped. Nothing is said until `open`.
   */
  beginLife(): void {
    this.queue = this.queue.filter((posted) => posted.kind === "message" || isLasting(posted));
    for (const posted of this.queue) {
      posted.ticket = 0;
      if (posted.kind === "message") posted.offset = 0;
    }
    this.next = 0;
    this.awaited = null;
    this.isOpen = false;
  }

  /** The memory has told which messages it has: those are not said again. */
  open(isHeld: (dest: number, sequence: number) => boolean): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.queue = this.queue.filter((posted) => {
      if (posted.kind !== "message" || !isHeld(posted.dest, posted.sequence)) return true;
      this.ports.confirmed(posted);
      return false;
    });
    this.awaited = this.queue.at(-1) ?? null;
  }

  /** Says what can be said, and finds what has been confirmed. True: something moved. */
  progress(): boolean {
    if (this.queue.length === 0) return false;
    const said = this.say();
    return this.confirm() || said;
  }

  /** True: there are words in the channel that were not there. */
  private say(): boolean {
    const before = this.end.born;
    while (this.isOpen && this.next < this.queue.length && this.writer.go()) {
      const posted = this.queue[this.next]!;
      if (!this.isHome && !this.ports.isStable(posted.ticket)) break;
      if (posted.kind === "words") this.writer.put(posted.words[0]!, posted.words.slice(1));
      else if (!this.sayBytes(posted)) continue;
      // What has not found room leaves before anything else, so this is where it ends.
      posted.end = (this.end.born + this.writer.left) | 0;
      this.next++;
    }
    this.writer.go();
    this.ask();
    return this.end.born !== before;
  }

  /** The next frame of a message; true: it was the last. */
  private sayBytes(message: PostedMessage): boolean {
    const { dest, sequence, context, tag, bytes, isSynchronous, pointer, offset } = message;
    const count = Math.min(this.pieceBytesMax, bytes - offset);
    const at = message === this.uncopied ? this.uncopiedFrom : pointer;
    const { memory } = this.ports;
    const facts = offset === 0 ? [dest, sequence, context, tag, bytes, isSynchronous ? 1 : 0] : null;
    // What the program has lent is no part of the memory.
    if (facts !== null && count === bytes && bytes <= fewBytes && at >= 0) {
      this.writer.putFewBytes(ToMemory.POST, facts, memory.bytes, at, bytes);
      message.offset = bytes;
      return true;
    }
    const part = memory.view(at, bytes).subarray(offset, offset + count);
    if (facts !== null) this.writer.putBytes(ToMemory.POST, facts, part);
    else this.writer.putBytes(ToMemory.MORE, [dest, sequence, offset, 0], part);
    message.offset += count;
    return message.offset === bytes;
  }

  private confirm(): boolean {
    const { queue } = this;
    let count = 0;
    while (count < this.next && wordsBetween(queue[count]!.end, this.end.stable) >= 0) count++;
    if (count === 0) return false;
    this.next -= count;
    for (const posted of queue.splice(0, count)) {
      if (posted === this.awaited) this.awaited = null;
      this.ports.confirmed(posted);
    }
    return true;
  }
}

/** Does a later life, whose image has it, have to say it again? */
const isLasting = ({ words }: PostedWords): boolean => words[0] === ToMemory.TAKEN;

lives({ PostBox });
