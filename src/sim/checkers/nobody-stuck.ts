import type { Checker } from "./checker.ts";

/** Deadlock: nothing is left to happen, and somebody waits. */
export const nobodyStuck: Checker = {
  name: "nobody is stuck",
  check: ({ stuck }) => stuck.map(({ rank, waitsFor }) => `rank ${rank} waits for ever: ${waitsFor}`),
};
