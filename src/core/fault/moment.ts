/**
 * Moments of a plan that are not times: the events that a job reports, and which of them an entry waits for once the placement
 * is known.
 */
import { assert, unreachable } from "../base/assert.ts";
import { playersOf } from "../base/players.ts";
import type { CheckpointWindow, Fault, FlipVictim, SetScope, When } from "./plan.ts";

/** Which ranks a fault of a node or of a set concerns. */
export interface FaultLayout {
  readonly nodes: number;
  /** Node that each rank runs on. */
  readonly placement: readonly number[];
  /** Set of each rank, the ranks that roll back together; empty where there are no sets. */
  readonly setOf: readonly number[];
  /** By rank of the program: how many processes play it. Absent: one, and ranks are processes. */
  readonly replicas?: readonly number[] | undefined;
}

/** The process that plays a rank of the program; those that play it first are the first. */
export function processOf({ rank, replica }: FlipVictim, { replicas }: FaultLayout): number {
  if (replicas === undefined) return rank;
  const process = playersOf(replicas).findIndex((name) => name.rank === rank && name.replica === (replica ?? 0));
  assert(process >= 0, `the plan was to be checked before: nobody is replica ${replica} of rank ${rank}`);
  return process;
}

/** An event that the job reports. The reporter stands still until the actions that come back are done: that is the window. */
export type FaultEvent =
  /** The rank is inside MPI_Init. */
  | { readonly kind: "init"; readonly rank: number }
  /** The rank's program has ended well. */
  | { readonly kind: "finished"; readonly rank: number }
  /** The set has been asked for this checkpoint, and none of its images is stored. Numbers begin with 1. */
  | { readonly kind: "checkpoint-asked"; readonly set: number; readonly number: number }
  /** One more image is stored: `stored` of the `wanted` that the checkpoint consists of. */
  | {
      readonly kind: "image-stored";
      readonly set: number;
      readonly number: number;
      readonly stored: number;
      readonly wanted: number;
    }
  | { readonly kind: "checkpoint-committed"; readonly set: number; readonly number: number }
  /** The set has been restarted, and begins to replay. */
  | { readonly kind: "recovery"; readonly set: number }
  /** A log of the set has reached its bound. */
  | { readonly kind: "log-full"; readonly set: number };

/** What the schedule remembers of earlier events. */
interface Past {
  /** How often each set has begun to recover. */
  readonly recoveries: readonly number[];
  readonly finished: ReadonlySet<number>;
}

/** A `When` with its numbers filled in. Null means any. */
export type Moment =
  | { readonly kind: "time" }
  | { readonly kind: "call"; readonly count: number; readonly rank: number }
  | { readonly kind: "init"; readonly rank: number | null }
  | { readonly kind: "finish"; readonly ranks: readonly number[] | null }
  | {
      readonly kind: "checkpoint";
      readonly window: CheckpointWindow;
      readonly number: number | null;
      readonly set: number | null;
    }
  | { readonly kind: "recovery"; readonly number: number | null; readonly set: number | null }
  | { readonly kind: "log-full"; readonly set: number | null };

export function momentOf(when: When, fault: Fault, layout: FaultLayout): Moment {
  const ranks = ranksOf(fault, layout);
  switch (when.kind) {
    case "time":
    case "every":
      return { kind: "time" };
    case "call": {
      const rank = when.rank ?? ranks?.[0];
      assert(rank !== undefined, "the parser lets nobody wait for the call of no rank");
      return { kind: "call", count: when.count, rank };
    }
    case "init":
      return { kind: "init", rank: when.rank ?? ranks?.[0] ?? null };
    case "finish":
      return { kind: "finish", ranks };
    case "checkpoint":
    case "recovery":
    case "log-full":
      return { ...when, set: setOf(when.set, ranks, layout) };
    default:
      return unreachable(when);
  }
}

/** Is this event the moment? `past` includes the event. */
export function isMoment(moment: Moment, event: FaultEvent, past: Past): boolean {
  switch (moment.kind) {
    case "time":
    case "call":
      return false;
    case "init":
      return event.kind === "init" && (moment.rank === null || moment.rank === event.rank);
    case "finish":
      if (event.kind !== "finished") return false;
      return moment.ranks === null || moment.ranks.every((rank) => past.finished.has(rank));
    case "checkpoint":
      if (!isOfCheckpoint(event) || !isIn(moment.window, event)) return false;
      return isSame(moment.set, event.set) && isSame(moment.number, event.number);
    case "recovery": {
      if (event.kind !== "recovery" || !isSame(moment.set, event.set)) return false;
      const soFar =
        moment.set === null ? past.recoveries.reduce((sum, count) => sum + count, 0) : past.recoveries[moment.set]!;
      return isSame(moment.number, soFar);
    }
    case "log-full":
      return event.kind === "log-full" && isSame(moment.set, event.set);
    default:
      return unreachable(moment);
  }
}

type CheckpointEvent = Extract<FaultEvent, { readonly number: number }>;

const isOfCheckpoint = (event: FaultEvent): event is CheckpointEvent => "number" in event;

function isIn(window: CheckpointWindow, event: CheckpointEvent): boolean {
  switch (event.kind) {
    case "checkpoint-asked":
      return window === "before";
    case "image-stored":
      if (event.stored === event.wanted) {
        // A checkpoint of one image is never half done; the nearest moment is the one before its commit.
        return window === "commit" || (window === "while" && event.wanted === 1);
      }
      return window === "while";
    case "checkpoint-committed":
      return window === "after";
    default:
      return unreachable(event);
  }
}

const isSame = (wanted: number | null, found: number): boolean => wanted === null || wanted === found;

/** The victim's ranks, ascending; null for a victim without ranks, or one that is picked at random later. */
function ranksOf(fault: Fault, layout: FaultLayout): readonly number[] | null {
  switch (fault.kind) {
    case "kill":
      if (fault.victim.kind === "rank") return [fault.victim.rank];
      if (fault.victim.kind === "node") return placesOf(fault.victim.node, layout.placement);
      return fault.victim.kind === "set" ? placesOf(fault.victim.set, layout.setOf) : null;
    case "stop":
    case "continue":
      return fault.node === "random" ? null : placesOf(fault.node, layout.placement);
    case "flip":
      return [processOf(fault.victim, layout)];
    default:
      return null;
  }
}

/** The ranks at which a table has this value. */
export function placesOf(value: number, table: readonly number[]): readonly number[] {
  const ranks = table.flatMap((it, rank) => (it === value ? [rank] : []));
  assert(ranks.length > 0, `each node and each set holds a rank, but ${value} does not`);
  return ranks;
}

function setOf(set: SetScope, ranks: readonly number[] | null, layout: FaultLayout): number | null {
  if (typeof set === "number") return set;
  return set === "any" || ranks === null ? null : layout.setOf[ranks[0]!]!;
}
