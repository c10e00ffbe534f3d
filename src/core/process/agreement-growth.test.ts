/** Agreements and revocations grow with the logarithm of the processes. Row U2. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { World } from "../../sim/world.ts";
import { R_ERROR } from "../request/records.ts";
import { Agree } from "./agree.ts";

interface Cost {
  readonly agreeNs: number;
  readonly revokeNs: number;
}

function costOf(ranks: number): Cost {
  const world = new World({ ranks, nodes: Math.max(1, ranks / 16), seed: 1, cost: { jitterNs: 0 } });
  let [agreed, revoked, revokedAt] = [0, 0, 0];
  world.startAll(function* ({ core, engine, until }) {
    const request = core.start(new Agree(core.world, 1));
    yield request;
    assert.equal(engine.records.get(request, R_ERROR), 0);
    engine.giveBack(request);
    agreed = Math.max(agreed, world.nowNs);
    if (core.rank === 0) {
      revokedAt = world.nowNs;
      core.revocations.revoke(core.world);
    }
    yield until("the revocation", () => core.world.isRevoked);
    revoked = Math.max(revoked, world.nowNs);
  });
  assert.deepEqual(world.run(), []);
  return { agreeNs: agreed, revokeNs: Math.max(revoked, agreed) - revokedAt };
}

it("U2 ULFM agree and revoke: twice the processes take one step more, not twice the time", () => {
  // On several nodes each; each doubling adds what the one before has added.
  const costs = [32, 64, 128, 256].map(costOf);
  for (const what of ["agreeNs", "revokeNs"] as const) {
    const added = costs.slice(1).map((cost, i) => cost[what] - costs[i]![what]);
    assert.ok(added.at(-1)! <= 1.5 * Math.max(...added.slice(0, -1), 1_000), `${what}: +${added}`);
  }
});
