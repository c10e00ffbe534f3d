/** What an agreement and a revocation cost among many processes: packets of the process that sends most, of all, and virtual time. */
import { assert } from "../../core/base/assert.ts";
import { Agree } from "../../core/process/agree.ts";
import { R_ERROR } from "../../core/request/records.ts";
import type { RankProgram } from "../sim-process.ts";
import { World } from "../world.ts";

interface Cost {
  readonly packetsMax: number;
  readonly packets: number;
  readonly timeNs: number;
}

export interface Growth {
  readonly ranks: number;
  readonly agree: Cost;
  readonly revoke: Cost;
}

const ranksOfNode = 16;

export function growthOf(ranks: number): Growth {
  return { ranks, agree: costOf(ranks, agreeing), revoke: costOf(ranks, revoking) };
}

const agreeing: RankProgram = function* ({ core, engine }) {
  const request = core.start(new Agree(core.world, 1));
  yield request;
  assert(engine.records.get(request, R_ERROR) === 0, "all agree");
  engine.giveBack(request);
};

const revoking: RankProgram = function* ({ core, until }) {
  if (core.rank === 0) core.revocations.revoke(core.world);
  yield until("the revocation", () => core.world.isRevoked);
};

/** Every process runs that program, from the same moment on; the time is that of the last one's end. */
function costOf(ranks: number, program: RankProgram): Cost {
  const sent = new Int32Array(ranks);
  const world = new World({
    ranks,
    nodes: Math.max(1, ranks / ranksOfNode),
    cost: { jitterNs: 0 },
    listener: (line) => {
      const [, what, from] = line.trim().split(" ");
      if (what === "arrival") sent[Number(from)]!++;
    },
  });
  let timeNs = 0;
  world.startAll(function* (process) {
    yield* program(process);
    timeNs = Math.max(timeNs, world.nowNs);
  });
  assert(world.run().length === 0, "nobody waits for ever");
  return { packetsMax: Math.max(...sent), packets: sent.reduce((sum, each) => sum + each, 0), timeNs };
}
