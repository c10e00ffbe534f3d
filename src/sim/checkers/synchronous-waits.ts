import { SendMode } from "../../core/request/records.ts";
import type { Checker } from "./checker.ts";

/** MPI §3.4: a synchronous send is complete only when its receive has begun. */
export const synchronousWaits: Checker = {
  name: "synchronous sends wait for their receives",
  check({ script, observation, firstPosted }): string[] {
    const postedAt = new Map<number, number>();
    for (const { message, receive, postedAt: at, error } of observation.receipts) {
      if (error === 0) postedAt.set(message, firstPosted?.get(receive) ?? at);
    }
    return observation.sends.flatMap(({ message, at, error }) => {
      const isSynchronous = script.messages[message]!.mode === SendMode.SYNCHRONOUS && error === 0;
      const begun = postedAt.get(message);
      if (!isSynchronous || begun === undefined || begun < at) return [];
      return [`the send of message ${message} was complete before its receive began`];
    });
  },
};
