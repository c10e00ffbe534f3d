import type { Checker } from "./checker.ts";

/** MPI §3.5: of two receives with one pattern the one posted first takes the earlier message of a sender. */
export const nonOvertaking: Checker = {
  name: "messages of a sender do not overtake each other",
  check({ script, observation }): string[] {
    const problems: string[] = [];
    const last = new Map<string, number>();
    const inPostingOrder = [...observation.receipts].sort((a, b) => a.posted - b.posted);
    for (const { receive, message, error } of inPostingOrder) {
      if (message < 0 || error !== 0) continue;
      const { communicator, at, source, tag } = script.receives[receive]!;
      const { from } = script.messages[message]!;
      const key = [communicator, at, source, tag, from].join();
      const before = last.get(key) ?? -1;
      if (message < before) {
        problems.push(
          `rank ${at} of communicator ${communicator} took message ${message} of rank ${from} after message ${before}`,
        );
      }
      last.set(key, message);
    }
    return problems;
  },
};
