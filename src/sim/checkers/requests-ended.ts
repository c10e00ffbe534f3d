import type { Checker } from "./checker.ts";
import { isExcused } from "./excuses.ts";

/**
 * Sends and the making of communicators end without error, unless a rank that they depend on is dead or a rank has revoked
 * their communicator; a request that was cancelled before any rank could answer it is cancelled, and no other is.
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
