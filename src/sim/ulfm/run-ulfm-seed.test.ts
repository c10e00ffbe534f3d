/** Random programs that repair themselves after deaths. Rows U1, U2; `banyan sim --protocol ulfm` runs more of them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { Ledger } from "../ledger.ts";
import { runUlfmSeed } from "./run-ulfm-seed.ts";

describe("U2 ULFM random programs with deaths", () => {
  it("nobody is stuck, what completed is right, agreements and groups are the same for all", () => {
    const counts = { deaths: 0, files: 0, joined: 0 };
    for (let seed = 1; seed <= tries(20, 300); seed++) {
      const outcome = runUlfmSeed({ seed });
      assert.deepEqual(outcome.violations, [], `seed ${seed}`);
      for (const what of ["deaths", "files", "joined"] as const) counts[what] += outcome[what];
    }
    assert.ok(counts.deaths > 20 && counts.files > 20 && counts.joined > 5, JSON.stringify(counts));
  });

  it("no death that some have acknowledged stays in a communicator in which others wait for anybody", () => {
    assert.deepEqual(runUlfmSeed({ seed: 12_605 }).violations, []);
  });

  it("the same seed gives the same run", () => {
    assert.equal(runUlfmSeed({ seed: 17 }).hash, runUlfmSeed({ seed: 17 }).hash);
  });

  it("a rank that saw something else is found out", () => {
    const ledger = new Ledger();
    ledger.same("agreement 1", 0, "flags 1");
    ledger.same("agreement 1", 1, "flags 1");
    assert.deepEqual(ledger.violations, []);
    ledger.same("agreement 1", 2, "flags 0");
    assert.equal(ledger.violations.length, 1);
  });
});
