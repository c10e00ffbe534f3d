/**
 * What the root of a communicator says to all members, by broadcasts of the base (thesis §5.3.5.2): every other member has a non-blocking broadcast
 * started in advance, before anybody has anything to say, and the next one as soon as it is over. The base knows which members are on one node, and
 * the layer's own tree does not.
 *
 * A broadcast has a length that all members know, so words go in blocks of one length: [kind, words in all, words …]. What does not fit into one
 * goes on in the next.
 *
 * All of them have one tag: members take them one after the other, from the same predecessor each time. So the root begins one when the one before has
 * left it: of two under way the later could reach a member first.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { Communicator } from "../process/communicator.ts";
import { broadcastTag } from "../process/communicators/task-tags.ts";
import type { Process } from "../process/process.ts";

const blockWords = 32;
const headWords = 2;
const bodyWords = blockWords - headWords;
const bytes = 4 * blockWords;
const call = { bytes, root: 0, form: broadcastTag } as const;
const nowhere = 0 as Pointer;

export class BackgroundBroadcast {
  readonly #process: Process;
  /** A draft, whose first member is the root. */
  readonly #members: Communicator;
  readonly #heard: (kind: number, words: readonly number[]) => void;
  /** At members the one that waits, at the root the one that has not left. */
  #underWay: { readonly request: RecordId; readonly at: Pointer } | null = null;
  /** At the root: what goes behind it. */
  readonly #waiting: (readonly number[])[] = [];
  /** Words of something that goes on in the next block. */
  #begun: number[] = [];
  #isClosed: boolean;

  /** `heard` is called with what the root says, at all other members. */
  constructor(process: Process, members: Communicator, heard: (kind: number, words: readonly number[]) => void) {
    this.#process = process;
    this.#members = members;
    this.#heard = heard;
    this.#isClosed = members.size === 1;
    if (!this.#isRoot) this.#begin();
  }

  get #isRoot(): boolean {
    return this.#members.rank === 0;
  }

  /** At the root. */
  say(kind: number, words: readonly number[]): void {
    if (this.#isClosed) return;
    for (let at = 0; at === 0 || at < words.length; at += bodyWords) {
      this.#waiting.push([kind, words.length, ...words.slice(at, at + bodyWords)]);
    }
    this.#beginWaiting();
  }

  /** Nothing more is said. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#process.collectives.forget(this.#members);
  }

  /** Everything that was said is here, and has been passed on. */
  get isOver(): boolean {
    return this.#isClosed && this.#underWay === null;
  }

  /** True: anything was heard. */
  progress(): boolean {
    let moved = false;
    const { memory, engine } = this.#process;
    while (this.#underWay !== null && engine.isComplete(this.#underWay.request)) {
      const { request, at } = this.#underWay;
      this.#underWay = null;
      const words = [...this.#words(at)];
      engine.giveBack(request);
      memory.free(at);
      if (this.#isRoot) {
        this.#beginWaiting();
        continue;
      }
      moved = true;
      this.#take(words);
      if (!this.#isClosed) this.#begin();
    }
    return moved;
  }

  #beginWaiting(): void {
    const next = this.#underWay === null ? this.#waiting.shift() : undefined;
    if (next !== undefined) this.#begin(next);
  }

  #take(block: readonly number[]): void {
    const [kind = 0, total = 0] = block;
    const missing = total - this.#begun.length;
    this.#begun.push(...block.slice(headWords, headWords + Math.min(missing, bodyWords)));
    if (this.#begun.length < total) return;
    const words = this.#begun;
    this.#begun = [];
    this.#heard(kind, words);
  }

  #begin(words: readonly number[] = []): void {
    const { memory, collectives } = this.#process;
    const at = memory.allocate(bytes);
    this.#words(at).set(words);
    this.#underWay = { request: collectives.startEqual(this.#members, "bcast", nowhere, at, call), at };
  }

  #words(at: Pointer): Int32Array {
    const { buffer, byteOffset } = this.#process.memory.bytes;
    return new Int32Array(buffer, byteOffset + at, blockWords);
  }
}
