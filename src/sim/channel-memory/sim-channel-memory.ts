/** Channel memories in a simulated world, beside what stands in its processes. Their part for the job is the one that ships. */
import {
  type ChannelMemoryOptions,
  ChannelMemoryProtocol,
} from "../../core/ft/channel-memory/channel-memory-protocol.ts";
import { type MemoryLimits, memoryOf } from "../../core/ft/channel-memory/limits.ts";
import { ChannelMemoryJob, type MarkedWords } from "../../core/ft/channel-memory/memory-job.ts";
import type { NewProtocol, ProtocolPorts } from "../../core/ft/protocol.ts";
import { membersBySet } from "../../core/ft/sets.ts";
import type { Random } from "../random.ts";
import type { PartsPorts } from "../recovery/protocol-parts.ts";
import type { JudgedParts } from "../recovery/recovering-run.ts";
import { SimClient } from "../service-channel/sim-client.ts";
import { SimMemoryProcess, simUnsaidWordsMax } from "./sim-memory.ts";

export interface SimChannelMemoryOptions {
  readonly setOf: readonly number[];
  readonly random: Random;
  readonly delayNsMax: number;
  readonly restartNs: number;
  readonly memories: number;
  readonly limits: MemoryLimits;
  readonly bytesMax: number;
  readonly itemsMax: number;
  readonly segmentWordsMax: number;
  readonly powerCuts: "none" | "synced" | "unsynced";
  /** Words on their way from a rank at most. */
  readonly outgoingWordsMax: number;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: ChannelMemoryOptions, ports: ProtocolPorts) => ChannelMemoryProtocol) | undefined;
}

/** One life of a rank. */
interface Life {
  readonly rank: number;
  readonly clients: readonly SimClient[];
  /** It is taken for dead, and lives. */
  isSuspect: boolean;
}

export class SimChannelMemory implements JudgedParts {
  readonly rare = { memoryLost: 0, memoryCrashed: 0, writeTorn: 0, readAgain: 0, foundAgain: 0, segmentsDropped: 0 };
  readonly memories: readonly SimMemoryProcess[];
  readonly #options: SimChannelMemoryOptions;
  readonly #ports: PartsPorts;
  readonly #members: readonly (readonly number[])[];
  /** By rank. */
  readonly #lives: Life[];
  readonly #suspects: Life[] = [];
  job: ChannelMemoryJob;

  constructor(options: SimChannelMemoryOptions, ports: PartsPorts) {
    const { setOf, memories } = options;
    this.#options = options;
    this.#ports = ports;
    this.#members = membersBySet([...setOf]);
    this.memories = Array.from({ length: memories }, (_, number) => this.#newMemory(number));
    this.#lives = Array.from(setOf, (_, rank) => this.#newLife(rank, 0));
    this.job = this.#newJob();
  }

  #newMemory(number: number): SimMemoryProcess {
    const { setOf, memories } = this.#options;
    const isHome = (rank: number): boolean => memoryOf(rank, memories) === number;
    return new SimMemoryProcess(
      { ...this.#options, ranks: setOf.length, isHome },
      {
        nowNs: () => this.#ports.nowNs(),
        plan: (timeNs, act) => this.#ports.plan(timeNs, act),
        ready: () => {
          for (const { clients } of [...this.#lives, ...this.#suspects]) clients[number]!.connect();
        },
      },
    );
  }

  #newLife(rank: number, incarnation: number): Life {
    const { random, delayNsMax, outgoingWordsMax } = this.#options;
    const wake = (): void => this.#ports.wake(rank);
    const clients = this.memories.map(
      ({ service }) =>
        new SimClient(
          service,
          {
            client: rank,
            incarnation,
            retention: "until-acknowledged",
            outgoingWordsMax,
            incomingWordsMax: outgoingWordsMax,
            unsaidWordsMax: simUnsaidWordsMax,
            sendsItself: true,
            random,
            delayNsMax,
          },
          {
            nowNs: () => this.#ports.nowNs(),
            plan: (ns, act) => this.#ports.plan(ns, act),
            settled: wake,
            moved: wake,
          },
        ),
    );
    return { rank, clients, isSuspect: false };
  }

  #newJob(): ChannelMemoryJob {
    return new ChannelMemoryJob(this.#members, this.#ports.job);
  }

  dispatcherCrashed(): void {
    this.job = this.#newJob();
  }

  beginAll(): void {
    for (const { clients } of this.#lives) for (const client of clients) client.connect();
  }

  lose(_service: unknown, keepsContents = false): void {
    const memory = this.#options.random.pick(this.memories);
    this.rare.memoryLost++;
    if (keepsContents) memory.cut();
    else memory.crash();
  }

  loseAll(): void {
    this.rare.memoryLost += this.memories.length;
    for (const memory of this.memories) memory.switchOff();
  }

  isLegitimateEnd(): boolean {
    return false;
  }

  /** At the end of a world. */
  count(): void {
    for (const { crashes, store, foundAgain } of this.memories) {
      this.rare.memoryCrashed += crashes.all;
      this.rare.writeTorn += crashes.torn;
      this.rare.readAgain += store.reads;
      this.rare.foundAgain += foundAgain;
      this.rare.segmentsDropped += store.dropped;
    }
  }

  // Processes

  newProtocol(rank: number): NewProtocol {
    const { newProtocol, limits } = this.#options;
    const life = this.#lives[rank]!;
    const marked = (checkpoint: number): void => {
      const words: MarkedWords = { kind: "marked", checkpoint };
      if (!life.isSuspect) this.#ports.say(rank, words);
    };
    const options = { ends: life.clients.map(({ end }) => end), limits, marked };
    return (ports) => newProtocol?.(options, ports) ?? new ChannelMemoryProtocol(options, ports);
  }

  crashed(rank: number): void {
    const life = this.#lives[rank]!;
    if (!life.isSuspect) fall(life);
  }

  disowned(ranks: readonly number[]): void {
    for (const rank of ranks) {
      const life = this.#lives[rank]!;
      life.isSuspect = true;
      this.#suspects.push(life);
    }
  }

  endSuspects(): void {
    for (const life of this.#suspects) fall(life);
  }

  begin(set: number, incarnation: number): void {
    for (const rank of this.#members[set]!) {
      const before = this.#lives[rank]!;
      if (!before.isSuspect) fall(before);
      const life = this.#newLife(rank, incarnation);
      this.#lives[rank] = life;
      for (const client of life.clients) client.connect();
    }
  }

  /** Ranks tell their memories themselves. */
  trimmed(): void {}
}

function fall({ clients }: Life): void {
  for (const client of clients) client.fall();
}
