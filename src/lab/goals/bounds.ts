/** Short words for the bounds of goals. */
import type { Bound, Reference } from "./goal.ts";

export const unit: Reference = { kind: "unit" };

export const atMost = (factor: number, of: Reference): Bound => ({ side: "at most", factor, of });
export const atLeast = (factor: number, of: Reference): Bound => ({ side: "at least", factor, of });

export const withBounds = (bound: typeof atMost, [first, wanted]: readonly [number, number], of: Reference) => ({
  atLeast: bound(first, of),
  goal: bound(wanted, of),
});
