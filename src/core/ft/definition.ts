/**
 * A protocol as the rest of the runtime knows it: its name and help, what it adds to the command line, what a death means under
 * it, what a job under it cannot do, and its part in each rank. `registry.ts` lists the definitions; no other file names one.
 *
 * Parts that need the machine (shared memory, sockets, processes) are in folders of the protocol's name under `real/` and
 * `sim/`. These parts speak to each other in values that only the protocol understands, and whose shapes it declares.
 */
import type { ClonedReplica, MovedReplica } from "./clones.ts";
import type { OptionValues, ProtocolOption } from "./option.ts";
import type { NewProtocol } from "./protocol.ts";
import type { ProtocolShapes } from "./protocol-shapes.ts";

/**
 * What a death means: "fatal", it ends the job; "survived", the living are told and go on; "replaced", they are told, and new
 * lives take the places of the lost ones; "covered", other processes play the rank, they are told and go on, and the death of the
 * last one that plays a rank ends the job.
 */
export type DeathPolicy = "fatal" | "survived" | "replaced" | "covered";

/** Collectives through shared memory go past the messages, and so past the protocol (rule 12). */
type BoardPolicy =
  | "always"
  /** Only where all ranks of a node fall together. */
  | "inside a set"
  | "never";

/** What a job under the protocol cannot do: the end of a sentence that says why. Null: it can. */
interface JobRefusals {
  /** MPI_Comm_spawn. */
  readonly spawn: string | null;
  /** To be stopped for another day (`--freeze-at`). */
  readonly freezing: string | null;
  /** Several ranks in one thread (`--ranks-per-thread`). */
  readonly sharedThreads: string | null;
}

/** What the check of a protocol's options knows of the job. */
export interface JobFacts {
  /** The program's file, as the user sees it. */
  readonly program: string;
  readonly language: "typescript" | "c";
  readonly ranks: number;
  readonly nodes: number;
}

/** How often the ranks of a job that can be restarted are captured, and where their images are kept. */
export interface CheckpointPlan {
  readonly interval: Interval;
  /** Processes that keep images; 0: the job's folder does. */
  readonly servers: number;
  /** Where ranks are played by several processes: all of them are captured together, and not those of one world. */
  readonly isOfAll?: boolean;
}

/** Time between two checkpoints of a set. */
export type Interval =
  | { readonly kind: "never" }
  | { readonly kind: "fixed"; readonly everyMs: number }
  /** As often as costs least. `meanTimeBetweenFailuresMs`: of the whole job; undefined: it is observed. */
  | { readonly kind: "best"; readonly meanTimeBetweenFailuresMs: number | undefined };

/** What the part of a protocol in a rank is made with. */
export interface RankPartHost {
  readonly rank: number;
  /** Which of the processes that play the rank. */
  readonly replica: number;
  readonly ranks: number;
  /** The ranks that fall and are captured together: set of each rank. Under a protocol without sets all are in one. */
  readonly setOf: Int32Array;
  readonly options: OptionValues;
  /** One number, for the observer of the rank's progress: `Protocol.callsPassed`. */
  readonly passed: Float64Array;
  /** What the host of the rank has for this protocol: of `real/<name>` or `sim/<name>`; undefined: nothing. */
  readonly resources: unknown;
}

/** Of a fault plan. */
export interface PlannedDeaths {
  /** The plan's own; null: it has none. */
  readonly seed: number | null;
  /** In the rank's n-th call, or at that time after it began; the other one is null. */
  readonly deaths: readonly { readonly rank: number; readonly call: number | null; readonly ms: number | null }[];
}

/** Bits of a message that flip on its way, by a fault plan. */
export interface PlannedFlip {
  readonly rank: number;
  readonly replica: number;
  /** Of the process's messages to other ranks, from 1. */
  readonly message: number;
  readonly bits: number;
  readonly seed: number;
}

/** What is left of a protocol when a job is over. */
export interface ProtocolReport {
  /** By rank, as far as ranks have come to their end; undefined otherwise. */
  readonly ranks: readonly unknown[];
  /** How many processes have died and did not return, and how many have come to the end of their programs. */
  readonly dead: number;
  readonly finished: number;
  /** Of its part for the job; undefined: it has none. */
  readonly job: unknown;
  /** Replicas that have come back. */
  readonly clones?: readonly ClonedReplica[] | undefined;
  /** Replicas that were moved. */
  readonly moves?: readonly MovedReplica[] | undefined;
}

export interface ProtocolDefinition {
  /** Behind `--protocol`. */
  readonly name: string;
  /** A flag of `banyan run` that chooses it as well; none unless given. */
  readonly flag?: string;
  /** A line of `--help`. */
  readonly help: string;
  /** Commands for the end of `--help`. */
  readonly examples: readonly string[];
  readonly deaths: DeathPolicy;
  readonly boards: BoardPolicy;
  /** Everything that ranks say to each other goes through services: no node listens, and outgoing connections are enough. False unless given. */
  readonly isRelayed?: boolean;
  readonly refusals: JobRefusals;
  readonly options: readonly ProtocolOption[];
  /** By rank: how many processes play it. Null: one. */
  readonly replicas: ((values: OptionValues, ranks: number) => readonly number[]) | null;
  /** Do processes that are dead, while others play their ranks, come back as clones of those? Absent: never. */
  readonly clones?: (values: OptionValues) => boolean;
  /** How many nodes are started in reserve, for clones. Absent: none. */
  readonly spares?: (values: OptionValues) => number;
  /** What is wrong with the values of its options for that job, in one line; undefined: nothing. */
  check(values: OptionValues, job: JobFacts): string | undefined;
  /**
   * Its ranks carry out these deaths of a fault plan themselves, which only the program sees: the values of its options with them. Absent: deaths
   * are real.
   */
  readonly withPlannedDeaths?: (values: OptionValues, planned: PlannedDeaths) => OptionValues;
  /** Its ranks flip these bits of messages: the values of its options with them. Absent: they cannot. */
  readonly withPlannedFlips?: (values: OptionValues, flips: readonly PlannedFlip[]) => OptionValues;
  /** Null: it takes none. */
  readonly checkpoints: ((values: OptionValues) => CheckpointPlan) | null;
  /** Null: the engine is asked nothing, and makes no call. */
  readonly rank: ((part: RankPartHost) => NewProtocol) | null;
  /** Of the values that its parts send each other; `noShapes` where they send none. */
  readonly shapes: ProtocolShapes;
  /** Parts of the sentence that sums up a job. */
  summary(report: ProtocolReport): string[];
}
