import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { at, rounds, ScenarioProgram, survive } from "../logging/testing/scenario.ts";

const base = { nodes: 2, program: rounds(6, 300), logBytesMax: 1_000 };

describe("L6 a payload log has no room", () => {
  it("its oldest payloads leave memory, and nobody waits", () => {
    const { spilled, restarts, rare } = survive({ ...base, faults: "" });
    ok(rare.logFull > 0);
    ok(spilled > 0);
    equal(restarts, 0);
  });

  it("what is outside comes back for a set that falls and has no image", () => {
    const { spilled, fetched } = survive({ ...base, faults: "kill node 1 at call 20" });
    ok(spilled > 0);
    ok(fetched > 0);
  });

  it("and its set falls at that moment, then the other one", () => {
    const { rare, restartsOf } = survive({
      ...base,
      faults: "kill set 0 at log full; kill set 1 in recovery of set 0",
    });
    ok(rare.logFull > 0);
    equal(restartsOf[0], 1);
    equal(restartsOf[2], 1);
  });

  it("and the set falls for which it is kept", () => {
    const { rare, restartsOf } = survive({
      ...base,
      faults: "kill set 1 at log full of set 0; kill set 0 at log full of set 0",
    });
    ok(rare.logFull > 0);
    equal(restartsOf[0], 1);
    equal(restartsOf[2], 1);
  });

  it("nothing has room in memory at all", () => {
    const { fetched } = survive({
      ...base,
      logBytesMax: 0,
      faults: "kill node 1 at call 20; kill node 0 in recovery of set 1",
    });
    ok(fetched > 0);
  });

  it("the sets that hold it take checkpoints, though nobody else asks for any, and it is trimmed", () => {
    const asked = survive({ ...base, checkpoints: [], faults: "" });
    ok(asked.checkpoints.committed >= 2);
    const unbounded = survive({ ...base, logBytesMax: 1 << 20, checkpoints: [], faults: "" });
    equal(unbounded.checkpoints.asked, 0);
    ok(asked.loggedBytes < unbounded.loggedBytes);
  });

  it("while one of those checkpoints is taken, at each of its windows", () => {
    for (const window of [
      "checkpoint 1 before",
      "checkpoint 1 while",
      "commit 1",
      "checkpoint 1 after",
      "checkpoint 2 after",
    ]) {
      const { rare, checkpoints } = survive({ ...base, checkpoints: [], faults: `kill set 1 at ${window}` });
      ok(rare.logFull > 0);
      ok(checkpoints.asked > 0);
    }
  });

  it("an image says what is outside, and a life from it finds it there", () => {
    const { checkpoints, fetched } = survive({
      ...base,
      checkpoints: at(0, 6),
      corrupt: [1, 1],
      faults: "kill node 0 at checkpoint 2 of set 0 after; kill node 1 in recovery of set 0",
    });
    ok(checkpoints.restored >= 1);
    ok(fetched > 0);
  });

  it("with large messages, of which half has come", () => {
    for (let us = 20; us <= 80; us += 10) {
      const program = new ScenarioProgram(2);
      for (let round = 0; round < 3; round++) program.send(0, 1, 20_000).gather([1], 0).send(1, 0, 20_000);
      const faults = `kill node 0 at ${us / 1000}ms; kill node 1 in recovery of set 0`;
      const { rare } = survive({ nodes: 2, program: program.script, logBytesMax: 20_000, mayMiss: true, faults });
      ok(rare.logFull > 0);
    }
  });
});
