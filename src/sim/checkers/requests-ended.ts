import type { Checker } from "./checker.ts";

/** Sends end without error; what was cancelled before anybody could answer it is cancelled, and nothing else is. */
export const requestsEnded: Checker = {
  name: "requests end as they should",
  check: ({ observation, dead }) =>
    observation.ended.flatMap(({ rank, what, error, cancelled, wantedCancelled }) => {
      if (error !== 0) return dead.size === 0 ? [`rank ${rank}: ${what} ended with error ${error}`] : [];
      if (cancelled === wantedCancelled) return [];
      return [`rank ${rank}: ${what} says ${cancelled ? "cancelled" : "not cancelled"}`];
    }),
};
