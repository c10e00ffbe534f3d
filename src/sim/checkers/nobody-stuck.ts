import type { Checker } from "./checker.ts";

/** Deadlock: no event is left, and a rank waits. */
export const nobodyStuck: Checker = {
  name: "nobody is stuck",
  check: ({ stuck }) => stuck.map(({ rank, waitsFor }) => `rank ${rank} waits for ever: ${waitsFor}`),
};
