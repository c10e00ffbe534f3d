/** The options of a job, complete and checked. */

import type { Readable, Writable } from "node:stream";
import type { FaultPlan } from "../../core/fault/plan.ts";
import type { CheckpointPlan, ProtocolDefinition } from "../../core/ft/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { NodeMap } from "../../core/process/node-map.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { WorldCheckpoint } from "../../core/service/world-checkpoints.ts";
import type { Folder, ProgramForm } from "../messages/program-place.ts";
import type { TraceFile } from "../trace/trace-merge.ts";
import type { LeftByJob } from "./folder/read-resumable.ts";
import type { JoinOptions } from "./nodes/job-volunteers.ts";

/** One of several programs of a job. */
interface JobProgram {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
}

/** A job that was switched off, and goes on. */
interface Resumed extends LeftByJob {
  /** How its program is loaded, which is in the job's folder. */
  readonly form: ProgramForm;
  readonly packages: readonly string[];
  /** Does standard input begin with what was given before? */
  readonly repeatsInput: boolean;
}

/** Everything decided; defaults live in `launch.ts` and in the command. */
export interface JobOptions {
  /** Of this run of the job alone, and removed with it. */
  readonly folder: string;
  /** Absolute path. */
  readonly program: string;
  /** By which name the program knows itself, if not by its path: a thawed one had another. */
  readonly displayName?: string | undefined;
  readonly args: readonly string[];
  /** Programs of the ranks behind those of `program`, all in C (MPMD). */
  readonly others: readonly JobProgram[];
  /** Processes that the job starts with: one for each rank, unless `replicas` says otherwise. */
  readonly ranks: number;
  /** By rank: how many processes play it; null: one. */
  readonly replicas: readonly number[] | null;
  readonly nodes: number;
  /** Of each rank, and of those that it may spawn. */
  readonly placement: Placement;
  readonly nodeMap: NodeMap;
  readonly protocol: ProtocolDefinition;
  /** Values of the options that the protocol has, as far as they were given. */
  readonly protocolOptions: OptionValues;
  readonly heapMb: number;
  readonly memoryMb: number;
  /** The folders that a C program is given. */
  readonly folders: readonly Folder[];
  /** The environment of a C program; null: that of this process. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** Node i listens for others on this port + i; 0 leaves it to the system. */
  readonly port: number;
  /** The address of this machine on which the dispatcher waits for its nodes. */
  readonly host: string;
  /** A command in front of the command of each node, which runs that one; usually empty. */
  readonly nodeCommand: readonly string[];
  /** How nodes may join; null: they may not. */
  readonly join: JoinOptions | null;
  /** Nodes are sent all files of the job, even where they see those of this process. */
  readonly sendFiles: boolean;
  /** Node i waits for a debugger at this port + i; 0: none does. */
  readonly debugPort: number;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly patienceMs: number;
  /** How many ranks of a C program share a thread. */
  readonly ranksPerThread: number;
  /** The job stops this long after all ranks have begun, and images of them are written to `jobFolder`; Infinity: never. */
  readonly freezeAtMs: number;
  /** For everything of the job that outlives this run (job-folder.ts); empty: nothing does. */
  readonly jobFolder: string;
  /** Where the images are that the ranks go on from; empty: they begin at the beginning. */
  readonly thawFrom: string;
  /** Those images are of this job, which has been moved. */
  readonly isMoved: boolean;
  /** The checkpoint of one world of replicas that the job has gone back to; null: none. */
  readonly wentBack: WorldCheckpoint | null;
  /** By node: which of the processes that the job has started for nodes it is, from 1 (core/service/moved-places.ts). */
  readonly starts: readonly number[];
  /** Where the lost are started again: set of each rank, that of those which fall together; null otherwise. */
  readonly setOf: readonly number[] | null;
  readonly checkpoints: CheckpointPlan;
  /** The fault plan; null: none. */
  readonly faults: FaultPlan | null;
  /** Nodes that are taken for dead are left alive. */
  readonly keepSuspects: boolean;
  readonly trace: TraceFile | undefined;
  readonly label: boolean;
  /** Where each rank's output is written besides; empty: nowhere. */
  readonly outputFolder: string;
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Of random numbers. */
  readonly seed: number;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
  /** Null: the job begins. */
  readonly resumed: Resumed | null;
}

/** Can the job go on after all its processes were killed? */
export const isResumable = ({ jobFolder, setOf }: Pick<JobOptions, "jobFolder" | "setOf">): boolean =>
  jobFolder !== "" && setOf !== null;

/** Are images of one world of replicas taken, as the last resort? */
export const takesWorldCheckpoints = ({
  replicas,
  checkpoints,
}: Pick<JobOptions, "replicas" | "checkpoints">): boolean => replicas !== null && checkpoints.interval.kind !== "never";

/** Processes that are not there: the job has gone back to a checkpoint of the others. */
export const absentOf = ({ wentBack, ranks }: Pick<JobOptions, "wentBack" | "ranks">): readonly number[] =>
  wentBack === null
    ? []
    : Array.from({ length: ranks }, (_, process) => process).filter((process) => !wentBack.members.includes(process));
