import type { Checker, Evidence } from "./checker.ts";
import { isReliable } from "./excuses.ts";

/**
 * Every message is received exactly once; at most once where its sender or receiver is dead or has given up; never if its
 * sender cancelled it.
 */
export const receivedOnce: Checker = {
  name: "every message is received exactly once",
  check(evidence: Evidence): string[] {
    const { script, observation, stuck } = evidence;
    const times = new Int32Array(script.messages.length);
    for (const { message, error } of observation.receipts) if (message >= 0 && error === 0) times[message]!++;
    const problems: string[] = [];
    for (const { number, communicator, from, to } of script.messages) {
      const wanted = observation.cancelledMessages.has(number) ? 0 : 1;
      const mayBeLost = stuck.length > 0 || !isReliable(evidence, from) || !isReliable(evidence, to);
      if (times[number] === wanted || (times[number] === 0 && mayBeLost)) continue;
      const what = `message ${number}, rank ${from} to ${to} on communicator ${communicator}`;
      problems.push(`${what}: ${times[number]} times${wanted === 0 ? ", and it was cancelled" : ""}`);
    }
    return problems;
  },
};
