/** D1: replicas compare whole messages; two find a flip, three outvote it, and without one nobody is suspected. */
import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { long, longUnless, tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { runComparingSeed } from "./run-comparing-seed.ts";
import { runRevivalSeed } from "./run-revival-seed.ts";

/** The seeds that have found something before programs with flips made communicators. */
const without: readonly string[] = ["communicators", "inter-communicators", "topologies"];

describe("D1 random programs whose replicas compare what they send", () => {
  it("D1 flips in messages are found with two replicas and outvoted with three, and nobody else is suspected", () => {
    const totals = { flipped: 0, outvoted: 0, stopped: 0, compared: 0, deaths: 0 };
    const seeds = tries(9, 100);
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = runComparingSeed({ seed });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      totals.flipped += outcome.flipped.length;
      totals.compared += outcome.counts.compared;
      totals.deaths += outcome.deaths;
      if (outcome.suspicions.length === 0) continue;
      if (outcome.suspicions.some(({ accused }) => accused < 0)) totals.stopped++;
      else totals.outvoted++;
    }
    ok(totals.flipped >= seeds / 4, JSON.stringify(totals));
    ok(totals.stopped + totals.outvoted >= totals.flipped, JSON.stringify(totals));
    ok(totals.stopped > 0 && totals.outvoted > 0 && totals.compared > 10 * seeds, JSON.stringify(totals));
  });

  it("D1 byte by byte: flips are found or outvoted, nobody else is suspected, and no hash is asked", () => {
    const totals = { flipped: 0, found: 0, compared: 0, bytes: 0 };
    for (let seed = 1; seed <= tries(5, 60); seed++) {
      const outcome = runComparingSeed({ seed, comparing: "whole" });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      totals.flipped += outcome.flipped.length;
      totals.compared += outcome.counts.compared;
      totals.bytes += outcome.counts.comparedBytes;
      if (outcome.suspicions.length > 0) totals.found++;
    }
    ok(totals.flipped > 0 && totals.found >= totals.flipped, JSON.stringify(totals));
    ok(totals.compared > 0 && totals.bytes > totals.compared, JSON.stringify(totals));
  });

  for (const variant of ["parallel", "mirror"] as const) {
    it(`D1, D3 ${variant}, byte by byte: of clones, too`, longUnless(variant === "parallel"), () => {
      let back = 0;
      for (let seed = 1; seed <= tries(2, 40); seed++) {
        const outcome = runRevivalSeed({ seed, variant, comparing: "whole" });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        back += outcome.clones.back;
      }
      ok(back > 0, `${back} clones`);
    });
  }

  for (const variant of ["parallel", "mirror"] as const) {
    it(`D1, D3 ${variant}: clones vote on what they send themselves, and nobody is suspected`, () => {
      let back = 0;
      for (let seed = 1; seed <= tries(2, 40); seed++) {
        const outcome = runRevivalSeed({ seed, variant, comparing: "hash" });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        back += outcome.clones.back;
      }
      ok(back > 0, `${back} clones`);
    });
  }

  it("D1 messages of different communicators do not wait for each other's votes", () => {
    // Seed 40062: non-blocking collectives of two replicas had posted their messages in different orders.
    const outcome = runRevivalSeed({ seed: 40062, comparing: "hash" });
    equal(outcome.violations.length, 0, failureText({ seed: 40062, protocol: "replication" }, outcome));
  });

  for (const seed of [70777, 60337, 60430, 70829]) {
    it(
      `D1 messages of collectives of one communicator do not, either: seed ${seed}`,
      longUnless(seed === 70777),
      () => {
        const outcome = runComparingSeed({ seed, without });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      },
    );
  }

  for (const seed of [56, 62]) {
    it(
      `D1 nobody gives up a communicator because a process does whose memory is wrong: seed ${seed}`,
      longUnless(seed === 56),
      () => {
        const outcome = runComparingSeed({ seed });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        ok(outcome.flipped.length === 1);
      },
    );
  }

  it(
    "D1 a process whose memory is wrong leads a group that it should not, without a bridge to the other: seed 9500017",
    long,
    () => {
      const seed = 9500017;
      const outcome = runComparingSeed({ seed });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      ok(outcome.flipped.length === 1);
    },
  );

  for (const seed of [200396, 200099]) {
    it(
      `D1 a message that only a process sends whose memory is wrong is seen by nobody: seed ${seed}`,
      longUnless(seed === 200396),
      () => {
        const outcome = runComparingSeed({ seed });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        ok(outcome.flipped.length === 1 && outcome.suspicions.length > 0);
      },
    );
  }

  for (const seed of [72010040, 72000250]) {
    it(
      `D1 mirrored, byte by byte: what a replica has still to say of a message is waited for when its own copy has come: seed ${seed}`,
      longUnless(seed === 72010040),
      () => {
        const outcome = runComparingSeed({ seed, comparing: "whole" });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        ok(outcome.flipped.length === 1 && outcome.suspicions.length > 0);
      },
    );
  }

  for (const seed of [70472, 60199]) {
    it(
      `D1 memory that is wrong is found by the first message that is judged, not always by the one that was hit: seed ${seed}`,
      longUnless(seed === 70472),
      () => {
        const outcome = runComparingSeed({ seed, without });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        const [flipped] = outcome.flipped;
        ok(outcome.suspicions.length > 0 && outcome.suspicions.every(({ dest }) => dest !== flipped!.dest));
      },
    );
  }
});
