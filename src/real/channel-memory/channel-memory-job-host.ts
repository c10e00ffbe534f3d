/** The part of channel memories for the whole job, in a real one: the core `ChannelMemoryJob`, and the processes of the memories. */
import { join } from "node:path";
import { secondsText } from "../../core/base/amounts.ts";
import type { Service } from "../../core/fault/plan.ts";
import { ChannelMemoryJob } from "../../core/ft/channel-memory/memory-job.ts";
import { memoriesOf } from "../../core/ft/channel-memory/options.ts";
import type { ChannelMemoryJobReport } from "../../core/ft/channel-memory/report.ts";
import type { ChannelMemoryNodeSetup, MemoryIsAt } from "../../core/ft/channel-memory/shapes.ts";
import { isForDisk } from "../../core/ft/durable-option.ts";
import { membersBySet } from "../../core/ft/sets.ts";
import type { JobPartHost, JobPartHostPorts, JobPartSetup } from "../part-hosts/job-part-host.ts";
import { MemoryProcess } from "./memory-process.ts";

/** When all is over the memories are asked for so long how much they were given. */
const lastAnswerMsMax = 500;

/** The folder of a memory in the job's. */
const segmentsIn = (folder: string, memory: number): string => join(folder, `memory-${memory}`);

export class ChannelMemoryJobHost implements JobPartHost {
  readonly part: JobPartHost["part"];
  readonly #core: ChannelMemoryJob;
  readonly #memories: readonly MemoryProcess[];
  readonly #ports: JobPartHostPorts;
  /** Memories that found no room on the disk when they were last lost. */
  readonly #full = new Set<number>();
  /** Fault plans kill one after the other. */
  #kills = 0;

  constructor(setup: JobPartSetup, ports: JobPartHostPorts) {
    const { setOf, options } = setup;
    this.#ports = ports;
    const core = new ChannelMemoryJob(membersBySet(setOf), ports);
    this.#core = core;
    this.part = {
      prepare: (next) => {
        core.prepare(next);
        // Behind what the dispatcher is doing: it may fall again meanwhile.
        setImmediate(() => core.tick());
      },
      mayCommit: (set, position) => core.mayCommit(set, position),
      committed: (set, oldest) => core.committed(set, oldest),
      rankSaid: (rank, words) => core.rankSaid(rank, words),
    };
    this.#memories = Array.from({ length: memoriesOf(options) }, (_, memory) => this.#newMemory(setup, memory));
  }

  #newMemory({ setOf, options, job, host, patience, folder }: JobPartSetup, memory: number): MemoryProcess {
    const facts = { memory, memories: memoriesOf(options), ranks: setOf.length, isForDisk: isForDisk(options) };
    const ports = this.#ports;
    return new MemoryProcess(
      { ...facts, job, host, patience, folder: segmentsIn(folder, memory) },
      {
        ready: (address) => ports.toNodes({ memory, address } satisfies MemoryIsAt),
        lost: ({ silentMs, isFull }) => {
          const how = silentMs === null ? "was lost" : `gave no sign of life for ${secondsText(silentMs)}`;
          // Every process that takes the place of another meets the same disk.
          const isKnown = isFull && this.#full.has(memory);
          if (isFull) this.#full.add(memory);
          else this.#full.delete(memory);
          const what = isFull ? "finds no room on the disk" : how;
          if (!isKnown) ports.note(`memory ${memory} ${what}; another takes its place`);
        },
        unable: (why) => ports.unusable(`Cannot use memory ${memory}: ${why}`),
      },
    );
  }

  forNode(): ChannelMemoryNodeSetup {
    return { memories: this.#memories.length };
  }

  nodeStarted(node: number): void {
    for (const [memory, { address }] of this.#memories.entries()) {
      if (address !== null) this.#ports.toNode(node, { memory, address } satisfies MemoryIsAt);
    }
  }

  allBegan(): void {}

  tick(_nowMs: number, stepMs: number): void {
    this.#core.tick();
    for (const memory of this.#memories) memory.tick(stepMs);
  }

  kill(service: Service): boolean {
    return service === "memory" && this.#memories[this.#kills++ % this.#memories.length]!.kill();
  }

  async end(): Promise<void> {
    await Promise.race([
      Promise.all(this.#memories.map((memory) => memory.lastAmounts())),
      new Promise<void>((resolve) => setTimeout(resolve, lastAnswerMsMax)),
    ]);
    await Promise.all(this.#memories.map((memory) => memory.end()));
  }

  get report(): ChannelMemoryJobReport {
    return {
      memories: this.#memories.map(({ amounts }) => amounts),
      memoryRestarts: this.#memories.reduce((sum, { losses }) => sum + losses, 0),
    };
  }
}
