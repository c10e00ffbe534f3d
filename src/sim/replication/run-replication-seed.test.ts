import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { runReplicationSeed } from "./run-replication-seed.ts";

describe("R1, R2, R3, R4, R5 random programs with replicas", () => {
  it("R4 whatever dies, as long as each rank has one replica, all worlds come to the right answer", () => {
    const totals = { deaths: 0, sentForOthers: 0, duplicates: 0 };
    const seeds = tries(20, 1_000);
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = runReplicationSeed({ seed });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      totals.deaths += outcome.deaths;
      totals.sentForOthers += outcome.counts.sentForOthers;
      totals.duplicates += outcome.counts.duplicates;
    }
    ok(totals.deaths > seeds, `${totals.deaths} deaths`);
    ok(totals.sentForOthers > 10 * seeds, `${totals.sentForOthers} messages sent for the dead`);
    ok(totals.duplicates > 0, `${totals.duplicates} duplicates dropped`);
  });
});
