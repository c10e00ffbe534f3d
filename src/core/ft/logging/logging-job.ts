/**
 * Message logging's part for the whole job: the conversation with the event log. A set that has fallen gets its stream of
 * determinants from there, and the event log refuses words of the old life from then on (rule 7); a checkpoint counts when
 * the event log has all that was decided before it, because a restart replays from there.
 *
 * Pure. The host has the event log: `fence`, `askEnd` and `trim` are questions and orders to it, answered in their order by `fenced`
 * and `endIs`.
 */
import { assert } from "../../base/assert.ts";
import type { Checkpoint } from "../checkpoint.ts";
import type { JobPart, JobPartPorts, NextLife } from "../job-part.ts";
import type { SentInSet, SetSplit } from "../set-split.ts";

interface LoggingJobOptions {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  /** Are checkpoints taken by the programs alone? */
  readonly programsTakeCheckpoints: boolean;
  /** Until the event log is asked again how far it has come; five milliseconds unless given. */
  readonly againMs?: number | undefined;
}

export interface EventLogPort {
  /** The set has fallen, and that life of it begins: its stream is wanted from that position on. */
  fence(set: number, incarnation: number, from: number): void;
  /** Where does its stream end? */
  askEnd(set: number): void;
  /** Nothing of its stream before that position is needed any more. */
  trim(set: number, below: number): void;
}

/** Nodes hear nothing from here: where the event log is, its host tells them. */
type LoggingJobPorts = Omit<JobPartPorts, "toNode">;

/** For the protocol of each rank that begins again. */
interface LoggingRestart {
  /** The determinants of its set since the checkpoint. */
  readonly log: Int32Array;
  readonly setOf: readonly number[];
  /** What ranks had sent each other that were of one set until that checkpoint. */
  readonly parted: readonly SentInSet[];
}

/** The words of a set's stream since the oldest image that may be restored. */
export interface KnownStream {
  readonly set: number;
  readonly from: number;
  readonly words: Int32Array;
}

/** For the node of ranks that begin again. */
export interface LoggingNodePart {
  /** Of their sets. */
  readonly streams: readonly KnownStream[];
}

/** The memory of a rank's payload log was short, and most of it is kept for these sets. */
export interface LogFullWords {
  readonly kind: "log-full";
  readonly sets: readonly number[];
}

const againMsDefault = 5;

export class LoggingJob implements JobPart {
  readonly #options: LoggingJobOptions;
  readonly #log: EventLogPort;
  readonly #ports: LoggingJobPorts;
  /** Lives that wait for their streams, by set. */
  readonly #fencing = new Map<number, NextLife>();
  /** Streams of sets that have fallen, and the members whose nodes do not have them yet. */
  readonly #streams = new Map<number, { readonly stream: KnownStream; readonly missing: Set<number> }>();
  /** Checkpoints that wait for the event log, by set: where they were, and when it is asked again (null: it has been). */
  readonly #waiting = new Map<number, { readonly position: number; askMs: number | null }>();
  /** The end of a set's stream, as long as the checkpoint of the set is told of it. */
  readonly #ends = new Map<number, number>();
  /** Sets from which a rank has been taken. */
  readonly #splits: SetSplit[] = [];
  /** Sets that have a checkpoint that counts. */
  readonly #committed = new Set<number>();
  #hasWarned = false;

  constructor(options: LoggingJobOptions, log: EventLogPort, ports: LoggingJobPorts) {
    this.#options = options;
    this.#log = log;
    this.#ports = ports;
  }

  // Lives

  prepare(next: NextLife): void {
    const { set, incarnation, oldest } = next;
    this.#waiting.delete(set);
    this.#streams.delete(set);
    this.#fencing.set(set, next);
    this.#log.fence(set, incarnation, oldest.position);
  }

  /** The stream that `fence` asked for; null: the event log has lost a part of it. */
  fenced(set: number, incarnation: number, words: Int32Array | null): void {
    const next = this.#fencing.get(set);
    // The set has fallen again since.
    if (next?.incarnation !== incarnation) return;
    this.#fencing.delete(set);
    const members = this.#membersOf(set);
    if (words === null) {
      const ranks = `rank${members.length === 1 ? "" : "s"} ${members.join(", ")}`;
      const problem = `Cannot start ${ranks} again: the event logger was lost with what they had chosen`;
      this.#ports.prepared(set, incarnation, { problem });
      return;
    }
    const from = next.oldest.position;
    this.#streams.set(set, { stream: { set, from, words }, missing: new Set(members) });
    const log = words.subarray((next.newest.position - from) | 0);
    const forRanks: LoggingRestart = { log, setOf: this.#options.setOf, parted: this.#partedIn(next) };
    this.#ports.prepared(set, incarnation, { forRanks });
  }

  /** A rank is a set of its own from a checkpoint on that both have. Said before they fall. */
  split(split: SetSplit): void {
    this.#splits.push(split);
  }

  /** Lives that begin with the checkpoint at which their set was split. */
  #partedIn({ set, newest }: NextLife): readonly SentInSet[] {
    return this.#splits
      .filter((split) => split.checkpoint.number === newest.number && (split.set === set || split.as === set))
      .flatMap(({ sent }) => sent);
  }

  /** Each member's node gets the stream of its set; then it is forgotten here. */
  forNode(_node: number, restarting: readonly number[]): LoggingNodePart {
    const sets = [...new Set(restarting.map((rank) => this.#setOf(rank)))];
    const streams = sets.map((set) => {
      const known = this.#streams.get(set);
      assert(known !== undefined, `set ${set} begins again and was not prepared`);
      for (const rank of restarting) known.missing.delete(rank);
      if (known.missing.size === 0) this.#streams.delete(set);
      return known.stream;
    });
    return { streams };
  }

  // Checkpoints

  mayCommit(set: number, position: number): boolean {
    const end = this.#ends.get(set);
    if (end !== undefined && hasReached(end, position)) {
      this.#waiting.delete(set);
      return true;
    }
    this.#waiting.set(set, { position, askMs: null });
    this.#log.askEnd(set);
    return false;
  }

  /** Where the stream of a set ends, which `askEnd` asked for; null: the event log has not been told all of it. */
  endIs(set: number, end: number | null, nowMs: number): void {
    const waiting = this.#waiting.get(set);
    // The answer was for a life that has fallen, or for an attempt that was given up.
    if (waiting === undefined || waiting.askMs !== null) return;
    if (end === null || !hasReached(end, waiting.position)) {
      waiting.askMs = nowMs + (this.#options.againMs ?? againMsDefault);
      return;
    }
    this.#ends.set(set, end);
    this.#ports.mayCommit(set);
    this.#ends.delete(set);
    if (this.#waiting.get(set) === waiting) this.#waiting.delete(set);
  }

  committed(set: number, oldest: Checkpoint): void {
    this.#committed.add(set);
    this.#log.trim(set, oldest.position);
  }

  get nextTimeMs(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { askMs } of this.#waiting.values()) if (askMs !== null) least = Math.min(least, askMs);
    return least;
  }

  tick(nowMs: number): void {
    for (const [set, waiting] of this.#waiting) {
      if (waiting.askMs === null || waiting.askMs > nowMs) continue;
      waiting.askMs = null;
      this.#log.askEnd(set);
    }
  }

  // Words

  rankSaid(rank: number, words: unknown): void {
    if (!isLogFull(words)) return;
    const { programsTakeCheckpoints } = this.#options;
    if (programsTakeCheckpoints) this.#warnOfLogs(words.sets);
    // It is said also where the program alone could help: a fault plan may wait for it.
    this.#ports.wantCheckpoints(rank, programsTakeCheckpoints ? [] : this.#withTheirParts(words.sets));
  }

  /** A rank that has not begun again since knows a rank that was taken from a set as one of that set. */
  #withTheirParts(sets: readonly number[]): readonly number[] {
    const all = new Set(sets);
    for (const { set, as } of this.#splits) if (all.has(set)) all.add(as);
    return [...all];
  }

  #warnOfLogs(sets: readonly number[]): void {
    const set = sets.find((it) => !this.#committed.has(it));
    if (this.#hasWarned || set === undefined) return;
    this.#hasWarned = true;
    this.#ports.note(
      `the payload logs of what is sent to ranks ${this.#membersOf(set).join(", ")} grow, and go to the disk, because the program takes no checkpoints; mpi.checkpoint(state) does`,
    );
  }

  #setOf(rank: number): number {
    const set = this.#options.setOf[rank];
    assert(set !== undefined, `rank ${rank} is in no set`);
    return set;
  }

  #membersOf(set: number): number[] {
    return this.#options.setOf.flatMap((it, rank) => (it === set ? [rank] : []));
  }
}

/** Positions count words, from the beginning of the job, and wrap as 32-bit integers. */
const hasReached = (end: number, position: number): boolean => ((end - position) | 0) >= 0;

const isLogFull = (words: unknown): words is LogFullWords =>
  typeof words === "object" && words !== null && (words as Partial<LogFullWords>).kind === "log-full";
