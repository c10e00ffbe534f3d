/**
 * Nonblocking collectives in worlds that are not equally far (ADR 44): the program sees what they take when it looks at their requests, and only their own messages depend
 * on it before.
 */
import { equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless } from "../../../test/long.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { SendChannel } from "../../core/ft/replication/sending/send-channel.ts";
import type { Past } from "../../core/ft/replication/strands.ts";
import { WorldGates } from "../../core/ft/replication/world-gates.ts";
import type { CostModel } from "../cost-model.ts";
import { failureText } from "../failure-text.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import type { World } from "../world.ts";
import { type MakeReplica, type ReplicatedOutcome, runReplicas, runReplicationSeed } from "./run-replication-seed.ts";

const certain: Partial<CostModel> = { jitterNs: 0, inFlightAtCrash: "delivered", detectionNs: 10_000 };

/** What a collective takes the program has seen at once. */
class AllSeen extends ReplicationProtocol {
  override collectiveBegins(_collective: RecordId): void {}
}

/** A collective's messages do not depend on what it has taken. */
class FreeCollectives extends ReplicationProtocol {
  constructor(...all: ConstructorParameters<typeof ReplicationProtocol>) {
    super(...all);
    const { gates } = this as unknown as { gates: WorldGates };
    const mayPass = (world: number, { position }: Past): boolean =>
      WorldGates.prototype.mayPass.call(gates, world, { position, strand: null, taken: 0 });
    Object.defineProperty(gates, "mayPass", { value: mayPass });
  }
}

/** The program never sees what a collective has taken. */
class NeverSeen extends ReplicationProtocol {
  override collectiveSeen(_collective: RecordId): void {}
}

const wrongIn = ({ violations }: ReplicatedOutcome): string =>
  violations.map(({ invariant, what }) => `${invariant}: ${what}`).join();

/**
 * Rank 0 sends to rank 1, and then takes part in a collective. By that, or by a message of rank 2 when it is over, rank 3 may go on and send to rank 1, which takes what comes.
 * Rank 2 is dead in world 0, where rank 0 is behind.
 */
function behind(collective: "bcast" | "reduce", makeReplica?: MakeReplica): string {
  const program = new ScenarioProgram(4).compute(0, 5_000).gather([0], 1, 8, 99).send(1, 0);
  // A broadcast of rank 0 comes to rank 3 by rank 2; a reduction for rank 2 keeps rank 3 from nothing.
  program.collectiveAround(collective, collective === "bcast" ? 0 : 2, () => {});
  if (collective === "reduce") program.send(2, 3);
  program.gather([3], 1, 8, 99);
  return wrongIn(
    runReplicas({
      plan: [2, 2, 2, 2],
      script: program.script,
      makeReplica,
      world: { ranks: 4, nodes: 8, cost: certain },
      planDeaths: (world) => {
        world.planCrash(500, 2);
        world.plan(1_000, () => world.stopNode(0));
        world.plan(5_000_000, () => world.continueNode(0));
      },
    }),
  );
}

/**
 * A reduction by way of ranks 15, 14, 12, 8 and 0. In world 0 ranks 8 and 14 are dead, and have different worlds' histories: rank 8 that of world 1, where it sent for the
 * reduction before it sent to rank 0; rank 14 that of world 2, where rank 15 was late, and it sent to rank 12 before.
 */
function reduction(makeReplica?: MakeReplica): string {
  const ranks = 16;
  const program = new ScenarioProgram(ranks).compute(15, 5_000);
  program.collectiveAround("reduce", 0, () => {
    program.compute(1, 60_000).send(1, 8).send(8, 0).send(0, 14).send(14, 12);
  });
  const stopUntil = (world: World, node: number, ns: number): void => {
    world.plan(1, () => world.stopNode(node));
    world.plan(ns, () => world.continueNode(node));
  };
  return wrongIn(
    runReplicas({
      plan: new Array<number>(ranks).fill(3),
      script: program.script,
      makeReplica,
      world: { ranks, nodes: 3 * ranks, cost: certain },
      planDeaths: (world) => {
        world.planCrash(500, 8);
        world.planCrash(500, 14);
        world.planCrash(40_000, ranks + 14);
        world.planCrash(120_000, 2 * ranks + 8);
        stopUntil(world, 15, 400_000);
        stopUntil(world, 2 * ranks + 15, 400_000);
      },
    }),
  );
}

describe("R4 nonblocking collectives in worlds that are not equally far", () => {
  it("a collective's message waits for what the collective has taken", () => {
    equal(behind("bcast"), "");
    match(
      behind("bcast", (...all) => new FreeCollectives(...all)),
      /statuses are right: world 0: receive/,
    );
  });

  it("one of the program waits for what collectives have taken that the program has waited for", () => {
    equal(behind("reduce"), "");
    match(
      behind("reduce", (...all) => new NeverSeen(...all)),
      /statuses are right: world 0: receive/,
    );
  });

  it("one that has to wait holds back none of others", () => {
    equal(reduction(), "");
    const mayOvertake = Object.getOwnPropertyDescriptor(SendChannel.prototype, "mayOvertake")!;
    try {
      Object.defineProperty(SendChannel.prototype, "mayOvertake", { ...mayOvertake, get: () => false });
      match(reduction(), /nobody is stuck/);
    } finally {
      Object.defineProperty(SendChannel.prototype, "mayOvertake", mayOvertake);
    }
  });

  for (const seed of [60003665, 60008034]) {
    it(
      `one does not wait for what another collective happened to take before: seed ${seed}`,
      longUnless(seed === 60008034),
      () => {
        const outcome = runReplicationSeed({ seed });
        equal(outcome.violations.length, 0, failureText({ seed, protocol: "replication" }, outcome));
        const stuck = runReplicationSeed({ seed, makeReplica: (...all) => new AllSeen(...all) });
        match(wrongIn(stuck), /nobody is stuck/);
      },
    );
  }
});
