/**
 * The messages of the layer: ordinary messages of the base with the kind as tag and words as contents. What concerns a communicator travels along its tree,
 * in a context of its own beside it (`sideContext`); what concerns two processes, in one that is there as long as they are (`layerContext`). They need no posted receive: the layer takes them out of the messages that have arrived whenever the process makes
 * progress. A message about a communicator that is not there yet waits among those.
 *
 * Packets of a channel are taken in order. So whatever a process has sent to another before a word of the layer has met its receive, or
 * waits for it, when the other hears the word: the order in which handshakes and deaths count (§5.3.1).
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import type { Communicator } from "../process/communicator.ts";
import { layerContext, sideContext } from "../process/context.ts";
import type { Process } from "../process/process.ts";
import { R_BYTES, R_PEER, R_TAG, SendMode } from "../request/records.ts";

/** The kinds of messages, which are their tags. */
export const Say = {
  /** Are you alive? [number of the question between the two] */
  ASK: 1,
  /** [number, 1: dead] */
  ANSWER: 2,
  /**
   * Up to the root, and from there to everybody: [world rank of the dead, non-blocking collectives that it has started, the number of the
   * first collective that it has not come to].
   */
  DEATH: 3,
  /** To the dead: receive whatever of mine has arrived in the communicator of that context (§5.3.3): [context]. */
  RECEIVE: 4,
  REPORT: 5,
  VERDICT: 6,
  /** The same of synchronisations after a revocation: the tag switch of §5.3.8.3. */
  REPORT_REVOKED: 7,
  VERDICT_REVOKED: 8,
  /** Up to the root, and from there to everybody. */
  REVOKE: 9,
  /** The root wants the list of recent non-blocking collectives, and the answer (§5.3.10). */
  LIST_WANTED: 10,
  LIST: 11,
  /** In a call that only some members make: the sender and all below it have come. [context, tag, world ranks of those that make it] */
  COME: 12,
  /** The answer: [error, 0: go; then the words of the call]. */
  GO: 13,
  /** By broadcasts only, of a communicator that the base has made and freed for itself: no word of it follows. */
  NOTHING_MORE: 14,
} as const;
export type Say = (typeof Say)[keyof typeof Say];

export interface SideMessage {
  /** Null: it concerns two processes. */
  readonly comm: Communicator | null;
  readonly source: WorldRank;
  readonly kind: number;
  readonly words: readonly number[];
}

/** A message whose bytes are still coming. */
interface Coming {
  readonly request: RecordId;
  readonly at: Pointer;
  readonly bytes: number;
  readonly source: WorldRank;
  readonly kind: number;
}

const contextOf = (comm: Communicator | null): number => (comm === null ? layerContext : sideContext(comm.context));

export class SideChannel {
  readonly #process: Process;
  readonly #handle: (message: SideMessage) => void;
  /** Sends whose words are still read. */
  readonly #leaving = new Map<RecordId, Pointer>();
  #all: Int32Array | null = null;
  /** By context, at most one: what comes behind it waits, so that the order holds. */
  readonly #coming = new Map<number, Coming>();
  /** Messages that had arrived unexpected, and communicators that there had been, at the last look: a process that waits looks often. */
  #appended = 0;
  #made = 0;

  constructor(process: Process, handle: (message: SideMessage) => void) {
    this.#process = process;
    this.#handle = handle;
  }

  /** `comm` null: it concerns the two processes. */
  say(comm: Communicator | null, to: WorldRank, kind: Say, words: readonly number[]): void {
    const { engine, memory } = this.#process;
    const bytes = 4 * words.length;
    const at = memory.allocate(Math.max(4, bytes));
    this.#write(at, words);
    const context = contextOf(comm);
    if (engine.sendNow(at, bytes, to, kind, context)) memory.free(at);
    else this.#leaving.set(engine.startSend(at, bytes, to, kind, context, SendMode.STANDARD), at);
  }

  /** Words are few: a view for each message would cost more than it saves. */
  #write(at: Pointer, words: readonly number[]): void {
    const all = this.#words();
    for (let i = 0; i < words.length; i++) all[(at >> 2) + i] = words[i]!;
  }

  #read(at: Pointer, count: number): number[] {
    const all = this.#words();
    const words = new Array<number>(count);
    for (let i = 0; i < count; i++) words[i] = all[(at >> 2) + i]!;
    return words;
  }

  /** All of the memory, which may grow. */
  #words(): Int32Array {
    const { buffer, byteOffset } = this.#process.memory.bytes;
    if (this.#all !== null && this.#all.buffer === buffer) return this.#all;
    this.#all = new Int32Array(buffer, byteOffset);
    return this.#all;
  }

  /** Are words still leaving or coming? */
  get isBusy(): boolean {
    return this.#leaving.size !== 0 || this.#coming.size !== 0;
  }

  /** Frees what has left, and hands over what has come. True: anything moved. */
  progress(): boolean {
    const { engine, communicators, communicatorsMade } = this.#process;
    if (this.#leaving.size !== 0) this.#freeLeft();
    const { appended } = engine.unexpected;
    if (this.#coming.size === 0 && appended === this.#appended && communicatorsMade === this.#made) return false;
    // What comes while words are handed over is looked for the next time.
    this.#appended = appended;
    this.#made = communicatorsMade;
    let moved = false;
    while (this.#take(null)) moved = true;
    for (const comm of communicators.values()) while (communicators.has(comm.context) && this.#take(comm)) moved = true;
    return moved;
  }

  #freeLeft(): void {
    const { engine, memory } = this.#process;
    for (const [request, at] of this.#leaving) {
      if (!engine.isComplete(request)) continue;
      engine.giveBack(request);
      memory.free(at);
      this.#leaving.delete(request);
    }
  }

  #take(comm: Communicator | null): boolean {
    const context = contextOf(comm);
    const coming = this.#coming.get(context) ?? this.#begin(context);
    if (coming === null) return false;
    const { engine, memory } = this.#process;
    const { request, at, bytes, source, kind } = coming;
    if (!engine.isComplete(request)) {
      this.#coming.set(context, coming);
      return false;
    }
    engine.giveBack(request);
    const words = this.#read(at, bytes >> 2);
    memory.free(at);
    this.#coming.delete(context);
    this.#handle({ comm, source, kind, words });
    return true;
  }

  /** Null: nothing has arrived. */
  #begin(context: number): Coming | null {
    const { engine, memory } = this.#process;
    const envelope = engine.probe(ANY_SOURCE, ANY_TAG, context);
    if (envelope < 0) return null;
    const bytes = engine.records.get(envelope, R_BYTES);
    const source = engine.records.get(envelope, R_PEER) as WorldRank;
    const kind = engine.records.get(envelope, R_TAG);
    engine.setAside(envelope);
    const at = memory.allocate(Math.max(4, bytes));
    return { request: engine.startMatchedReceive(at, bytes, envelope), at, bytes, source, kind };
  }
}
