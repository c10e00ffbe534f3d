/**
 * A fault plan: which faults happen in a job, and when, as data. The plan leaves the means open: the simulator and real jobs
 * follow the same plan. `parse.ts` makes a plan from text and `print.ts` the text from a plan, one entry for one entry;
 * `check.ts` compares a plan with a job; `schedule.ts` says which faults are due. The language is described in docs/faults.md.
 *
 * All times are milliseconds in whole microseconds (`wholeMicroseconds`), so that text can say each of them exactly. A field
 * that may be null is one that the text may leave out.
 */
export interface FaultPlan {
  readonly entries: readonly Entry[];
}

/** Most entries of a plan: more than one job needs. */
export const entriesMax = 1000;
/** The reach of a timer, in hours: a 32-bit number of milliseconds. */
export const timeHoursMax = 500;

/** The nearest time that a plan can have: 1.1 s are 1100 ms and not 1100.0000000000002. */
export function wholeMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export type Entry =
  /** The seed of every random draw in the plan; at most one entry. */
  | { readonly kind: "seed"; readonly seed: number }
  | { readonly kind: "fault"; readonly fault: Fault; readonly when: When };

export type Fault =
  | { readonly kind: "kill"; readonly victim: Victim }
  /** Dead to the program alone, and carried out by the ranks themselves: `layer-deaths.ts`. At a time, or at a call of the victim. */
  | { readonly kind: "layer-kill"; readonly victim: LayerVictim }
  /** A stopped node does nothing and loses nothing; it continues after `forMs`. */
  | { readonly kind: "stop"; readonly node: number | "random"; readonly forMs: number | null }
  | { readonly kind: "continue"; readonly node: number }
  | { readonly kind: "cut"; readonly link: LinkPattern; readonly forMs: number | null }
  | { readonly kind: "delay"; readonly link: LinkPattern; readonly byMs: number; readonly forMs: number | null }
  | { readonly kind: "restore"; readonly link: LinkPattern }
  /**
   * Bits of the memory of a rank's program change, and nobody is told: at a time, or at a call of the victim. With the number of a message, from 1, bits of
   * that message, on its way: carried out by the rank itself (`message-flips.ts`), whatever the moment says.
   */
  | { readonly kind: "flip"; readonly bits: number; readonly message: number | null; readonly victim: FlipVictim };

export type Victim =
  | { readonly kind: "rank"; readonly rank: number }
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "set"; readonly set: number }
  | { readonly kind: "service"; readonly service: Service }
  | { readonly kind: "random"; readonly of: "rank" | "node" };

/** A node stands for all its ranks. */
export type LayerVictim =
  | { readonly kind: "rank"; readonly rank: number }
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "random"; readonly of: "rank" };

/** Where several processes play a rank, one of them: the first unless given. */
export interface FlipVictim {
  readonly rank: number;
  readonly replica: number | null;
}

/** More would take long to draw, and no memory fails so. */
export const flippedBitsMax = 1_000_000;

export const services = ["event-logger", "memory", "checkpoint-server", "dispatcher"] as const;
export type Service = (typeof services)[number];

/**
 * Between two nodes, in both directions: the smaller number first, and a number before `*`, which stands for every other node.
 */
export interface LinkPattern {
  readonly one: number | "*";
  readonly other: number | "*";
}

export type When =
  | { readonly kind: "time"; readonly after: Span }
  /** The first time at `fromMs`, or when one period has passed; without end when `times` is null. */
  | {
      readonly kind: "every";
      readonly period: Span;
      readonly times: number | null;
      readonly fromMs: number | null;
    }
  /** The n-th MPI call, from 1, of this rank, or of the victim's lowest rank. */
  | { readonly kind: "call"; readonly count: number; readonly rank: number | null }
  | { readonly kind: "init"; readonly rank: number | null }
  | { readonly kind: "finish" }
  /** Without a number the first such moment. */
  | {
      readonly kind: "checkpoint";
      readonly window: CheckpointWindow;
      readonly number: number | null;
      readonly set: SetScope;
    }
  | { readonly kind: "recovery"; readonly number: number | null; readonly set: SetScope }
  | { readonly kind: "log-full"; readonly set: SetScope };

/**
 * `before`: the checkpoint is asked for. `while`: some images of the set are stored. `commit`: all images are stored, and the
 * checkpoint is not committed. `after`: the checkpoint is committed.
 */
export type CheckpointWindow = "before" | "while" | "commit" | "after";

/** `own`: the set of the victim, or of its lowest rank; any set where the victim has no ranks or is picked later. */
export type SetScope = number | "own" | "any";

/** A time, fixed or to be drawn. */
export type Span =
  | { readonly kind: "fixed"; readonly ms: number }
  /** Uniform, from ms − spread to ms + spread. */
  | { readonly kind: "around"; readonly ms: number; readonly spreadMs: number }
  | { readonly kind: "between"; readonly leastMs: number; readonly mostMs: number }
  | { readonly kind: "exponential"; readonly meanMs: number }
  | { readonly kind: "weibull"; readonly shape: number; readonly scaleMs: number };
