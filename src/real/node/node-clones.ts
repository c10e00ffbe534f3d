/**
 * Memories of this node's processes that travel to clones elsewhere, and memories of clones that arrive: the threads that do it
 * (`real/cloning`), one or two for each clone. A node without clones has none.
 */

import type { Worker } from "node:worker_threads";
import type { MemoryMarks } from "../../core/request/memory-marks.ts";
import { lanesFor, usedBytes, usedRanges } from "../cloning/lanes.ts";
import type {
  ArrivedClone,
  CopiedRound,
  FromReceiver,
  FromSender,
  LastPart,
  ReceiverSetup,
  ToSender,
} from "../cloning/messages.ts";
import type { WaitingThreads } from "../cloning/waiting-threads.ts";
import type { CloneNews } from "../messages/node-messages.ts";
import type { CaptureFacts, LastLookOfClone, LastPartOfClone } from "../messages/rank-messages.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";

interface NodeClonesOptions {
  readonly job: JobSecret;
  /** Where other nodes can reach this one. */
  readonly host: string;
  /** Clones may be made from its processes. */
  readonly isSource: boolean;
}

/** Programs run that long before threads are started that may send their memories: at first everybody compiles. */
const settledMs = 300;

interface NodeClonesPorts {
  /** A memory of this node begins to leave, or no one does any more. */
  giving(isAny: boolean): void;
  /** Of a process of this node; undefined: it has none. */
  memoryOf(rank: number): WebAssembly.Memory | undefined;
  readonly senders: WaitingThreads;
  readonly receivers: WaitingThreads;
  /** Undefined: there is no memory for another process. */
  newMemory(): WebAssembly.Memory | undefined;
  news(rank: number, number: number, news: CloneNews): void;
  /** The source may go on, unless it is moved; or `problem` says why there is no image. */
  captured(rank: number, facts: CaptureFacts, how: { readonly problem: string; readonly isMoved: boolean }): void;
}

/** What the threads of a clone have said, lane by lane; null: nothing yet. */
class Said<Word> {
  readonly #words: (Word | null)[];

  constructor(lanes: number) {
    this.#words = new Array<Word | null>(lanes).fill(null);
  }

  /** All of it, when the last has said its part; null before. */
  add(lane: number, word: Word): Word[] | null {
    this.#words[lane] = word;
    const known = this.#words.filter((each) => each !== null);
    return known.length === this.#words.length ? known : null;
  }
}

class Giving {
  readonly number: number;
  readonly isMoved: boolean;
  readonly threads: Worker[] = [];
  readonly ports: Said<number>;
  readonly rounds: Said<readonly CopiedRound[]>;
  readonly last: Said<CopiedRound>;
  readonly over: Said<true>;
  /** Of the last look, when all lanes have had it; and of the last part. Null: not yet. The program may go on when both are there. */
  looked: CopiedRound | null = null;
  facts: CaptureFacts | null = null;

  constructor({ number, isMoved }: { readonly number: number; readonly isMoved: boolean }, lanes: number) {
    this.number = number;
    this.isMoved = isMoved;
    this.ports = new Said(lanes);
    this.rounds = new Said(lanes);
    this.last = new Said(lanes);
    this.over = new Said(lanes);
  }
}

class Taking {
  readonly number: number;
  readonly memory: WebAssembly.Memory;
  readonly threads: Worker[] = [];
  readonly parts: Said<ArrivedClone>;
  arrived: ArrivedClone | null = null;

  constructor(number: number, memory: WebAssembly.Memory, lanes: number) {
    this.number = number;
    this.memory = memory;
    this.parts = new Said(lanes);
  }
}

/** A clone whose memory is filled. */
export interface FilledClone extends ArrivedClone {
  readonly memory: WebAssembly.Memory;
}

export class NodeClones {
  readonly #options: NodeClonesOptions;
  readonly #ports: NodeClonesPorts;
  /** By process. */
  readonly #marks = new Map<number, MemoryMarks>();
  readonly #giving = new Map<number, Giving>();
  readonly #taking = new Map<number, Taking>();
  /** Null: no program has run. */
  #preparing: NodeJS.Timeout | null = null;

  constructor(options: NodeClonesOptions, ports: NodeClonesPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** The program of a process runs, and says there how much of its memory it uses. */
  runs(rank: number, marks: MemoryMarks): void {
    this.#marks.set(rank, marks);
    if (!this.#options.isSource || this.#preparing !== null) return;
    this.#preparing = setTimeout(() => this.#ports.senders.prepare(), settledMs);
    this.#preparing.unref();
  }

  /** The most that a process of this node uses of its memory; 0: no clones are made from here. */
  get usedMb(): number {
    if (!this.#options.isSource) return 0;
    const used = [...this.#marks].map(([rank, marks]) => {
      const memory = this.#ports.memoryOf(rank);
      return memory === undefined ? 0 : usedBytes(usedRanges(marks, new Int32Array(memory.buffer)));
    });
    return Math.ceil(Math.max(0, ...used) / 2 ** 20);
  }

  /** A clone shall be made from that process of this node. */
  give(rank: number, { number, isMoved }: { readonly number: number; readonly isMoved: boolean }): void {
    this.drop(rank);
    const memory = this.#ports.memoryOf(rank);
    const marks = this.#marks.get(rank);
    if (memory === undefined || marks === undefined) {
      this.#ports.news(rank, number, { kind: "failed", problem: "its program does not run" });
      return;
    }
    const of = lanesFor(usedRanges(marks, new Int32Array(memory.buffer)));
    const giving = new Giving({ number, isMoved }, of);
    this.#giving.set(rank, giving);
    const { job, host } = this.#options;
    for (let index = 0; index < of; index++) {
      const heard = (message: FromSender): void => {
        if (this.#giving.get(rank) === giving) this.#senderSaid(rank, giving, { ...message, index });
      };
      const thread = this.#ports.senders.take();
      listen(thread, heard);
      const clone = { source: rank, number };
      tell(thread, { kind: "setup", clone, lane: { index, of }, memory, marks, job, host });
      giving.threads.push(thread);
    }
    this.#ports.giving(true);
  }

  #senderSaid(rank: number, giving: Giving, message: FromSender & { readonly index: number }): void {
    const { number, facts } = giving;
    const { index } = message;
    switch (message.kind) {
      case "listening": {
        const { host } = this.#options;
        const ports = giving.ports.add(index, message.port);
        const addresses = ports?.map((port) => ({ host, port }));
        if (addresses !== undefined) this.#ports.news(rank, number, { kind: "listening", addresses });
        return;
      }
      case "copied": {
        const lanes = giving.rounds.add(index, message.rounds);
        if (lanes !== null) this.#ports.news(rank, number, { kind: "copied", rounds: together(lanes) });
        return;
      }
      case "captured": {
        const lanes = giving.last.add(index, message.last);
        if (lanes === null) return;
        giving.looked = together(lanes.map((each) => [each]))[0]!;
        this.#tellCaptured(rank, giving);
        return;
      }
      case "over":
        if (giving.over.add(index, true) === null || facts === null) return;
        for (const thread of giving.threads.splice(0)) this.#ports.senders.giveBack(thread);
        this.drop(rank);
        return;
      default:
        this.drop(rank);
        if (facts === null) this.#ports.news(rank, number, { kind: "failed", problem: message.problem });
        else this.#ports.captured(rank, facts, { problem: message.problem, isMoved: giving.isMoved });
    }
  }

  #tellCaptured(rank: number, { number, looked, facts, isMoved }: Giving): void {
    if (looked === null || facts === null) return;
    this.#ports.news(rank, number, { kind: "left", last: looked });
    this.#ports.captured(rank, facts, { problem: "", isMoved });
  }

  /** That process stands still: the rest of its memory goes to its clone. */
  look(rank: number, { number, look }: Omit<LastLookOfClone, "kind">): void {
    const giving = this.#giving.get(rank);
    if (giving?.number !== number) return;
    for (const thread of giving.threads) tell(thread, look);
  }

  /** It still does: its state goes there too. */
  finish(rank: number, { last, ...facts }: Omit<LastPartOfClone, "kind">): void {
    const giving = this.#giving.get(rank);
    if (giving?.number !== facts.number) {
      this.#ports.captured(rank, facts, { problem: "nobody has room for it any more", isMoved: false });
      return;
    }
    giving.facts = facts;
    const rest: LastPart = { ...last, state: new Uint8Array(0) };
    for (const [index, thread] of giving.threads.entries()) tell(thread, index === 0 ? last : rest);
    this.#tellCaptured(rank, giving);
  }

  /** A clone shall be here: its memory comes from there. */
  take(rank: number, { number, source, from }: { number: number; source: number; from: readonly Address[] }): void {
    this.drop(rank);
    const memory = this.#ports.newMemory();
    if (memory === undefined) {
      this.#ports.news(rank, number, { kind: "failed", problem: "its node has no memory for it" });
      return;
    }
    const taking = new Taking(number, memory, from.length);
    this.#taking.set(rank, taking);
    const { job } = this.#options;
    for (const [index, address] of from.entries()) {
      const setup: ReceiverSetup = { clone: { source, number }, index, memory, job, from: address };
      const heard = (message: FromReceiver): void => {
        if (this.#taking.get(rank) === taking) this.#receiverSaid(rank, taking, { ...message, index });
      };
      const thread = this.#ports.receivers.take();
      listen(thread, heard);
      thread.postMessage(setup);
      taking.threads.push(thread);
    }
  }

  #receiverSaid(rank: number, taking: Taking, message: FromReceiver & { readonly index: number }): void {
    const { number } = taking;
    if (message.kind === "failed") {
      this.drop(rank);
      this.#ports.news(rank, number, { kind: "failed", problem: message.problem });
      return;
    }
    const parts = taking.parts.add(message.index, message);
    if (parts === null) return;
    const { header, state } = parts[0]!;
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    taking.arrived = { header, state, bytes };
    for (const thread of taking.threads.splice(0)) this.#ports.receivers.giveBack(thread);
    this.#ports.news(rank, number, { kind: "arrived", bytes });
  }

  /** The clone begins: nothing is kept of it here. Null: it has not arrived. */
  filled(rank: number, number: number): FilledClone | null {
    const taking = this.#taking.get(rank);
    if (taking?.number !== number || taking.arrived === null) return null;
    this.#taking.delete(rank);
    return { ...taking.arrived, memory: taking.memory };
  }

  /** There will be no clone from that process, or of it. */
  drop(rank: number): void {
    const wasGiving = this.#giving.size > 0;
    for (const all of [this.#giving, this.#taking]) {
      const threads = all.get(rank)?.threads ?? [];
      all.delete(rank);
      for (const thread of threads) void thread.terminate();
    }
    if (wasGiving && this.#giving.size === 0) this.#ports.giving(false);
  }
}

/** Rounds of lanes that ran side by side. */
function together(lanes: readonly (readonly CopiedRound[])[]): CopiedRound[] {
  const count = Math.max(...lanes.map(({ length }) => length));
  return Array.from({ length: count }, (_, round) => {
    const all = lanes.flatMap((lane) => lane[round] ?? []);
    return { pages: all.reduce((sum, { pages }) => sum + pages, 0), ms: Math.max(...all.map(({ ms }) => ms)) };
  });
}

const tell = (thread: Worker, message: ToSender): void => thread.postMessage(message);

function listen<Message>(
  thread: Worker,
  heard: (message: Message | { readonly kind: "failed"; readonly problem: string }) => void,
): void {
  thread.on("message", heard);
  thread.on("error", ({ message }: Error) => heard({ kind: "failed", problem: message }));
  // It does not keep the node alive.
  thread.unref();
}
