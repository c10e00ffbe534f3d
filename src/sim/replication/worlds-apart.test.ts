/**
 * Worlds that are not equally far. A substitute is in two of them: what it sends to the one that is behind must not come from that world's
 * future, where a receive of ANY_SOURCE would take it too early.
 */
import { deepEqual, match } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { MirrorProtocol } from "../../core/ft/replication/mirror-protocol.ts";
import { ReplicatedSends, type ReplicatedSendsParts } from "../../core/ft/replication/replicated-sends.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import type { CostModel } from "../cost-model.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import type { Script } from "../script/script.ts";
import { type MakeReplica, runReplicas } from "./run-replication-seed.ts";

const certain: Partial<CostModel> = { jitterNs: 0, inFlightAtCrash: "delivered", detectionNs: 10_000 };

/** In each round rank 2 gathers from ranks 0 and 1, always under the same tag, and lets both of them go on when it has both. */
function rounds(count: number, bytes: number): Script {
  const program = new ScenarioProgram(3);
  for (let round = 0; round < count; round++) program.gather([0, 1], 2, bytes, 99).send(2, 0).send(2, 1);
  return program.script;
}

interface Apart {
  readonly plan: readonly number[];
  readonly bytes: number;
  /** The replicas of these ranks in world 0 die at this time. */
  readonly dead: readonly number[];
  readonly deathNs: number;
  /** Rank 1's replica in world 0, or in the last one, stands still until the others have come as far as they can. */
  readonly behind: "first" | "last";
  readonly makeReplica?: MakeReplica;
}

/** Each process has a node of its own. */
function violations({ plan, bytes, dead, deathNs, behind, makeReplica }: Apart): string[] {
  const ranks = plan.length;
  const replicas = Math.max(...plan);
  const slow = behind === "first" ? 1 : (replicas - 1) * ranks + 1;
  const outcome = runReplicas({
    plan,
    script: rounds(3, bytes),
    makeReplica,
    world: { ranks, nodes: ranks * replicas, cost: certain },
    planDeaths: (world) => {
      world.plan(1_000, () => world.stopNode(slow));
      world.plan(5_000_000, () => world.continueNode(slow));
      for (const rank of dead) world.planCrash(deathNs, rank);
    },
  });
  return outcome.violations.map(({ invariant, what }) => `${invariant}: ${what}`);
}

/** Sends to all worlds at once, as the paper's algorithm does. */
class HastySends extends ReplicatedSends {
  protected override get hasGates(): boolean {
    return false;
  }
}

class Hasty extends ReplicationProtocol {
  protected override newSends(parts: ReplicatedSendsParts): ReplicatedSends {
    return new HastySends(this.ports, parts);
  }
}

const times = Array.from({ length: tries(3, 40) }, (_, i) => 500 + Math.floor((i * 100_000) / tries(3, 40)));

describe("R4, R5 worlds that are not equally far", () => {
  for (const bytes of [8, 20_000]) {
    it(`messages of ${bytes} bytes wait for the world that is behind, whoever dies in the first, and when`, () => {
      for (const plan of [
        [2, 2, 2],
        [3, 3, 3],
        [2, 2, 1],
      ]) {
        for (const dead of [[0], [0, 1], [1], [0, 2], [1, 2]].filter((ranks) =>
          ranks.every((rank) => plan[rank]! > 1),
        )) {
          for (const deathNs of times) {
            for (const behind of ["first", "last"] as const) {
              deepEqual(
                violations({ plan, bytes, dead, deathNs, behind }),
                [],
                `${plan}; ${dead} at ${deathNs}, ${behind}`,
              );
            }
          }
        }
      }
    });

    it(`R8 so do those of the only process of a rank, ${bytes} bytes`, () => {
      for (const plan of [
        [1, 2, 2],
        [1, 3, 2],
        [1, 2, 1],
      ]) {
        for (const behind of ["first", "last"] as const) {
          deepEqual(violations({ plan, bytes, dead: [], deathNs: 0, behind }), []);
        }
      }
    });
  }

  it("otherwise a receive of any source takes what is meant for a later one", () => {
    const makeReplica: MakeReplica = (...all) => new Hasty(...all);
    const apart = { plan: [2, 2, 2], bytes: 8, dead: [0], deathNs: 500, behind: "first" } as const;
    match(
      violations({ ...apart, makeReplica }).join(),
      /statuses are right: world 0: receive \d+: it took message \d+/,
    );
  });

  it("R8 mirrored, such a receive is refused", () => {
    const makeReplica: MakeReplica = (...all) => new MirrorProtocol(...all);
    const peaceful = { plan: [2, 2, 2], bytes: 8, dead: [], deathNs: 0, behind: "first" } as const;
    match(
      violations({ ...peaceful, makeReplica }).join(),
      /Cannot receive from MPI_ANY_SOURCE under --replication mirror/,
    );
  });
});
