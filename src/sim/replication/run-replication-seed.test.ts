import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { runReplicationSeed } from "./run-replication-seed.ts";

describe("R1, R2, R3, R4, R5 random programs with replicas", () => {
  it("R4 whatever dies, as long as each rank has one replica, all worlds come to the right answer", () => {
    const totals = { deaths: 0, sentForOthers: 0, duplicates: 0 };
    const seeds = tries(10, 1_000);
    // Duplicates are rare: some of the ten that run always have them.
    const first = tries(11, 1);
    for (let seed = first; seed < first + seeds; seed++) {
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

  it("R4 a message that settles takes those behind it along that had settled before", () => {
    // Seed 720759: one replica of the receiver had acknowledged later messages, the other was behind.
    const outcome = runReplicationSeed({ seed: 720759 });
    equal(outcome.violations.length, 0, failureText({ seed: 720759, protocol: "replication" }, outcome));
  });

  it("R2 without a death q messages are q·r, and each is acknowledged to every other replica of its sender", () => {
    let compared = 0;
    for (let seed = 1; seed <= 5; seed++) {
      const [one, two, three] = [1, 2, 3].map((replicas) =>
        runReplicationSeed({ seed, replicas, deaths: "none", ranks: 3, events: 10 }),
      );
      // Where only some ranks have replicas, the others send to several worlds.
      if (two!.counts.sentForOthers + three!.counts.sentForOthers > 0) continue;
      compared++;
      equal(one!.counts.acknowledgements, 0);
      equal(two!.counts.sent, 2 * one!.counts.sent);
      equal(three!.counts.sent, 3 * one!.counts.sent);
      ok(two!.counts.acknowledgements <= two!.counts.sent);
      ok(three!.counts.acknowledgements <= 2 * three!.counts.sent);
    }
    ok(compared >= 2, `${compared} programs compared`);
  });
});
