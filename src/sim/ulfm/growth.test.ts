/** Agreements and revocations grow with the logarithm of the processes. Row U2; the plot is in docs/ulfm.md. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { long } from "../../../test/long.ts";
import { type Growth, growthOf } from "./growth.ts";

/** Sizes double; on several nodes each, so that the last steps are all between nodes. */
function checkGrowth(sizes: readonly number[]): void {
  const all = sizes.map(growthOf);
  for (const { ranks, agree, revoke } of all) {
    const log = Math.log2(ranks);
    // Four sweeps over a binomial tree: the root has the most children.
    assert.equal(agree.packets, 4 * (ranks - 1), `${ranks}`);
    assert.equal(agree.packetsMax, 2 * log, `${ranks}`);
    // Everybody tells its neighbours, but for the one that it heard it from.
    assert.ok(revoke.packetsMax <= log, `${ranks}: ${revoke.packetsMax}`);
    assert.ok(revoke.packets <= ranks * log, `${ranks}: ${revoke.packets}`);
  }
  for (const what of ["agree", "revoke"] as const) {
    const added = all.slice(1).map((growth, i) => growth[what].timeNs - timeOf(all, i, what));
    assert.ok(Math.max(...added) <= 1.5 * Math.max(added[0]!, 10_000), `${what}: each doubling adds ${added} ns`);
  }
}

const timeOf = (all: readonly Growth[], index: number, what: "agree" | "revoke"): number => all[index]![what].timeNs;

describe("U2 ULFM agree and revoke: twice the processes cost a step and a packet more", () => {
  it("16 to 256 processes", () => checkGrowth([16, 32, 64, 128, 256]));
  it("512 to 16 384 processes", long, () => checkGrowth([512, 1024, 2048, 4096, 8192, 16_384]));
});
