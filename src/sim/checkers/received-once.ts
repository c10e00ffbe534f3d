import type { Checker, Evidence } from "./checker.ts";

/** Every message is received exactly once; where somebody died, at most once, and always between the living. */
export const receivedOnce: Checker = {
  name: "every message is received exactly once",
  check(evidence: Evidence): string[] {
    const { script, observation, dead, stuck } = evidence;
    const times = new Int32Array(script.messages.length);
    for (const { message, error } of observation.receipts) if (message >= 0 && error === 0) times[message]!++;
    const problems: string[] = [];
    for (const { number, communicator, from, to } of script.messages) {
      const { members } = script.communicators[communicator]!;
      const mayBeLost = stuck.length > 0 || dead.has(members[from]!) || dead.has(members[to]!);
      if (times[number] === 1 || (times[number] === 0 && mayBeLost)) continue;
      problems.push(`message ${number}, rank ${from} to ${to} of communicator ${communicator}: ${times[number]} times`);
    }
    return problems;
  },
};
