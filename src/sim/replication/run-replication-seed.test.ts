import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { runReplicationSeed } from "./run-replication-seed.ts";

describe("R1, R2, R3, R4, R5 random programs with replicas", () => {
  it("R4 whatever dies, as long as each rank has one replica, all worlds come to the right answer", () => {
    const totals = { deaths: 0, sentForOthers: 0, duplicates: 0 };
    const seeds = tries(10, 200);
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
    const outcome = runReplicationSeed({ seed: 720759, variant: "parallel" });
    equal(outcome.violations.length, 0, failureText({ seed: 720759, protocol: "replication" }, outcome));
  });

  it("R2 without a death q messages are q·r, and each is acknowledged to every other replica of its sender", () => {
    let compared = 0;
    for (let seed = 1; seed <= 5; seed++) {
      const [one, two, three] = [1, 2, 3].map((replicas) =>
        runReplicationSeed({ seed, replicas, variant: "parallel", deaths: "none", ranks: 3, events: 10 }),
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

  it("R8 mirrored, q messages are up to q·r², and whatever dies, all worlds come to the right answer", () => {
    let compared = 0;
    const totals = { deaths: 0, duplicates: 0 };
    for (let seed = 1; seed <= tries(6, 60); seed++) {
      const one = runReplicationSeed({ seed, variant: "mirror" });
      equal(one.violations.length, 0, failureText({ seed, protocol: "replication" }, one));
      totals.deaths += one.deaths;
      totals.duplicates += one.counts.duplicates;
    }
    for (let seed = 1; seed <= 5; seed++) {
      const peaceful = { seed, variant: "mirror", deaths: "none", ranks: 3, events: 10 } as const;
      const [one, two, three] = [1, 2, 3].map((replicas) => runReplicationSeed({ ...peaceful, replicas }));
      const q = one!.counts.sent;
      // Fewer where a replica that is late hears that its message has come from another, or where only some ranks have replicas.
      ok(two!.counts.sent <= 4 * q && three!.counts.sent <= 9 * q);
      if (two!.counts.sent > 3 * q && three!.counts.sent > 6 * q) compared++;
    }
    ok(compared >= 2, `${compared} programs compared`);
    ok(totals.deaths > 0, `${totals.deaths} deaths`);
    ok(totals.duplicates > totals.deaths, `${totals.duplicates} duplicates dropped`);
  });

  it("R8 seeds that have found something", () => {
    // Mirrored: a receiver asked again for a message that was announced to it before the wish had its turn, and answered twice.
    const outcome = runReplicationSeed({ seed: 1136 });
    equal(outcome.violations.length, 0, failureText({ seed: 1136, protocol: "replication" }, outcome));
  });
});
