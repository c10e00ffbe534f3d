/**
 * A channel memory of a simulated world: the one that ships (core/ft/channel-memory/memory), in a process that can be lost. Ranks speak to
 * it over channels, which may break without it. One that crashes loses all that is not written, and may crash in the middle of a write;
 * its successor reads what is there.
 */
import { assert } from "../../core/base/assert.ts";
import type { MemoryLimits } from "../../core/ft/channel-memory/limits.ts";
import { ChannelMemory } from "../../core/ft/channel-memory/memory/channel-memory.ts";
import { MemorySegments } from "../../core/ft/channel-memory/memory/memory-segments.ts";
import type { SegmentStore } from "../../core/ft/channel-memory/memory/segment-store.ts";
import { StoredHomes } from "../../core/ft/channel-memory/memory/stored-homes.ts";
import type { Random } from "../random.ts";
import { SimService } from "../service-channel/sim-service.ts";

interface SimMemoryOptions {
  readonly random: Random;
  readonly delayNsMax: number;
  readonly restartNs: number;
  readonly ranks: number;
  readonly limits: MemoryLimits;
  /** Bounds that are far below the traffic. */
  readonly bytesMax: number;
  readonly itemsMax: number;
  readonly segmentWordsMax: number;
  /** A job that is switched off has had a power cut. "unsynced": and its memories sync nothing, which must be noticed. */
  readonly powerCuts: "none" | "synced" | "unsynced";
  isHome(rank: number): boolean;
}

interface SimMemoryPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** It can be reached, perhaps another process of it. */
  ready(): void;
}

/** A process of it; `remains`: of one that is lost in the middle of a write, what it thinks that it has written. */
interface Present {
  isLost: boolean;
  remains: MemorySegments | null;
}

/** Small, so that memories wait for ranks to take words. */
const outgoingWordsMax = 1 << 9;
/** Of both ends: seldom reached, so that a rank that waits for an acknowledgement has to ask. */
export const simUnsaidWordsMax = 1 << 7;

export class SimMemoryProcess {
  readonly service: SimService;
  readonly store: MemorySegments;
  /** How often it crashed, and in the middle of a write. */
  readonly crashes = { all: 0, torn: 0 };
  readonly #options: SimMemoryOptions;
  readonly #ports: SimMemoryPorts;
  #memory!: ChannelMemory;
  #homes: StoredHomes | null = null;
  #foundBefore = 0;

  constructor(options: SimMemoryOptions, ports: SimMemoryPorts) {
    this.#options = options;
    this.#ports = ports;
    this.store = new MemorySegments(options.powerCuts !== "unsynced");
    this.service = new SimService(options, {
      nowNs: () => ports.nowNs(),
      plan: (timeNs, act) => ports.plan(timeNs, act),
      ready: () => ports.ready(),
      begin: (isSuccessor, move) => this.#begin(isSuccessor, move),
    });
  }

  get memory(): ChannelMemory {
    return this.#memory;
  }

  /** How often a process of it found a message or an event that was not in its memory. */
  get foundAgain(): number {
    return this.#foundBefore + (this.#homes?.reader.found ?? 0);
  }

  #begin(isSuccessor: boolean, move: (client: number) => void): ChannelMemory {
    const { ranks, limits, bytesMax, itemsMax, segmentWordsMax } = this.#options;
    const process: Present = { isLost: false, remains: null };
    this.#present.isLost = true;
    this.#present = process;
    const mayEndDamaged = this.#options.powerCuts !== "none";
    const options = { store: this.#storeOf(process), bytesMax, itemsMax, segmentWordsMax, mayEndDamaged };
    const homes = isSuccessor ? StoredHomes.restored(this.store.written(), options) : StoredHomes.empty(options);
    assert(typeof homes !== "string", `a successor cannot read what was written: ${homes}`);
    const isHome = (rank: number): boolean => this.#options.isHome(rank);
    this.#foundBefore = this.foundAgain;
    this.#homes = homes;
    this.#memory = new ChannelMemory(
      { ranks, limits, outgoingWordsMax, unsaidWordsMax: simUnsaidWordsMax, isHome },
      homes,
      move,
    );
    return this.#memory;
  }

  #present: Present = { isLost: false, remains: null };

  /** A process that is lost writes no more, though what it was doing goes on here until it returns, with a store that nobody else sees. */
  #storeOf(process: Present): SegmentStore {
    const present = (): MemorySegments | null => (process.isLost ? process.remains : this.store);
    return {
      begin: (segment) => present()?.begin(segment),
      append: (parts) => {
        const remains = process.isLost || !this.store.willTear ? null : this.store.copy();
        present()?.append(parts);
        if (remains === null || !process.isLost) return;
        process.remains = remains;
        remains.append(parts);
      },
      read: (segment, at, into) => present()?.read(segment, at, into),
      cut: (segment, byte) => present()?.cut(segment, byte),
      drop: (segment) => present()?.drop(segment),
    };
  }

  /** Ranks cannot reach it for a while. It loses nothing. */
  cut(): void {
    this.service.cut();
  }

  crash(): void {
    const { random, delayNsMax } = this.#options;
    if (random.chance(0.5)) {
      this.#crashNow();
      return;
    }
    const takeBack = this.store.tearNext(random.below(1000) / 1000, () => {
      this.crashes.torn++;
      this.#crashNow();
    });
    this.#ports.plan(this.#ports.nowNs() + delayNsMax, () => {
      if (takeBack()) this.#crashNow();
    });
  }

  /** With everything else. */
  switchOff(): void {
    const { random, powerCuts } = this.#options;
    if (powerCuts === "none") this.crash();
    else {
      const garbage = Uint8Array.from({ length: random.pick([0, 0, 5, 100]) }, () => random.below(256));
      this.store.powerCut(random.below(1001) / 1000, garbage);
      this.#crashNow();
    }
  }

  #crashNow(): void {
    this.crashes.all++;
    this.service.crash(() => {});
  }
}
