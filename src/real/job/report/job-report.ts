/** The events of a job for the program that launched it: sentences for people, with times since the start. */
import { secondsText } from "../../../core/base/amounts.ts";
import type { ProcessName } from "../../../core/base/identity.ts";
import type { ProtocolReport } from "../../../core/ft/definition.ts";
import type { RecoveryTimes } from "../../../core/service/losses.ts";
import type { Reason } from "../../../core/service/outcome.ts";
import type { RecoveryReport } from "../../../core/service/recovery.ts";
import type { CheckpointTimes } from "../../../core/service/set-checkpoints.ts";
import { describeFailure, detailsOf, framesOf } from "./failure-text.ts";
import type { MovedEvent, WhereaboutsEvent } from "./job-event.ts";
import { JobEventQueue } from "./job-event-queue.ts";
import { ProcessNames } from "./process-names.ts";
import { type RankStanding, whereaboutsTable } from "./whereabouts-table.ts";

/** The losses and restarts of a job in which lost ranks are started again. */
export interface JobRecoveryReport extends RecoveryReport {
  /** Nodes that were lost and started again. */
  readonly restarts: number;
  /** How often ranks were moved to other nodes. */
  readonly moves: number;
}

/** What a running job has done, and does. */
export interface JobProgress {
  /** Sent between ranks of the same node so far, those of the runtime too. Heard a few times a second. */
  readonly messages: number;
  /** A rank waits for standard input. */
  readonly asksForInput: boolean;
}

/** Processes are lost. */
type LostRanks = Extract<Reason, { kind: "node-failed" | "rank-failed" }>;

/** How a job ended. */
export interface JobResult {
  /** 0, or the code of what ended the job. */
  readonly code: number;
  /** The value that rank 0 gave to `mpi.result`, if any. */
  readonly result: unknown;
  readonly reason: Reason;
  /** From the start until everything was gone. */
  readonly afterMs: number;
  /** Null: under this protocol nothing that is lost is started again. */
  readonly recovery: JobRecoveryReport | null;
  /** Of the protocol; its page says what is in it. */
  readonly protocol: ProtocolReport;
  /** The same in words: parts of a sentence. */
  readonly summary: readonly string[];
}

export class JobReport {
  readonly events = new JobEventQueue();
  readonly startMs = performance.now();
  readonly names: ProcessNames;

  /** `players`: by process, where several play a rank. */
  constructor(players: readonly ProcessName[] | null) {
    this.names = new ProcessNames(players);
  }

  get elapsedMs(): number {
    return performance.now() - this.startMs;
  }

  started(size: { readonly ranks: number; readonly nodes: number }, pids: readonly number[]): void {
    this.events.push({ kind: "started", ...size, pids, afterMs: this.elapsedMs });
  }

  moved({
    node,
    ranks,
    emptied,
    ...how
  }: Omit<MovedEvent, "kind" | "message" | "afterMs"> & { emptied: number | null }): void {
    const who = `${this.names.listed(ranks)} ${ranks.length === 1 ? "is" : "are"} on node ${node} now, in another process`;
    const gone = emptied === null ? "" : `; the node that had been ${emptied} is gone, those behind it count one less`;
    const message = `${who}; all ranks stood still for ${secondsText(how.stoodMs)}${gone}`;
    this.events.push({ kind: "moved", ranks, node, ...how, message, afterMs: this.elapsedMs });
  }

  /** The same where all others have gone on. */
  movedAlone({
    node,
    ranks,
    emptied,
    ...how
  }: Omit<MovedEvent, "kind" | "message" | "afterMs"> & { emptied: number | null }): void {
    const isOne = ranks.length === 1;
    const who = `${this.names.listed(ranks)} ${isOne ? "is" : "are"} on node ${node} now`;
    const gone = emptied === null ? "" : `; node ${emptied} has no ranks any more, and is gone`;
    const message = `${who}; ${isOne ? "it" : "they"} stood still for ${secondsText(how.stoodMs)}${gone}`;
    const played = ranks.map((process) => this.names.rankOf(process));
    this.events.push({ kind: "moved", ranks: played, node, ...how, message, afterMs: this.elapsedMs });
  }

  note(message: string): void {
    this.events.push({ kind: "note", message });
  }

  gathering(joined: number, wanted: number): void {
    this.events.push({ kind: "gathering", joined, wanted, afterMs: this.elapsedMs });
  }

  compiling(program: string): void {
    this.events.push({ kind: "compiling", program });
  }

  /** The compiler's output, if any. */
  compiled(text: string | undefined): void {
    if (text !== undefined && text !== "") this.events.push({ kind: "compiler", text });
  }

  whereabouts(ranks: readonly RankStanding[]): WhereaboutsEvent {
    const table = whereaboutsTable(ranks, this.names);
    return { kind: "whereabouts", ranks, table, afterMs: this.elapsedMs };
  }

  rankEnded(rank: number, node: number): void {
    this.events.push({ kind: "rank-ended", rank, node, afterMs: this.elapsedMs });
  }

  committed(times: CheckpointTimes): void {
    this.events.push({ kind: "checkpoint", ...times, afterMs: this.elapsedMs });
  }

  recovered(times: RecoveryTimes): void {
    this.events.push({ kind: "recovered", ...times, afterMs: this.elapsedMs });
  }

  /** A failure after which the lost ranks begin again. `isElsewhere`: a lost node's may do so on another one. */
  replaced(reason: Reason, afterMs: number, isElsewhere: boolean): void {
    const isNode = reason.kind === "node-failed";
    this.#lost(reason, afterMs, isNode && isElsewhere ? "its ranks go on elsewhere" : "it is started again");
  }

  /** A failure after which other processes play the ranks of the lost ones. */
  covered(reason: Reason, afterMs: number): void {
    this.#lost(reason, afterMs, "its ranks have other replicas, and nothing stops");
  }

  /** A failure after which nobody plays some ranks, or replicas that differ; and a checkpoint after which everything is done again. */
  goesBack(reason: Reason, afterMs: number, checkpoint: { readonly number: number; readonly ageMs: number }): void {
    const { number, ageMs } = checkpoint;
    const back = `the job goes back to checkpoint ${number}, ${secondsText(ageMs)} ago`;
    if (reason.kind === "unusable") {
      this.note(`${reason.disputed}; ${back}`);
      return;
    }
    const { unplayed = [], ...loss } = reason as LostRanks;
    const ranks = `${unplayed.length === 1 ? "rank" : "ranks"} ${unplayed.join(", ")}`;
    this.#lost(loss, afterMs, `no replica of ${ranks} is left, and ${back}`);
  }

  #lost(reason: Reason, afterMs: number, what: string): void {
    if (reason.kind !== "node-failed" && reason.kind !== "rank-failed") {
      this.failed(reason, afterMs);
      return;
    }
    const { node } = reason;
    const message = `${describeFailure(reason, afterMs, this.names)}; ${what}`;
    if (reason.kind === "node-failed") {
      this.events.push({ kind: "node-lost", node, ranks: reason.ranks, message, afterMs });
    } else this.events.push({ kind: "rank-lost", rank: reason.rank, node, message, afterMs });
  }

  failed(reason: Reason, afterMs: number): void {
    if (reason.kind === "finished" || reason.kind === "frozen") return;
    this.events.push({
      kind: "failed",
      reason,
      message: describeFailure(reason, afterMs, this.names),
      details: detailsOf(reason),
      frames: framesOf(reason),
      afterMs,
    });
  }

  /** Nothing comes after it. */
  ended(code: number): void {
    this.events.push({ kind: "ended", code, afterMs: this.elapsedMs });
    this.events.end();
  }
}
