/**
 * The part of a protocol for the whole job, in a real job: its pure part (`JobPart`) and what that needs of this machine, such as
 * processes of its own. One function of the protocol's folder in `real/` makes it (`real/protocol-parts/job-parts.ts`).
 */
import type { ProcessName } from "../../core/base/identity.ts";
import type { Service } from "../../core/fault/plan.ts";
import type { JobPart, JobPartPorts } from "../../core/ft/job-part.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { Patience } from "../../core/service/silence.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";

/** The facts of the job. */
export interface JobPartSetup {
  readonly options: OptionValues;
  /** Set of each rank: those that fall, and are captured, together. Where the lost are not started again all are in one. */
  readonly setOf: readonly number[];
  readonly nodes: number;
  /** By rank of the program: how many processes play it; null: one. */
  readonly replicas: readonly number[] | null;
  readonly language: "typescript" | "c";
  /** Of each node; of a program in C of each rank. */
  readonly memoryMb: number;
  /** The address of this machine at which nodes call the job's services. */
  readonly host: string;
  /** The secret by which nodes and services of this job know each other. */
  readonly job: JobSecret;
  /** The job's folder, for what outlives processes of the protocol's own. */
  readonly folder: string;
  /** The job goes on with what is in the folder. */
  readonly isResumed: boolean;
  /** With processes that say nothing. */
  readonly patience: Patience;
}

export interface JobPartHost {
  readonly part: Omit<JobPart, "forNode" | "tick" | "nextTimeMs">;
  /** For the protocol's part in a node that is about to start, or to restart some ranks. */
  forNode(node: number, restarting: readonly number[]): unknown;
  /** A node has been started, or another in its place. */
  nodeStarted(node: number): void;
  /** All ranks of the job have begun. */
  allBegan(): void;
  /** They have run for a while: what comes up in reserve may. Not there where nothing does. */
  prepareSpare?(): void;
  /** Called every heartbeat; so much time has passed in which the dispatcher was awake. */
  tick(nowMs: number, stepMs: number): void;
  /** For fault plans: kills a process of the protocol's own. False: that service is none of them, or is gone. */
  kill(service: Service): boolean;
  /** A process is declared dead. Not there where such parts do not care. */
  died?(name: ProcessName): void;
  /** The job is over. Fulfilled when nothing is left of it. */
  end(): Promise<void>;
  /** After the end, see `ProtocolReport`. */
  readonly report: unknown;
}

/** `prepared`, `mayCommit` and `wantCheckpoints` are for jobs that start the lost again. */
export interface JobPartHostPorts extends JobPartPorts {
  toNodes(words: unknown): void;
  /** That process is not to be trusted: it ends, which is a death like any other. */
  endProcess(name: ProcessName, life: number): void;
  /** The protocol cannot do its work: the job ends with that line. */
  unusable(message: string): void;
  /** Replicas differ, and nobody can tell who is right: the job goes back to a checkpoint, or ends with that line. `difference`: between which replicas, in which message. */
  disputed(message: string, difference: string): void;
}

export type NewJobPartHost = (setup: JobPartSetup, ports: JobPartHostPorts) => JobPartHost;
