import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { failureText } from "../failure-text.ts";
import { runRevivalSeed } from "./run-revival-seed.ts";

describe("R6 random programs with replicas that come back", () => {
  it("R6, D3 whatever dies, sources and clones too while a clone is made, all worlds come to the right answer", () => {
    const totals = { deaths: 0, back: 0, source: 0, clone: 0 };
    const seeds = tries(8, 200);
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = runRevivalSeed({ seed });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      totals.deaths += outcome.deaths;
      totals.back += outcome.clones.back;
      totals.source += outcome.deathsOf.source;
      totals.clone += outcome.deathsOf.clone;
    }
    ok(totals.deaths > seeds && totals.back > seeds, `${totals.deaths} deaths, ${totals.back} came back`);
    ok(totals.source > seeds / 10, `${totals.source} sources died while they were cloned`);
    ok(totals.clone > seeds / 10, `${totals.clone} clones died before everybody knew them`);
  });

  it("R6, D3 mirrored too", () => {
    let back = 0;
    for (let seed = 1; seed <= tries(2, 50); seed++) {
      const outcome = runRevivalSeed({ seed, variant: "mirror" });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      back += outcome.clones.back;
    }
    ok(back > 0, `${back} came back`);
  });

  it("D5 replicas go on elsewhere while they live, whatever dies meanwhile, and all worlds come to the right answer", () => {
    const totals = { begun: 0, back: 0, givenUp: 0, source: 0 };
    const seeds = tries(8, 300);
    for (let seed = 1; seed <= seeds; seed++) {
      const comparing = ([undefined, "hash", "whole"] as const)[seed % 3];
      const outcome = runRevivalSeed({ seed, moves: true, comparing });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      totals.begun += outcome.moves.begun;
      totals.back += outcome.moves.back;
      totals.givenUp += outcome.moves.givenUp;
      totals.source += outcome.deathsOf.source;
    }
    ok(totals.begun > seeds / 4 && totals.back > seeds / 4 && totals.givenUp > 0, JSON.stringify(totals));
    // A large message that a stand-in was still sending when it was moved itself.
    // An announcement for the life before, which the next one answered.
    equal(runRevivalSeed({ seed: 3, moves: true }).violations.length, 0);
    equal(runRevivalSeed({ seed: 10552, moves: true, variant: "mirror" }).violations.length, 0);
  });

  it("D5 redundancy is held as long as there are spares, then as long as any replica lives", () => {
    let [begun, deaths] = [0, 0];
    for (let seed = 1; seed <= tries(4, 60); seed++) {
      const spares = seed % 3;
      const outcome = runRevivalSeed({ seed, spares, moves: false });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
      ok(outcome.clones.begun <= spares, `${outcome.clones.begun} clones on ${spares} spares`);
      begun += outcome.clones.begun;
      deaths += outcome.deaths;
    }
    ok(begun > 0 && deaths > begun, `${deaths} deaths, ${begun} came back`);
  });

  it("R6 seeds that have found something", () => {
    // The last pieces of a large message were lost with the source, whose image took it for sent.
    // A source that waited where it cannot be captured, for a rank that waited for the clone.
    // An attempt that was given up before everybody had heard of it.
    // A second attempt, from another source, that came before the news of the first one's end: a message that everybody has was kept.
    // A source whose world waited, by a substitute, for what others held back for the clone: the attempt is given up.
    for (const seed of [1129, 1007, 3074, 1483, 4579].slice(0, tries(2, 5))) {
      const outcome = runRevivalSeed({ seed });
      equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
    }
  });
});
