/**
 * Recovery where the dead are replaced: the present life of each set, the state with which a set that has fallen begins its next life,
 * its checkpoints, and the times of all of it. Stands beside the dispatcher, which says which ranks fall; a protocol's part for the job
 * (`JobPart`) collects the data that only the protocol understands. Pure: it is fed events and their times, and calls its ports.
 *
 * A set that falls is *prepared*: its incarnation grows, and the protocol is asked for the data that its members need. The ranks of one
 * loss begin again together, when all their sets are prepared, because they may share a node that has to be set up. A set that falls
 * again before that is prepared again, and the other sets of its loss wait; so every loss begins once, with the present lives of its
 * sets.
 */
import { assert } from "../base/assert.ts";
import type { FaultEvent } from "../fault/moment.ts";
import type { Checkpoint } from "../ft/checkpoint.ts";
import type { Interval } from "../ft/definition.ts";
import type { JobPart, NextLife, Prepared } from "../ft/job-part.ts";
import type { SetSplit } from "../ft/set-split.ts";
import { membersBySet } from "../ft/sets.ts";
import { Losses, type RecoveryTimes } from "./losses.ts";
import {
  applySetsFell,
  applySplit,
  newRecoveryState,
  type RecoveryRecord,
  type RecoveryState,
} from "./recovery-state.ts";
import {
  type Capture,
  type CheckpointTimes,
  type KeptNumbers,
  SetCheckpoints,
  type SetCheckpointsPorts,
} from "./set-checkpoints.ts";

export interface RecoveryOptions {
  /** Set of each rank. */
  readonly setOf: readonly number[];
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** A member that has not come to an MPI call by then: the attempt is given up, and repeated later. */
  readonly checkpointPatienceMs: number;
  /** Full logs ask a set for a checkpoint no more often than that; a second unless given. */
  readonly forLogsMsMin?: number | undefined;
}

/** How the members of a set begin their next life. */
export interface SetRestart {
  readonly set: number;
  readonly members: readonly number[];
  readonly incarnation: number;
  /** The checkpoint from which they go on. */
  readonly checkpoint: Checkpoint;
  /** For the protocol of every member. */
  readonly forRanks: unknown;
}

/** Orders and news for the host. None of them may take time: long work is answered later. */
export interface RecoveryPorts {
  /** A decision, to be written down before this returns: its orders follow. */
  record(record: RecoveryRecord): void;
  /** These ranks, all members of these sets, begin their next life: all is prepared. */
  restart(ranks: readonly number[], restarts: readonly SetRestart[]): void;
  /** These ranks were to begin again, and cannot: the job ends with that line. */
  hopeless(ranks: readonly number[], problem: string): void;
  /** A rank has begun its life in vain: it must fall, with all its set. */
  fell(rank: number): void;
  /** See `SetCheckpointsPorts`. */
  stop(set: number, number: number, kept: KeptNumbers): void;
  goOn(set: number): void;
  verify(set: number, number: number): void;
  drop(set: number, number: number): void;
  oldest(set: number, oldest: Checkpoint): void;
  committed(times: CheckpointTimes, callsPassed: number): void;
  /** All that a loss took has come as far as it was. */
  recovered(times: RecoveryTimes): void;
  /** For fault plans. */
  happened(event: FaultEvent): void;
  note(message: string): void;
}

/** Counts and times so far. */
export interface RecoveryReport {
  readonly checkpoints: number;
  readonly ranksRestarted: number;
  /** The first of them. */
  readonly checkpointTimes: readonly CheckpointTimes[];
  readonly recoveries: readonly RecoveryTimes[];
}

/** A loss whose ranks have not begun again. */
interface Unbegun {
  readonly ranks: Set<number>;
  readonly sets: Map<number, { readonly next: NextLife; restart: SetRestart | null }>;
}

type RecoveredPart = Pick<JobPart, "prepare" | "mayCommit" | "committed" | "split">;

/** Times are kept of at most this number of checkpoints, and of recoveries. */
const timesMax = 1000;

export class Recovery {
  readonly #setOf: readonly number[];
  readonly #members: (readonly number[])[];
  readonly #part: RecoveredPart;
  readonly #ports: RecoveryPorts;
  readonly #checkpoints: SetCheckpoints;
  readonly #losses: Losses;
  /** Changed by records, and by the dispatcher's falls. */
  readonly #state: RecoveryState;
  #unbegun: Unbegun[] = [];
  readonly #counts = { checkpoints: 0, ranksRestarted: 0 };
  readonly #checkpointTimes: CheckpointTimes[] = [];
  readonly #recoveries: RecoveryTimes[] = [];

  /** `predecessor`: the state in the journal of a recovery that has crashed. */
  constructor(options: RecoveryOptions, part: RecoveredPart, ports: RecoveryPorts, predecessor?: RecoveryState) {
    const { setOf } = options;
    this.#setOf = setOf;
    this.#members = membersBySet(setOf);
    this.#part = part;
    this.#ports = ports;
    this.#state = predecessor ?? newRecoveryState(this.#members.length);
    for (const split of this.#state.splits) part.split?.(split);
    this.#losses = new Losses(setOf);
    const lives = {
      incarnationOf: (set: number) => this.#incarnationOf(set),
      hasBegun: (set: number) => this.#losses.hasBegun(set),
    };
    const checkpointOptions = { ...options, members: this.#members };
    const checkpointPorts: SetCheckpointsPorts = {
      record: (record) => ports.record(record),
      stop: (set, number, kept) => ports.stop(set, number, kept),
      goOn: (set) => ports.goOn(set),
      verify: (set, number) => ports.verify(set, number),
      mayCommit: (set, position) => part.mayCommit(set, position),
      drop: (set, number) => ports.drop(set, number),
      oldest: (set, oldest) => {
        part.committed(set, oldest);
        ports.oldest(set, oldest);
      },
      committed: (times, callsPassed) => {
        this.#counts.checkpoints++;
        if (this.#checkpointTimes.length < timesMax) this.#checkpointTimes.push(times);
        ports.committed(times, callsPassed);
      },
      happened: (event) => ports.happened(event),
      note: (message) => ports.note(message),
    };
    this.#checkpoints = new SetCheckpoints(checkpointOptions, lives, checkpointPorts, this.#state.books);
  }

  /** All that a successor must know. Not to be changed. */
  get state(): RecoveryState {
    return this.#state;
  }

  /** The checkpoint with which the next life of a set begins, and the oldest that may still be restored. */
  newest(set: number): Checkpoint {
    return this.#checkpoints.newest(set);
  }

  oldest(set: number): Checkpoint {
    return this.#checkpoints.oldest(set);
  }

  /** A predecessor has crashed. Sets that had not begun their present life fall again, says the dispatcher. */
  takeOver(nowMs: number): void {
    this.#checkpoints.takeOver(nowMs);
  }

  /** Is nothing on its way back to where it was? */
  get isQuiet(): boolean {
    return this.#losses.areMadeGood;
  }

  get report(): RecoveryReport {
    return { ...this.#counts, checkpointTimes: [...this.#checkpointTimes], recoveries: [...this.#recoveries] };
  }

  /** Which life of each rank is the present one. */
  get incarnations(): number[] {
    return this.#setOf.map((set) => this.#incarnationOf(set));
  }

  /** When `time` should be called next; Infinity: there is no need to. Any call may change it. */
  get nextTimeMs(): number {
    return this.#checkpoints.nextTimeMs;
  }

  time(nowMs: number): void {
    this.#checkpoints.time(nowMs);
  }

  /** All ranks of the job have begun. */
  allBegan(nowMs: number): void {
    this.#checkpoints.begin(nowMs);
  }

  /** The job is over: nothing is ordered any more. */
  end(): void {
    this.#unbegun = [];
    this.#checkpoints.end();
  }

  // Lives

  /** These ranks were lost together. With them fall all members of their sets: each will begin its next life. */
  fallen(ranks: readonly number[], nowMs: number): void {
    const sets = [...new Set(ranks.map((rank) => this.#setOf[rank]!))];
    const fallen = sets.flatMap((set) => this.#membersOf(set));
    this.#losses.fell(fallen, nowMs);
    applySetsFell(this.#state, sets);
    this.#checkpoints.fell(sets, nowMs);
    this.#counts.ranksRestarted += fallen.length;
    const lives = sets.map((set) => this.#nextLifeOf(set));
    this.#join(lives, fallen);
    // The protocol may answer at once: all must be known before the first is asked for.
    for (const next of lives) this.#part.prepare(next);
  }

  #nextLifeOf(set: number): NextLife {
    const [newest, oldest] = [this.#checkpoints.newest(set), this.#checkpoints.oldest(set)];
    return { set, incarnation: this.#incarnationOf(set), newest, oldest };
  }

  /** Whatever was lost with one of these sets before, and has not begun again, belongs to the same loss. */
  #join(lives: readonly NextLife[], ranks: readonly number[]): void {
    const isJoined = ({ sets }: Unbegun): boolean => lives.some(({ set }) => sets.has(set));
    const earlier = this.#unbegun.filter(isJoined);
    const joined: Unbegun = {
      ranks: new Set([...earlier.flatMap((loss) => [...loss.ranks]), ...ranks]),
      sets: new Map(earlier.flatMap(({ sets }) => [...sets])),
    };
    for (const next of lives) joined.sets.set(next.set, { next, restart: null });
    this.#unbegun = [...this.#unbegun.filter((loss) => !isJoined(loss)), joined];
  }

  /** The protocol has the data for that life of a set, or cannot have it. */
  prepared(set: number, incarnation: number, outcome: Prepared): void {
    const loss = this.#unbegun.find(({ sets }) => sets.has(set));
    const waiting = loss?.sets.get(set);
    // Otherwise it is for a life that has fallen meanwhile, or the job is over.
    if (loss === undefined || waiting?.next.incarnation !== incarnation) return;
    const ranks = [...loss.ranks].sort((a, b) => a - b);
    if ("problem" in outcome) {
      this.#forget(loss);
      this.#ports.hopeless(ranks, outcome.problem);
      return;
    }
    const checkpoint = waiting.next.newest;
    waiting.restart = { set, members: this.#membersOf(set), incarnation, checkpoint, forRanks: outcome.forRanks };
    const restarts = [...loss.sets.values()].flatMap(({ restart }) => restart ?? []);
    if (restarts.length < loss.sets.size) return;
    this.#forget(loss);
    this.#ports.restart(ranks, restarts);
  }

  #forget(loss: Unbegun): void {
    this.#unbegun = this.#unbegun.filter((other) => other !== loss);
  }

  /** A rank has begun a life, perhaps not its first. */
  began(rank: number, incarnation: number, nowMs: number): void {
    const set = this.#setOf[rank]!;
    // A slow word of a life that has fallen meanwhile.
    if (incarnation !== this.#incarnationOf(set)) return;
    if (!this.#losses.began(rank, nowMs)) return;
    this.#ports.happened({ kind: "recovery", set });
    if (this.#losses.hasBegun(set)) this.#checkpoints.begun(set, nowMs);
  }

  /** A rank has come as far as its lives before, or its program is over. */
  caughtUp(rank: number, incarnation: number, nowMs: number): void {
    if (incarnation !== this.#incarnationOf(this.#setOf[rank]!)) return;
    const times = this.#losses.caughtUp(rank, nowMs);
    if (times === undefined) return;
    if (this.#recoveries.length < timesMax) this.#recoveries.push(times);
    this.#ports.recovered(times);
  }

  /** The image of a rank that was to begin with it cannot be read: its set begins with an older one, if there is one. */
  imageUnreadable(rank: number, number: number, why: string): void {
    this.#ports.note(`rank ${rank} cannot go on from checkpoint ${number}: ${why}`);
    const set = this.#setOf[rank]!;
    const problem = this.#checkpoints.unreadable(set, number);
    if (problem === "") this.#ports.fell(rank);
    else this.#ports.hopeless(this.#membersOf(set), problem);
  }

  #incarnationOf(set: number): number {
    const incarnation = this.#state.incarnations[set];
    assert(incarnation !== undefined, `there is no set ${set}`);
    return incarnation;
  }

  #membersOf(set: number): readonly number[] {
    return this.#members[set] ?? [];
  }

  // Sets

  /** How many there are. */
  get sets(): number {
    return this.#members.length;
  }

  membersOf(set: number): readonly number[] {
    return this.#membersOf(set);
  }

  /** See `SetCheckpoints.standsStill`. */
  standsStill(set: number): boolean {
    return this.#checkpoints.standsStill(set);
  }

  /** A rank is a set of its own from now on, which the table of sets says already, and the journal. Both sets stand still, and fall next. */
  split(split: SetSplit): void {
    const { set, as, rank } = split;
    applySplit(this.#state, split);
    this.#members[set] = this.#membersOf(set).filter((member) => member !== rank);
    this.#members.push([rank]);
    assert(this.#members[as]?.[0] === rank, `set ${as} is the next`);
    this.#checkpoints.add();
    this.#part.split?.(split);
  }

  // Checkpoints: see `SetCheckpoints`

  stopped(rank: number, number: number, nowMs: number): void {
    this.#checkpoints.stopped(rank, number, nowMs);
  }

  captured(rank: number, capture: Capture, nowMs: number): void {
    this.#checkpoints.captured(rank, capture, nowMs);
  }

  imageStored(rank: number, image: Capture & { readonly problem: string }, nowMs: number): void {
    this.#checkpoints.imageStored(rank, image, nowMs);
  }

  verified(set: number, number: number, problem: string, nowMs: number): void {
    this.#checkpoints.verified(set, number, problem, nowMs);
  }

  /** Is that checkpoint being taken, or read back? Otherwise it counts already, or never will. */
  isOpen(set: number, number: number): boolean {
    return this.#checkpoints.isOpen(set, number);
  }

  /** The protocol may have changed its mind about the checkpoint of that set. */
  mayCommit(set: number, nowMs: number): void {
    this.#checkpoints.mayCommit(set, nowMs);
  }

  /** A program wants a checkpoint of its own, and waits: it is taken when all members of its set want it. */
  checkpointWanted(rank: number, incarnation: number, nowMs: number): void {
    this.#checkpoints.wanted(rank, incarnation, nowMs);
  }

  /** Of that set, now; one that is being taken counts. */
  take(set: number, nowMs: number): void {
    this.#checkpoints.take(set, nowMs);
  }

  /** See `SetCheckpoints.takeAndHold`. */
  takeAndHold(set: number, nowMs: number): void {
    this.#checkpoints.takeAndHold(set, nowMs);
  }

  letGo(set: number): void {
    this.#checkpoints.letGo(set);
  }

  /** Of all sets, now; one that is being taken counts. */
  takeAll(nowMs: number): void {
    this.#checkpoints.takeAll(nowMs);
  }

  /** The logs of a rank are full; checkpoints of these sets would trim them. */
  wantCheckpoints(rank: number, sets: readonly number[], nowMs: number): void {
    this.#ports.happened({ kind: "log-full", set: this.#setOf[rank]! });
    this.#checkpoints.takeForLogs(sets, nowMs);
  }
}
