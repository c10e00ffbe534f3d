/** The threads of a node: starts them, with all that a rank must know to begin, and has the memories of their programs. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { flipMemory } from "../../core/fault/flip-memory.ts";
import type { Origin } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import { dealt } from "../../core/service/packing.ts";
import { flagsFor, setFlagsFor, unsetFlagsFor } from "../../v8/flags.ts";
import { FlagsBefore } from "../../v8/flags-before.ts";
import { rankModules } from "../c-rank/rank-modules.ts";
import { machineMs } from "../machine/machine-clock.ts";
import type { Life } from "../messages/lives.ts";
import type { Setup } from "../messages/node-messages.ts";
import { arrivals, countArrival, createNodeWords, openGate } from "../messages/node-words.ts";
import type { Folder, ProgramForm, ProgramPlace } from "../messages/program-place.ts";
import type {
  FromRank,
  NewNeighbours,
  RankCode,
  RankCompiled,
  RankEnding,
  RankSetup,
  Watch,
} from "../messages/rank-messages.ts";
import { gatesFor, type RestoreGate } from "../messages/restore-gate.ts";
import { createPlaceWords, isOverFor, type RankPlace, readPlace, type TurnWord } from "../messages/whereabouts.ts";
import { type SharedNode, turnWordOf } from "../transport/node-memory.ts";
import type { SharedHandover } from "../transport/tcp/handover.ts";
import { startCThread } from "./c-rank-thread.ts";
import type { NodeLives } from "./node-lives.ts";
import { optimiseInTime } from "./optimise-in-time.ts";
import { ProgramCode } from "./program-code.ts";
import { keepCache, loadRankCode, underPresentFlags } from "./rank-code.ts";
import { type RankInThread, RankThread, type RankThreadEvents } from "./rank-thread.ts";

/** Deep recursion in C is deep recursion here: 250 000 calls. */
const cStackMb = 16;
/** Of a C program that is compiled before it runs: 35 KB take 0.14 s of processor time. */
const aheadBytesMax = 1 << 20;
/** A rank whose thread is about to be started. */
export interface StartingRank {
  readonly rank: number;
  readonly program: ProgramPlace;
  readonly folders: readonly Folder[];
  readonly origin: Origin | null;
  /** The node's memory, as the rank's world sees it. */
  readonly memory: SharedNode;
}

/** Events of a rank's thread, for the node. */
export interface RankEvents {
  said(message: Exclude<FromRank, RankEnding | RankCompiled>): void;
  /** Its thread is gone. */
  ended(ending: Ending): void;
}

interface RankThreadsPorts {
  /** Tells this run of the job from all others. */
  readonly run: string;
  /** Which of the node's ranks it is. */
  placeOf(rank: number): number;
  /** By process of the job: which of the node's it is, −1: it is elsewhere. */
  places(): Int32Array;
  incarnationOf(rank: number): number;
  /** Where the lost are started again; null otherwise. */
  lives(): NodeLives | null;
  /** Those that have died before now and do not return, in the dispatcher's order. */
  deaths(): readonly Life[];
  /** For the host of a rank, from the protocol's part in the node. */
  partOf(rank: number): unknown;
  /** Connections to other nodes; null where no node listens: a job of one node, or one whose ranks speak through services alone. */
  handover(): SharedHandover | null;
  eventsOf(rank: number): RankEvents;
  /** The thread is there, and about to run. */
  started(thread: RankInThread): void;
}

export class RankThreads {
  /** Words of the node, see `node-words.ts`. */
  readonly words = createNodeWords();
  readonly #setup: Setup;
  readonly #ports: RankThreadsPorts;
  /** As it was loaded, and as threads get it that are started now. */
  readonly #loaded: RankCode;
  #code: RankCode;
  /** V8's flags for the program are set: other ones than those under which the code was loaded. */
  #areFlagsSet = false;
  readonly #flagsBefore = new FlagsBefore();
  /** A rank has begun to run its program. */
  #hasBegun = false;
  /** Of a program in C; null: it is not kept. */
  #programCode: ProgramCode | null = null;
  /** Is it compiled before it runs? */
  #isCompiledWhole = false;
  /** How many threads the node starts with. */
  readonly #threadsFirst: number;
  readonly #threads = new Map<number, RankInThread>();
  /** Where each rank says where it is. */
  readonly #places = new Map<number, { readonly words: SharedArrayBuffer; readonly turn: TurnWord }>();
  /** Of the ranks of a C program, by their places; those that are spawned come later. */
  readonly #programMemories: (WebAssembly.Memory | undefined)[] = [];
  /** Moments that ranks report to a fault plan. */
  #watches: readonly Watch[];

  /** Throws a `RangeError` where the first ranks' memories cannot be had. */
  constructor(setup: Setup, first: readonly number[], ports: RankThreadsPorts) {
    this.#setup = setup;
    this.#ports = ports;
    this.#watches = setup.watches;
    const isAlone = setup.placement.every((node) => node === setup.placement[0]);
    const kind = `${setup.protocol}${isAlone ? "" : "-nodes"}`;
    this.#loaded = loadRankCode(this.#isC ? "c-rank" : "rank", kind);
    this.#code = this.#loaded;
    this.#threadsFirst = this.#isC ? this.#shared(first, (rank) => rank).length : first.length;
    if (!this.#isC) return;
    this.#programMemories = first.map(() => this.newMemory());
  }

  get #isC(): boolean {
    return this.#setup.program.language === "c";
  }

  /** Undefined: it has ended. */
  get(rank: number): RankInThread | undefined {
    return this.#threads.get(rank);
  }

  /** These ranks end. One that shares its thread with a rank that does not end hears of its own death, and leaves its thread. */
  end(ranks: readonly number[]): void {
    const isOver = (rank: number): boolean => ranks.includes(rank) || !this.#threads.has(rank);
    for (const rank of ranks) {
      const thread = this.#threads.get(rank);
      if (thread?.together.every(isOver) === true) void thread.terminate();
    }
  }

  /** Of a rank of a C program; one that has ended has no memory. */
  flipBits({ rank, bits, seed }: { readonly rank: number; readonly bits: number; readonly seed: number }): void {
    const memory = this.#threads.has(rank) ? this.#programMemories[this.#ports.placeOf(rank)] : undefined;
    if (memory !== undefined) flipMemory(new Uint8Array(memory.buffer), bits, seed);
  }

  get ranks(): number[] {
    return [...this.#threads.keys()];
  }

  get all(): RankInThread[] {
    return [...this.#threads.values()];
  }

  /** Where the ranks are that have not ended. */
  get places(): RankPlace[] {
    const nowMs = machineMs();
    return this.ranks.map((rank) => {
      const { words, turn } = this.#places.get(rank)!;
      return readPlace(words, { rank, nowMs, turn });
    });
  }

  /** How many ranks have waited for others at their end for so long. */
  overFor(ms: number): number {
    const nowMs = machineMs();
    return this.ranks.filter((rank) => isOverFor(this.#places.get(rank)!.words, ms, nowMs)).length;
  }

  /** Of a rank of a C program; undefined: it has none. */
  memoryOf(rank: number): WebAssembly.Memory | undefined {
    return this.#programMemories[this.#ports.placeOf(rank)];
  }

  /**
   * New memories for ranks of a C program that are about to be started, or those that `filled` has for them; a rank that had one has another.
   * Throws a `RangeError`.
   */
  makeRoom(
    ranks: readonly number[],
    filled: (rank: number) => WebAssembly.Memory | undefined = () => undefined,
  ): NewNeighbours["neighbours"] {
    if (!this.#isC) return [];
    const room = ranks.map((rank) => ({
      place: this.#ports.placeOf(rank),
      memory: filled(rank) ?? this.newMemory(),
    }));
    for (const { place, memory } of room) this.#programMemories[place] = memory;
    return room;
  }

  /** The moments that those ranks report to a fault plan from now on. */
  watch(ranks: readonly number[], watches: readonly Watch[]): void {
    this.#watches = [...this.#watches.filter(({ rank }) => !ranks.includes(rank)), ...watches];
  }

  start(ranks: readonly StartingRank[]): void {
    const { heapMb } = this.#setup;
    if (this.#areFlagsSet) this.#code = this.#presentCode();
    if (!this.#isC) {
      for (const it of ranks) {
        this.#add(new RankThread({ setup: this.#setupOf(it, null), heapMb }, this.#eventsOf(it.rank)));
      }
      return;
    }
    const gateOf = gatesFor(ranks, (it) => this.#restoredWith(it));
    for (const together of this.#shared(ranks, ({ rank }) => rank)) {
      const options = together.map((it) => ({
        setup: this.#setupOf(it, gateOf(it)),
        events: this.#eventsOf(it.rank),
      }));
      for (const thread of startCThread(options, cStackMb)) this.#add(thread);
    }
  }

  /** Which of them share a thread: where ranks fall in sets, those of one. */
  #shared<T>(ranks: readonly T[], rankOf: (each: T) => number): T[][] {
    const { recovery, ranksPerThread } = this.#setup;
    const bySet = new Map<number, T[]>();
    for (const each of ranks) {
      const set = recovery?.setOf[rankOf(each)] ?? 0;
      bySet.set(set, [...(bySet.get(set) ?? []), each]);
    }
    return [...bySet.values()].flatMap((members) => dealt(members, ranksPerThread));
  }

  /**
   * The program is there. V8's flags for it are set when the code of all ranks is loaded, and not before: V8 takes code from a
   * cache under those flags only under which it was made, and Node's own code, which is a large part of what a thread loads,
   * comes from a cache that was made under none (25 to 35 ms a rank).
   */
  async letRun(form: ProgramForm): Promise<void> {
    // A debugger needs the baseline compiler's code.
    const isOptimised = this.#isC && !this.#setup.isDebugged;
    if (isOptimised) this.#programCode = this.#findCode();
    await arrivals(this.words, this.#threadsFirst);
    // Ranks that share a thread share its code: V8 sees as many calls there as it wants, and where most of what they do is WebAssembly, to optimise
    // sooner costs more than it gives (`poisson.c 255` with 8 ranks on 2 cores, Node 20: 1.09 s instead of 0.97).
    const optimising = this.#optimising;
    if (optimising !== "optimise as usual") setFlagsFor(optimising);
    if (this.#letsBegin) setFlagsFor("let a program begin");
    if (isOptimised) {
      setFlagsFor("run C programs");
      this.#compileAhead();
    }
    this.#areFlagsSet = true;
    openGate(this.words, form);
  }

  /** Flags change when memories travel, too. What had to be compiled anew is not compiled once more: V8 may reject it then. */
  #presentCode(): RankCode {
    return this.#loaded.isKept || this.#code === this.#loaded
      ? underPresentFlags(this.#loaded, this.#flagsBefore)
      : this.#code;
  }

  get #optimising() {
    if (!this.#isC) return "optimise early";
    if (this.#setup.ranksPerThread === 1) return "optimise C programs";
    return this.#ports.handover() === null ? "optimise as usual" : "optimise between nodes";
  }

  /** Is less of it optimised until its programs have run for a while? */
  get #letsBegin(): boolean {
    return this.#optimising === "optimise between nodes";
  }

  /** One of its ranks is about to run its program. */
  #programRuns(): void {
    if (this.#isCompiledWhole) this.#programCode?.keep();
    if (this.#letsBegin && !this.#hasBegun) optimiseInTime();
    this.#hasBegun = true;
  }

  /** Memories of its ranks begin to travel, or have left: what is new to V8 meanwhile runs once. */
  memoriesTravel(isBegin: boolean): void {
    if (isBegin) setFlagsFor("optimise late");
    else setFlagsFor(this.#optimising);
  }

  /** While threads start. */
  #findCode(): ProgramCode | null {
    const atFirst = this.#letsBegin ? (["let a program begin"] as const) : [];
    const purposes = [this.#optimising, ...atFirst, "run C programs", "compile C programs ahead"] as const;
    return ProgramCode.find(process.env, {
      file: this.#isLarge ? null : this.#setup.program.bundle.wasm,
      modules: rankModules,
      flags: purposes.flatMap((purpose) => flagsFor(purpose)),
    });
  }

  get #isLarge(): boolean {
    const program = statSync(this.#setup.program.bundle.wasm, { throwIfNoEntry: false });
    return program === undefined || program.size > aheadBytesMax;
  }

  /**
   * Threads share the code that V8 has compiled. But ranks call the same functions at the same moments, and each would compile a
   * function that is not there yet. Where several threads run the program it is compiled whole, once, by all processors; and so it is by the
   * first node of a job, to be kept for all nodes of later ones. Of a large one each compiles what it calls: no program should wait for
   * seconds for functions that are never called.
   */
  #compileAhead(): void {
    setFlagsFor("compile C programs ahead");
    if (!ProgramCode.canBeKept()) this.#programCode = null;
    const isThere = this.#programCode?.load() === true;
    const isFirst = this.#programCode !== null && this.#setup.node === 0;
    this.#isCompiledWhole = isThere || (!this.#isLarge && (isFirst || this.#threadsFirst > 1));
    if (!this.#isCompiledWhole) unsetFlagsFor("compile C programs ahead");
  }

  /** Which group goes on from images together with that rank: those that fall with it. Null: the rank has no image. */
  #restoredWith({ rank, origin }: StartingRank): number | null {
    const { recovery, thawFrom } = this.#setup;
    if (recovery === null) return origin === null && thawFrom !== "" ? 0 : null;
    const checkpoint = this.#ports.lives()?.restartOf(rank)?.checkpoint ?? 0;
    return checkpoint === 0 ? null : (recovery.setOf[rank] ?? null);
  }

  #add(thread: RankInThread): void {
    this.#threads.set(thread.rank, thread);
    this.#ports.started(thread);
  }

  #eventsOf(rank: number): RankThreadEvents {
    const events = this.#ports.eventsOf(rank);
    return {
      said: (message) => {
        if (message.kind === "compiled") {
          keepCache(this.#loaded, message);
          return;
        }
        if (message.kind === "runs") this.#programRuns();
        // That life does not come to the gate, and the others need not wait until it is ended.
        if (message.kind === "image-unreadable") countArrival(this.words);
        events.said(message);
      },
      ended: (ending) => {
        this.#threads.delete(rank);
        countArrival(this.words);
        events.ended(ending);
      },
    };
  }

  #setupOf(
    { rank, program, folders, origin, memory }: StartingRank,
    restoreGate: RestoreGate | null,
  ): Omit<RankSetup, "lines"> {
    const { ranks, replicas, hostName, placement, nodeMap, protocol, protocolOptions, seed, beganMs } = this.#setup;
    const { traceFolder, freezeTo, thawFrom, mustFreeze, isMoved, environment, terminals, isDebugged } = this.#setup;
    const whereabouts = createPlaceWords();
    const turn = this.#newTurn(rank, memory);
    this.#places.set(rank, { words: whereabouts, turn });
    return {
      code: this.#code,
      whereabouts,
      run: this.#ports.run,
      rank,
      incarnation: this.#ports.incarnationOf(rank),
      ranks,
      replicas,
      hostName,
      placement,
      nodeMap,
      origin,
      protocol,
      protocolOptions,
      protocolPart: this.#ports.partOf(rank),
      seed,
      beganMs,
      program,
      traceFile: traceFolder === "" ? "" : join(traceFolder, `${rank}.trace`),
      memory,
      places: this.#ports.places(),
      handover: this.#ports.handover(),
      words: this.words,
      programMemories: this.#programMemories,
      folders,
      environment,
      terminals,
      isDebugged,
      recovery: this.#ports.lives()?.forRank(rank) ?? null,
      deaths: this.#ports.deaths().filter((dead) => dead.rank !== rank),
      watch: this.#watches.find((watch) => watch.rank === rank) ?? null,
      // Of those that are spawned there are no images.
      freezeTo: origin === null ? freezeTo : "",
      thawFrom: origin === null ? thawFrom : "",
      mustFreeze: origin === null && mustFreeze,
      isMoved,
      restoreGate,
    };
  }

  /** An earlier life may have left its own. */
  #newTurn(rank: number, { memory, layout }: SharedNode): TurnWord {
    const process = this.#ports.placeOf(rank);
    const turn = turnWordOf({ words: new Int32Array(memory.buffer), layout, process });
    turn.words[turn.at] = 0;
    return turn;
  }

  /** For a rank of a C program. Throws a `RangeError`. */
  newMemory(): WebAssembly.Memory {
    const pages = this.#setup.memoryMb * 16;
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  }
}
