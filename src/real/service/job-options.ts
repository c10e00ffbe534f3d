/** What a job is to be. */
import type { Readable, Writable } from "node:stream";
import type { FaultPlan } from "../../core/fault/plan.ts";
import type { Interval } from "../../core/service/checkpoint-policy.ts";
import type { Folder } from "../node/messages.ts";
import type { TraceFile } from "../trace/trace-merge.ts";
import { languageOf } from "./program-compile.ts";

/** Everything decided; defaults live in `launch.ts` and in the command. */
export interface JobOptions {
  /** Of this job alone, and removed with it. */
  readonly folder: string;
  /** Absolute path. */
  readonly program: string;
  /** By which name the program knows itself, if not by its path: a thawed one had another. */
  readonly displayName?: string | undefined;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  /** Of each rank, and of those that it may spawn. */
  readonly nodeOf: readonly number[];
  readonly protocol: string;
  readonly heapMb: number;
  readonly memoryMb: number;
  /** What a C program sees of the file system. */
  readonly folders: readonly Folder[];
  /** What a C program finds in its environment; null: what this process has. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** Node i listens for others on this port + i; 0 leaves it to the system. */
  readonly port: number;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly patienceMs: number;
  /** How many ranks of a C program share a thread. */
  readonly ranksPerThread: number;
  /** The job stops this long after all ranks have begun, and images of them are written to `jobFolder`; Infinity: never. */
  readonly freezeAtMs: number;
  readonly jobFolder: string;
  /** Where the images are that the ranks go on from; empty: they begin at the beginning. */
  readonly thawFrom: string;
  /** Under message logging: correlated set of each rank; null otherwise. */
  readonly setOf: readonly number[] | null;
  /** Under message logging: processes that keep the images of checkpoints; 0: they are kept in the job's folder. */
  readonly checkpointServers: number;
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** Under message logging: memory for each rank's payload log; 0: a quarter of the rank's. */
  readonly logMemoryMb: number;
  /** What is to go wrong; null: nothing. */
  readonly faults: FaultPlan | null;
  /** Nodes that are taken for dead are left alive. */
  readonly keepSuspects: boolean;
  readonly trace: TraceFile | undefined;
  readonly label: boolean;
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
}

/** A quarter of the rank's memory, unless given: a C program's own, in TypeScript its share of the node's. */
export function logBytesMax({ logMemoryMb, memoryMb, ranks, nodes, program }: JobOptions): number {
  const share = languageOf(program) === "c" ? memoryMb : memoryMb / Math.ceil(ranks / nodes);
  return Math.floor((logMemoryMb === 0 ? share / 4 : logMemoryMb) * 2 ** 20);
}
