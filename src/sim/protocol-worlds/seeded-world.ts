/** A world of a random program that a seed makes, under a protocol that starts the lost again. */
import type { FaultPlan } from "../../core/fault/plan.ts";
import type { SeedOutcome } from "../judge.ts";
import type { SetsBy } from "../recovery/sets.ts";

export interface RecoveringSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly nodes?: number | undefined;
  readonly events?: number | undefined;
  readonly sets?: SetsBy | undefined;
  /** Families of actions that are drawn much more often than usual, by their names. */
  readonly often?: readonly string[] | undefined;
  /** Nodes stand still until they are taken for dead, and are left alive. Otherwise the seed decides. */
  readonly keepSuspects?: boolean | undefined;
  /** Are ranks moved to other nodes, and sets divided by that? Where ranks fall in sets; when, and which, the seed decides. */
  readonly moves?: boolean | undefined;
  readonly listener?: (line: string) => void;
  /** What goes wrong, instead of what the seed would have gone wrong. It fits the world (core/fault/check.ts). */
  readonly faults?: FaultPlan | undefined;
}

export interface SeededWorld {
  readonly size: { readonly ranks: number; readonly nodes: number; readonly sets: number };
  run(): SeedOutcome;
}
