import type { Checker } from "./checker.ts";
import { isExcused } from "./excuses.ts";

/**
 * Sends and what makes communicators end without error, unless a rank on whom they depend is dead or a rank has revoked their
 * communicator; what was cancelled before anybody could answer it is cancelled, and nothing else is.
 */
export const requestsEnded: Checker = {
  name: "requests end as they should",
  check: (evidence) =>
    evidence.observation.ended.flatMap((ended) => {
      const { rank, what, error, cancelled, wantedCancelled } = ended;
      if (error !== 0) return isExcused(evidence, ended) ? [] : [`rank ${rank}: ${what} ended with error ${error}`];
      if (cancelled === wantedCancelled) return [];
      return [`rank ${rank}: ${what} says ${cancelled ? "cancelled" : "not cancelled"}`];
    }),
};
