/**
 * The lasting state of a dispatcher, and the decisions that change it. The state changes by records only, and a record is in the
 * journal before anybody acts upon it; so the journal gives its reader the state of the dispatcher that wrote it. Not in the state is
 * which nodes are silent, and for how long: a successor finds that out by itself.
 *
 * One decision is one record, with all that it means: between a fall and the outcome that follows from it there is nothing that a crash
 * could divide.
 */
import { assert, unreachable } from "../base/assert.ts";
import { type SetSplit, splitSets } from "../ft/set-split.ts";
import {
  addNode,
  applyFall,
  applyToFalls,
  type CallsOfRank,
  type FallsRecord,
  type FallsState,
  newFallsState,
} from "./falls.ts";
import type { Death, JobOutcome, Reason } from "./outcome.ts";
import { type Placement, placeAnew } from "./placement.ts";

/** The first record: a job of that size has begun. */
export interface JobBegan {
  readonly kind: "began";
  readonly nodes: number;
  readonly ranks: number;
  /** Of each process that there can be. */
  readonly placement: Placement;
  /** Correlated set of each rank; empty: there are none. */
  readonly setOf: readonly number[];
  /** When, by the calendar: the clock that a successor counts by is another. 0: not said. */
  readonly calendarMs: number;
}
/** These processes are about to be started. */
interface Admitted {
  readonly kind: "admitted";
  readonly ranks: readonly number[];
}
/** They could not all be started, and their numbers are spent. */
interface Withdrawn {
  readonly kind: "withdrawn";
  readonly ranks: readonly number[];
}
/** A rank's program is over, or stands still; "failed": badly, after the outcome was decided. */
interface RankOver {
  readonly kind: "rank-over";
  readonly rank: number;
  readonly how: "done" | "finished" | "frozen" | "failed";
  /** Of a rank that finished: the code that it ended with. */
  readonly code: number;
  /** Null: others run. */
  readonly outcome: JobOutcome | null;
}
/** The process of a node is gone, and no rank is missed. */
interface NodeGone {
  readonly kind: "node-gone";
  readonly node: number;
}
/** Ranks are dead, and this is done about it. */
export interface Fall {
  readonly kind: "fall";
  /** Against which it is held. */
  readonly node: number;
  /** Is the process of that node known to be gone? */
  readonly isGone: boolean;
  readonly deaths: readonly Death[];
  /** Do the dead begin another life? */
  readonly returns: boolean;
  /** Nodes in whose place another process comes; the dead of other nodes return where they were. */
  readonly replaced: readonly number[];
  /** How far ranks had come, as far as no record says so. */
  readonly passed: readonly CallsOfRank[];
  readonly reason: Reason;
  readonly afterMs: number;
  /** Null: the job goes on. */
  readonly outcome: JobOutcome | null;
}
/**
 * These ranks have their places on that node from now on; a number behind those before is that of a node which was not there. Where the dead are replaced a fall follows, in which they
 * begin there; where deaths are covered they are returned there, or there are none yet.
 */
interface Moved {
  readonly kind: "moved";
  readonly ranks: readonly number[];
  readonly node: number;
  /** The rank is a set of its own from now on; null: all are of the sets that they were. */
  readonly split: SetSplit | null;
}
/** Where deaths are covered: another process comes in the place of a node that is gone, for processes that come back. */
interface NodeAgain {
  readonly kind: "node-again";
  readonly node: number;
}
/** Where deaths are covered: a process that was dead begins that life. */
interface ReturnedLife {
  readonly kind: "returned";
  readonly rank: number;
  readonly incarnation: number;
}
/** Where deaths are covered: a life that was announced will not begin. */
interface MissedLife {
  readonly kind: "missed";
  readonly death: Death;
}
/** Another dispatcher decides from now on. Nodes take no order of an earlier one. */
interface TookOver {
  readonly kind: "took-over";
  /** How many there were before. */
  readonly term: number;
}
/** The job had an outcome, and goes on all the same: every rank runs again, or is about to fall. */
interface Reopened {
  readonly kind: "reopened";
}
/** The job ends, and not because of a rank's end or a fall. */
export interface Decided {
  readonly kind: "decided";
  readonly outcome: JobOutcome;
}
export type DispatcherRecord =
  | JobBegan
  | Admitted
  | Withdrawn
  | RankOver
  | NodeGone
  | Fall
  | Moved
  | NodeAgain
  | ReturnedLife
  | MissedLife
  | TookOver
  | Reopened
  | Decided
  | FallsRecord;

export interface RankState {
  incarnation: number;
  /** "absent": not admitted yet. "done": its program is over; it stays, because others may need what it has sent. */
  state: "absent" | "running" | "done" | "finished" | "dead";
}

interface NodeState {
  /** Is its process gone, without another in its place? */
  gone: boolean;
  /** How many processes have had this number before. */
  life: number;
}

export interface DispatcherState {
  readonly ranks: RankState[];
  readonly nodes: NodeState[];
  /** Node of each process: the table of the job that began, which all its parts look at. */
  readonly placement: Placement;
  /** Correlated set of each rank: such a table, too. */
  readonly setOf: readonly number[];
  /** All that were declared, by their order. */
  readonly deaths: Death[];
  readonly falls: FallsState;
  /** How many dispatchers there were before this one. */
  term: number;
  isFrozen: boolean;
  /** The first code other than 0 that a rank finished with; 0: none so far. */
  code: number;
  outcome: JobOutcome | undefined;
}

export function newDispatcherState({ nodes, ranks, placement, setOf }: JobBegan): DispatcherState {
  return {
    ranks: placement.map((_, rank) => ({ incarnation: 0, state: rank < ranks ? "running" : "absent" })),
    nodes: Array.from({ length: nodes }, () => ({ gone: false, life: 0 })),
    placement,
    setOf,
    deaths: [],
    falls: newFallsState({ nodes, ranks: placement.length }),
    term: 0,
    isFrozen: false,
    code: 0,
    outcome: undefined,
  };
}

/** Changes the state as the record says. */
export function applyToDispatcher(state: DispatcherState, record: Exclude<DispatcherRecord, JobBegan>): void {
  switch (record.kind) {
    case "admitted":
      for (const rank of record.ranks) state.ranks[rank]!.state = "running";
      break;
    case "withdrawn":
      for (const rank of record.ranks) state.ranks[rank]!.state = "dead";
      break;
    case "rank-over":
      applyRankOver(state, record);
      break;
    case "node-gone":
      state.nodes[record.node]!.gone = true;
      break;
    case "fall":
      applyFallOf(state, record);
      break;
    case "moved":
      applyMoved(state, record);
      break;
    case "node-again":
      state.nodes[record.node]!.gone = false;
      state.nodes[record.node]!.life++;
      break;
    case "returned":
      state.ranks[record.rank] = { incarnation: record.incarnation, state: "running" };
      break;
    case "missed":
      state.deaths.push(record.death);
      break;
    case "took-over":
      state.term = record.term;
      break;
    case "reopened":
      applyReopened(state);
      break;
    case "decided":
      state.outcome = record.outcome;
      break;
    case "caught-up":
    case "progressed":
    case "saved":
    case "excused":
      applyToFalls(state.falls, record);
      break;
    default:
      unreachable(record);
  }
}

/** What the end of the job did to ranks and nodes did not happen. */
function applyReopened(state: DispatcherState): void {
  state.outcome = undefined;
  state.isFrozen = false;
  state.code = 0;
  for (const rank of state.ranks) if (rank.state !== "absent") rank.state = "running";
  for (const node of state.nodes) node.gone = false;
}

function applyMoved({ nodes, placement, setOf, falls }: DispatcherState, { ranks, node, split }: Moved): void {
  while (nodes.length <= node) {
    // Nobody is there until its ranks fall, which the fall counts as the end of a process.
    nodes.push({ gone: true, life: -1 });
    addNode(falls);
  }
  placeAnew(placement, ranks, node);
  if (split !== null) splitSets(setOf, split);
}

function applyRankOver(state: DispatcherState, { rank, how, code, outcome }: RankOver): void {
  const ended = { done: "done", finished: "finished", frozen: "finished", failed: "dead" } as const;
  state.ranks[rank]!.state = ended[how];
  state.isFrozen ||= how === "frozen";
  state.code ||= code;
  state.outcome ??= outcome ?? undefined;
}

function applyFallOf(state: DispatcherState, fall: Fall): void {
  const { node, deaths, passed } = fall;
  if (fall.isGone) state.nodes[node]!.gone = true;
  for (const death of deaths) {
    assert(death.order === state.deaths.length, `death ${death.order} follows ${state.deaths.length} others`);
    state.deaths.push(death);
    const rank = state.ranks[death.rank]!;
    rank.state = fall.returns ? "running" : "dead";
    if (fall.returns) rank.incarnation++;
  }
  for (const each of fall.replaced) {
    const it = state.nodes[each]!;
    it.gone = false;
    it.life++;
  }
  applyFall(state.falls, { node, ranks: deaths.map(({ rank }) => rank), passed });
  state.outcome ??= fall.outcome ?? undefined;
}
