/**
 * Which faults are due. The schedule is fed the events of the job (time passes, a rank makes a call, a set takes a checkpoint)
 * and answers with actions, to be done at once and in that order. It reads no clock and touches nothing, so that the simulator
 * and real jobs follow the same plan. `nowMs` counts from the moment the ranks began and never goes back.
 *
 * An entry fires once per job, however many lives its victim has; `every` fires as often as it says. So there is one schedule
 * per job, and a schedule that outlives its dispatcher is made from `state`.
 *
 * When the times of several entries have come, they fire in the order of their times. A fault that lasts (`for`) ends that long
 * after its action was handed out, unless another entry has changed the same node or link since: the later entry wins.
 */
import { assert } from "../base/assert.ts";
import { type Deed, deedsOf, type FaultAction, isAboutSame, undoingOf } from "./action.ts";
import { checkPlan } from "./check.ts";
import { Draws } from "./draws.ts";
import { hasLayerKills, seedOf } from "./layer-deaths.ts";
import { type FaultEvent, type FaultLayout, isMoment, type Moment, momentOf, placesOf } from "./moment.ts";
import type { Fault, FaultPlan, When } from "./plan.ts";

/** The candidates for random picks. Victims of the schedule count as dead, even if they have not died yet. */
export interface Living {
  isRankAlive(rank: number): boolean;
  isNodeAlive(node: number): boolean;
}

interface ScheduleOptions {
  /** The job's seed; a plan with a seed of its own ignores it. */
  readonly seed: number;
  readonly layout: FaultLayout;
  readonly living: Living;
  /** The state to continue from; undefined at the start of a job. */
  readonly state?: ScheduleState | undefined;
}

/** All that a schedule has to remember, in a form that JSON can hold. */
export interface ScheduleState {
  /** How often each entry of the plan has fired. */
  readonly fired: readonly number[];
  readonly ends: readonly End[];
  readonly recoveries: readonly number[];
  readonly finished: readonly number[];
}

/** A fault that lasts, and when it ends. */
interface End {
  readonly atMs: number;
  readonly action: FaultAction;
}

interface Watch {
  /** Counted from 1. */
  readonly entry: number;
  readonly fault: Fault;
  readonly when: When;
  readonly moment: Moment;
  fired: number;
  /** Infinity: the entry waits for no time, or no longer does. */
  dueMs: number;
}

/** The purposes of draws; each purpose has draws of its own. */
const forTime = 0;
const forTarget = 1;

export class FaultSchedule {
  readonly #seed: number;
  readonly #layout: FaultLayout;
  readonly #living: Living;
  readonly #watches: Watch[] = [];
  readonly #entries: number;
  readonly #recoveries: number[];
  readonly #finished: Set<number>;
  #ends: End[];

  constructor(plan: FaultPlan, { seed, layout, living, state }: ScheduleOptions) {
    const sets = Math.max(-1, ...layout.setOf) + 1;
    const wrong = checkPlan(plan, {
      ranks: layout.placement.length,
      nodes: layout.nodes,
      sets,
      isLayered: hasLayerKills(plan),
      replicas: layout.replicas,
      flipsMessages: true,
    });
    assert(wrong === undefined, `the plan was to be checked before: ${wrong}`);
    this.#seed = seedOf(plan) ?? seed;
    this.#layout = layout;
    this.#living = living;
    this.#entries = plan.entries.length;
    this.#recoveries = [...(state?.recoveries ?? new Array<number>(sets).fill(0))];
    this.#finished = new Set(state?.finished);
    this.#ends = [...(state?.ends ?? [])];
    for (const [index, entry] of plan.entries.entries()) {
      if (entry.kind === "seed") continue;
      const { fault, when } = entry;
      if (fault.kind === "layer-kill" || (fault.kind === "flip" && fault.message !== null)) continue;
      const moment = momentOf(when, fault, layout);
      const watch: Watch = { entry: index + 1, fault, when, moment, fired: 0, dueMs: 0 };
      watch.dueMs = this.#nextDueMs(watch);
      for (let fired = state?.fired[index] ?? 0; fired > 0; fired--) this.#countFiring(watch);
      this.#watches.push(watch);
    }
  }

  /**
   * When `time` should be called next; Infinity: never. Every answer with actions may change it. The time may be further away
   * than a timer reaches (2³¹ ms).
   */
  get nextTimeMs(): number {
    const dueMs = this.#watches.reduce((least, watch) => Math.min(least, watch.dueMs), Number.POSITIVE_INFINITY);
    return this.#ends.reduce((least, end) => Math.min(least, end.atMs), dueMs);
  }

  /**
   * The number of the rank's next MPI call that an entry waits for, for `call`; null: none. A rank compares the number with its
   * count in each call, reports the call that reaches it and asks again, as every new life does when it begins.
   */
  callsOf(rank: number): number | null {
    const counts = this.#watches.flatMap(({ moment, fired }) =>
      moment.kind === "call" && moment.rank === rank && fired === 0 ? [moment.count] : [],
    );
    return counts.length === 0 ? null : Math.min(...counts);
  }

  /**
   * Does an entry wait for this rank to be inside MPI_Init? Then the rank reports that, and stands still until the actions are
   * done.
   */
  initMattersOf(rank: number): boolean {
    return this.#watches.some(
      ({ moment, fired }) => moment.kind === "init" && (moment.rank === null || moment.rank === rank) && fired === 0,
    );
  }

  get state(): ScheduleState {
    const fired = new Array<number>(this.#entries).fill(0);
    for (const watch of this.#watches) fired[watch.entry - 1] = watch.fired;
    return { fired, ends: [...this.#ends], recoveries: [...this.#recoveries], finished: [...this.#finished] };
  }

  time(nowMs: number): FaultAction[] {
    const actions: FaultAction[] = [];
    for (;;) {
      const dueMs = this.nextTimeMs;
      if (dueMs > nowMs) return actions;
      const end = this.#ends.find(({ atMs }) => atMs === dueMs);
      if (end !== undefined) {
        this.#ends = this.#ends.filter((it) => it !== end);
        actions.push(end.action);
      } else this.#fire(this.#watches.find((watch) => watch.dueMs === dueMs)!, nowMs, actions);
    }
  }

  /** The rank makes its n-th MPI call, counted from 1. */
  call(rank: number, count: number, nowMs: number): FaultAction[] {
    return this.#fireAll((it) => it.kind === "call" && it.rank === rank && it.count <= count, nowMs);
  }

  event(event: FaultEvent, nowMs: number): FaultAction[] {
    if (event.kind === "recovery") {
      // A rank that was moved may be a set of its own by now.
      this.#recoveries[event.set] = (this.#recoveries[event.set] ?? 0) + 1;
      // Ranks of the set that had finished live again, and will finish again.
      for (const rank of placesOf(event.set, this.#layout.setOf)) this.#finished.delete(rank);
    }
    if (event.kind === "finished") {
      this.#finished.add(event.rank);
      if (this.#finished.size === this.#layout.placement.length) return [];
    }
    const past = { recoveries: this.#recoveries, finished: this.#finished };
    return this.#fireAll((moment) => isMoment(moment, event, past), nowMs);
  }

  #fireAll(isNow: (moment: Moment) => boolean, nowMs: number): FaultAction[] {
    const actions: FaultAction[] = [];
    for (const watch of this.#watches) {
      if (watch.fired === 0 && isNow(watch.moment)) this.#fire(watch, nowMs, actions);
    }
    return actions;
  }

  /** Adds the entry's actions to `actions`. */
  #fire(watch: Watch, nowMs: number, actions: FaultAction[]): void {
    const { entry, fault } = watch;
    const draws = new Draws(this.#seed, entry, watch.fired, forTarget);
    this.#countFiring(watch);
    const draw = (): number => Math.floor(draws.unit() * 2 ** 32);
    for (const deed of deedsOf(fault, this.#layout, (of) => this.#pick(of, draws, actions), draw)) {
      actions.push({ entry, ...deed });
      this.#ends = this.#ends.filter((end) => !isAboutSame(end.action, deed));
      const undoing = undoingOf(deed);
      if (undoing === undefined || !("forMs" in fault) || fault.forMs === null) continue;
      this.#ends.push({ atMs: nowMs + fault.forMs, action: { entry, ...undoing } });
    }
  }

  #countFiring(watch: Watch): void {
    watch.fired++;
    watch.dueMs = this.#nextDueMs(watch);
  }

  /** When the entry fires next; `watch.dueMs` is when it fired last. */
  #nextDueMs({ entry, when, fired, dueMs }: Watch): number {
    const draw = new Draws(this.#seed, entry, fired, forTime);
    if (when.kind === "time" && fired === 0) return draw.span(when.after);
    if (when.kind !== "every" || fired === when.times) return Number.POSITIVE_INFINITY;
    return fired === 0 && when.fromMs !== null ? when.fromMs : dueMs + draw.span(when.period);
  }

  /** A candidate that lives, and still does when all of `actions` is done. */
  #pick(of: "rank" | "node", draws: Draws, actions: readonly Deed[]): number | undefined {
    const { nodes, placement } = this.#layout;
    const isKilled = (node: number) => actions.some((deed) => deed.kind === "kill-node" && deed.node === node);
    const isRankKilled = (rank: number) =>
      actions.some((deed) => deed.kind === "kill-ranks" && deed.ranks.includes(rank)) || isKilled(placement[rank]!);
    const candidates =
      of === "rank"
        ? [...placement.keys()].filter((rank) => this.#living.isRankAlive(rank) && !isRankKilled(rank))
        : [...new Array(nodes).keys()].filter((node) => this.#living.isNodeAlive(node) && !isKilled(node));
    return candidates.length === 0 ? undefined : draws.pick(candidates);
  }
}
