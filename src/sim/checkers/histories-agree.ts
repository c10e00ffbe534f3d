import type { Checker } from "./checker.ts";

/** No orphans: the receiver of a message has seen the very history in which its sender sends it. */
export const historiesAgree: Checker = {
  name: "histories agree",
  check: ({ histories, stuck }) =>
    stuck.length > 0 || histories === undefined
      ? []
      : histories.disagreements().map((message) => `${message}: its sender has sent it in another history`),
};
