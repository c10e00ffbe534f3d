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

/** Small, so that memories wait for ranks to take words. */
const outgoingWordsMax = 1 << 9;

export class SimMemoryProcess {
  readonly service: SimService;
  readonly store: MemorySegments;
  /** How often it crashed, and in the middle of a write. */
  readonly crashes = { all: 0, torn: 0 };
  readonly #options: SimMemoryOptions;
  readonly #ports: SimMemoryPorts;
  #memory!: ChannelMemory;

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

  #begin(isSuccessor: boolean, move: (client: number) => void): ChannelMemory {
    const { ranks, limits, bytesMax, segmentWordsMax } = this.#options;
    const process = { isLost: false };
    this.#present.isLost = true;
    this.#present = process;
    const mayEndDamaged = this.#options.powerCuts !== "none";
    const options = { store: this.#storeOf(process), bytesMax, segmentWordsMax, mayEndDamaged };
    const homes = isSuccessor ? StoredHomes.restored(this.store.written(), options) : StoredHomes.empty(options);
    assert(typeof homes !== "string", `a successor cannot read what was written: ${homes}`);
    const isHome = (rank: number): boolean => this.#options.isHome(rank);
    this.#memory = new ChannelMemory({ ranks, limits, outgoingWordsMax, isHome }, homes, move);
    return this.#memory;
  }

  #present = { isLost: false };

  /** A process that is lost writes no more, though what it was doing goes on here until it returns. */
  #storeOf(process: { readonly isLost: boolean }): SegmentStore {
    const { store } = this;
    return {
      begin: (segment) => {
        if (!process.isLost) store.begin(segment);
      },
      append: (words) => {
        if (!process.isLost) store.append(words);
      },
      read: (segment, at, into) => {
        if (!process.isLost) store.read(segment, at, into);
      },
      cut: (segment, byte) => {
        if (!process.isLost) store.cut(segment, byte);
      },
      drop: (segment) => {
        if (!process.isLost) store.drop(segment);
      },
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
