/** The events of a job, for the program that called `launch`. */

import type { RecoveryTimes } from "../../../core/service/losses.ts";
import type { Reason } from "../../../core/service/outcome.ts";
import type { CheckpointTimes } from "../../../core/service/set-checkpoints.ts";
import type { Stream } from "../../messages/lines.ts";
import type { RankStanding } from "./whereabouts-table.ts";

/** Every rank has begun to run the program. */
interface StartedEvent {
  readonly kind: "started";
  readonly ranks: number;
  readonly nodes: number;
  /** Process ids of the nodes. */
  readonly pids: readonly number[];
  readonly afterMs: number;
}
/** A rank printed a line. Not given for a stream that the job writes elsewhere (`stdout`, `stderr` in the options). */
export interface LineEvent {
  readonly kind: "line";
  /** Null: the line came from the process of a node, past its ranks. Spawned processes have numbers behind the job's ranks. */
  readonly rank: number | null;
  readonly stream: Stream;
  /** Lines of a rank's stream are numbered from 0. */
  readonly number: number;
  /** Without the line end. */
  readonly text: string;
  /** False: more of this line may follow, in another event with the same number. */
  readonly ended: boolean;
}
/** A rank has reached the end of its program. */
interface RankEndedEvent {
  readonly kind: "rank-ended";
  readonly rank: number;
  readonly node: number;
  readonly afterMs: number;
}
/** Something went wrong: which rank or node, why, and when. `none` ends the job at the first. */
interface FailedEvent {
  readonly kind: "failed";
  readonly reason: Exclude<Reason, { kind: "finished" | "frozen" }>;
  /** One sentence for people. */
  readonly message: string;
  /** What else the program's error says: the other lines of its message, what caused it. */
  readonly details: readonly string[];
  /** Where in the program, innermost first. */
  readonly frames: readonly string[];
  readonly afterMs: number;
}
/** A node is gone, and another takes its place: the job goes on. */
interface NodeLostEvent {
  readonly kind: "node-lost";
  readonly node: number;
  readonly ranks: readonly number[];
  /** One sentence for people. */
  readonly message: string;
  readonly afterMs: number;
}
/** The thread of a rank is gone, and another takes its place in the same node: the job goes on. */
interface RankLostEvent {
  readonly kind: "rank-lost";
  readonly rank: number;
  readonly node: number;
  /** One sentence for people. */
  readonly message: string;
  readonly afterMs: number;
}
/** Ranks go on in other places. Where nothing is kept of the lost, all ranks of the job have begun again, in new processes. */
export interface MovedEvent {
  readonly kind: "moved";
  /** Those that were to be moved, and their node now. */
  readonly ranks: readonly number[];
  readonly node: number;
  /** From the order until all ranks went on; of ranks that were moved alone, from their end in the old place. */
  readonly stoodMs: number;
  /** Process ids of the nodes. */
  readonly pids: readonly number[];
  /** One sentence for people. */
  readonly message: string;
  readonly afterMs: number;
}
/** A checkpoint of a set counts from now on. */
export interface CheckpointEvent extends CheckpointTimes {
  readonly kind: "checkpoint";
  readonly afterMs: number;
}
/** All ranks of a loss have come as far as they were. */
interface RecoveredEvent extends RecoveryTimes {
  readonly kind: "recovered";
  readonly afterMs: number;
}
/** Nothing has failed, but the user should know: nodes that cannot reach each other. */
interface NoteEvent {
  readonly kind: "note";
  readonly message: string;
}
/** The job waits until enough nodes have joined. */
interface GatheringEvent {
  readonly kind: "gathering";
  /** How many have, and how many must. When all have the job begins. */
  readonly joined: number;
  readonly wanted: number;
  readonly afterMs: number;
}
/** A program in C is compiled, or taken from the cache. */
interface CompilingEvent {
  readonly kind: "compiling";
  /** The name of the file. */
  readonly program: string;
}
/** The output of the compiler for a program in C, as printed: warnings, or the reason of a refusal. */
interface CompilerEvent {
  readonly kind: "compiler";
  readonly text: string;
}
/** Where the ranks are: somebody asked, or the job was interrupted, or its time was over. */
export interface WhereaboutsEvent {
  readonly kind: "whereabouts";
  readonly ranks: readonly RankStanding[];
  /** The same for people, line by line; the first has the headings. */
  readonly table: readonly string[];
  readonly afterMs: number;
}
/** The last event: every process of the job is gone. */
interface EndedEvent {
  readonly kind: "ended";
  readonly code: number;
  readonly afterMs: number;
}
export type JobEvent =
  | StartedEvent
  | LineEvent
  | RankEndedEvent
  | FailedEvent
  | NodeLostEvent
  | RankLostEvent
  | MovedEvent
  | CheckpointEvent
  | RecoveredEvent
  | NoteEvent
  | GatheringEvent
  | CompilingEvent
  | CompilerEvent
  | WhereaboutsEvent
  | EndedEvent;
