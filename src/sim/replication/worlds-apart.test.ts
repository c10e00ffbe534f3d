/**
 * Worlds that are not equally far. A substitute is in two of them: what it sends to the one that is behind must not come from that world's
 * future, where a receive of ANY_SOURCE would take it too early.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { WorldRank } from "../../core/base/brand.ts";
import { MirrorProtocol } from "../../core/ft/replication/mirror-protocol.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { ReplicatedSends, type ReplicatedSendsParts } from "../../core/ft/replication/sending/replicated-sends.ts";
import { Arrival } from "../../core/request/decisions.ts";
import { SEQUENCE, SOURCE } from "../../core/wire/packet.ts";
import type { CostModel } from "../cost-model.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import { type MakeReplica, runReplicas } from "./run-replication-seed.ts";
import { type RevivalOutcome, runRevivals } from "./run-revival-seed.ts";

const certain: Partial<CostModel> = { jitterNs: 0, inFlightAtCrash: "delivered", detectionNs: 10_000 };

/** In each round rank 2 gathers from ranks 0 and 1, always under the same tag, and lets both of them go on when it has both. */
function rounds(count: number, bytes: number): Script {
  const program = new ScenarioProgram(3);
  for (let round = 0; round < count; round++) program.gather([0, 1], 2, bytes, 99).send(2, 0).send(2, 1);
  return program.script;
}

/** The same; rank 0 hears of its message by a probe, sends that of the next round, and receives it afterwards. */
function probedRounds(count: number, bytes: number): Script {
  const program = new ScenarioProgram(3).gather([0, 1], 2, bytes, 99);
  for (let round = 0; round < count; round++) {
    program.sendAround(2, 0, "probed", (send) => {
      send();
      program.send(2, 1).gather([0, 1], 2, bytes, 99);
    });
  }
  return program.script;
}

interface Apart {
  readonly plan: readonly number[];
  readonly bytes: number;
  readonly program?: (rounds: number, bytes: number) => Script;
  /** The replicas of these ranks in world 0 die at this time. */
  readonly dead: readonly number[];
  readonly deathNs: number;
  /** Rank 1's replica in world 0, or in the last one, stands still until the others have come as far as they can. */
  readonly behind: "first" | "last";
  readonly makeReplica?: MakeReplica;
}

/** Each process has a node of its own. */
function violations({ plan, bytes, program = rounds, dead, deathNs, behind, makeReplica }: Apart): string[] {
  const ranks = plan.length;
  const replicas = Math.max(...plan);
  const slow = behind === "first" ? 1 : (replicas - 1) * ranks + 1;
  const outcome = runReplicas({
    plan,
    script: program(3, bytes),
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
  override get hasGates(): boolean {
    return false;
  }
}

class Hasty extends ReplicationProtocol {
  protected override newSends(parts: ReplicatedSendsParts): ReplicatedSends {
    return new HastySends(this.ports, parts);
  }
}

/** Takes a message for seen when it has come. */
class Foreseeing extends ReplicationProtocol {
  override arrived(words: Int32Array, packet: number): Arrival {
    const arrival = super.arrived(words, packet);
    if (arrival === Arrival.TAKE) this.seen(words[packet + SOURCE]! as WorldRank, words[packet + SEQUENCE]!, false);
    return arrival;
  }
}

/** Takes a message for seen when it is received. */
class DeafToProbes extends ReplicationProtocol {
  override seen(source: WorldRank, sequence: number, isOver: boolean): void {
    if (isOver) super.seen(source, sequence, isOver);
  }
}

/**
 * Rank 1 has a message of rank 0 before it sends to rank 2, but looks at it only afterwards. Rank 0 has sent it behind one to rank 2 that is complete at once in world 1;
 * in world 0 that one waits for rank 2, and rank 2 for the message of rank 1, which is dead there.
 */
function unseen(how: "posted" | "unexpected"): Script {
  const program = new ScenarioProgram(3);
  const first = (): void => void program.compute(2, 100_000).send(2, 1).send(1, 2).send(0, 2);
  if (how === "unexpected") {
    first();
    return program.send(0, 1).script;
  }
  const withReceive = (send: () => void): void => {
    first();
    send();
  };
  return program.sendAround(0, 1, "posted", withReceive).script;
}

function violationsUnseen(how: "posted" | "unexpected", makeReplica?: MakeReplica): string[] {
  const substitute = 4;
  const outcome = runReplicas({
    plan: [2, 2, 2],
    script: unseen(how),
    makeReplica,
    world: { ranks: 3, nodes: 6, cost: certain, eagerLimit: (_, to) => (to < 3 ? 0 : 100) },
    planDeaths: (world) => {
      world.planCrash(500, 1);
      world.plan(1_000, () => world.stopNode(substitute));
      world.plan(5_000_000, () => world.continueNode(substitute));
    },
  });
  return outcome.violations.map(({ invariant, what }) => `${invariant}: ${what}`);
}

/**
 * How many calls rank 1's replica in world 0, which hears of rank 0 from the other world alone, is behind the one in world 1: looked at again and again. Both ranks compute
 * before each exchange.
 */
function behindInExchanges(computeNs: readonly [number, number]): number[] {
  const program = new ScenarioProgram(2);
  for (let step = 0; step < 200; step++) {
    program.compute(0, computeNs[0]).compute(1, computeNs[1]).send(0, 1).send(1, 0);
  }
  const ofRank1: ReplicationProtocol[] = [];
  const behind: number[] = [];
  const outcome = runReplicas({
    plan: [2, 2],
    script: program.script,
    makeReplica: (options, ports) => {
      const replica = new ReplicationProtocol(options, ports);
      if (options.rank === 1) ofRank1[options.replica] = replica;
      return replica;
    },
    world: { ranks: 2, nodes: 4, cost: certain },
    planDeaths: (world) => {
      world.planCrash(100_000, 0);
      for (let ns = 200_000; ns < 4_000_000; ns += 200_000) {
        world.plan(ns, () => behind.push(ofRank1[1]!.callsPassed - ofRank1[0]!.callsPassed));
      }
    },
  });
  deepEqual(outcome.violations, []);
  return behind;
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

  for (const how of ["posted", "unexpected"] as const) {
    it(`a message does not wait for one that had come, and was not seen: ${how}`, () => {
      deepEqual(violationsUnseen(how), []);
      // Otherwise the world that is behind waits for it, and it for that world.
      match(violationsUnseen(how, (...all) => new Foreseeing(...all)).join(), /stuck|waits/);
    });
  }

  it("it waits for one that a probe has found", () => {
    const apart = { plan: [2, 2, 2], bytes: 8, program: probedRounds, dead: [0], behind: "first" } as const;
    for (const deathNs of times) deepEqual(violations({ ...apart, deathNs }), []);
    const makeReplica: MakeReplica = (...all) => new DeafToProbes(...all);
    match(violations({ ...apart, deathNs: 500, makeReplica }).join(), /statuses are right: world 0: receive \d+/);
  });

  it("R4 a world that goes on by what another one sends is not further behind with every exchange, whoever computes longer", () => {
    for (const computeNs of [
      [20_000, 20_000],
      [20_000, 0],
      [10_000, 20_000],
      [0, 20_000],
    ] as const) {
      const behind = behindInExchanges(computeNs);
      ok(
        behind.every((calls) => Math.abs(calls) <= 2),
        `${computeNs}: behind by ${behind} calls`,
      );
    }
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

interface Joined {
  readonly plan: readonly number[];
  readonly bytes: number;
  /** This rank's replica in world 0 dies, and comes back. */
  readonly dead: number;
  readonly deathNs: number;
  /** Rank 1 in world 0 stands still until then. */
  readonly behindUntilNs: number;
  readonly imageNsMax: number;
  readonly makeReplica?: MakeReplica;
}

/** The replicas of other worlds go on meanwhile: their rounds take a while, so that none of them is at its end. */
function joined({ plan, bytes, dead, deathNs, behindUntilNs, imageNsMax, makeReplica }: Joined): RevivalOutcome {
  const ranks = plan.length;
  const program = new ScenarioProgram(ranks);
  for (let round = 0; round < 20; round++) {
    program.gather([0, 1], 2, bytes, 99).send(2, 0).send(2, 1).compute(0, 3_000);
  }
  return runRevivals({
    plan,
    script: program.script,
    world: { ranks, nodes: ranks * Math.max(...plan), cost: certain },
    random: new Random(1),
    delayNsMax: 0,
    imageNsMax,
    makeReplica: makeReplica ?? ((options, ports) => new ReplicationProtocol(options, ports)),
    trouble: {
      begin: ({ world, kill, numberOf }) => {
        world.plan(1_000, () => world.stopNode(numberOf(1, 0)));
        world.plan(behindUntilNs, () => world.continueNode(numberOf(1, 0)));
        kill(numberOf(dead, 0), deathNs);
      },
      // What rank 0 has for the clone comes before what rank 1 has.
      happens: (moment, _attempt, { world, numberOf }) => {
        if (moment !== "begun") return;
        world.stopNode(numberOf(1, 0));
        world.plan(world.nowNs + 30_000, () => world.continueNode(numberOf(1, 0)));
      },
    },
  });
}

const wrongIn = ({ violations: found }: RevivalOutcome): string[] =>
  found.map(({ invariant, what }) => `${invariant}: ${what}`);

interface Parts {
  readonly gates: object;
  readonly sends: { readonly served: object };
}

/** Replicas of which one part does something else; no image holds what is put in its place. */
function lacking(
  partOf: (parts: Parts) => object,
  method: string,
  instead: (this: { own: number }, own: number) => void,
): MakeReplica {
  return (options, ports) => {
    const replica = new ReplicationProtocol(options, ports);
    const part = partOf(replica as unknown as Parts);
    Object.defineProperty(part, method, { value: instead, enumerable: false });
    return replica;
  };
}

/** Sends to its own world at once. */
const hastyClone = lacking(
  ({ gates }) => gates,
  "begin",
  function (own) {
    this.own = own;
  },
);
/** Sends in the place of the clone until that is there. */
const eagerSource = lacking(
  ({ sends }) => sends.served,
  "holdBack",
  () => {},
);

const ahead = { plan: [2, 2, 2], bytes: 8, dead: 0, deathNs: 5_000, behindUntilNs: 60_000, imageNsMax: 0 };
const left = { plan: [2, 2, 2], bytes: 8, dead: 2, deathNs: 5_000, behindUntilNs: 2_000, imageNsMax: 400_000 };

/** How large messages are, and until when the clone's world is behind. */
const kinds = (
  [
    [8, 60_000],
    [20_000, 60_000],
    [8, 150_000],
  ] as const
).slice(0, tries(1, 3));

describe("R4, R6 clones that join a world which is not as far as they, or further", () => {
  it("a clone whose source was ahead sends to its world when that has come as far, whenever it was lost", () => {
    let back = 0;
    for (const plan of [
      [2, 2, 2],
      [3, 3, 3],
      [2, 2, 1],
    ]) {
      for (const dead of [0, 2].filter((rank) => plan[rank]! > 1)) {
        for (const deathNs of times) {
          for (const [bytes, behindUntilNs] of kinds) {
            const outcome = joined({ plan, bytes, dead, deathNs, behindUntilNs, imageNsMax: 0 });
            deepEqual(wrongIn(outcome), [], `${plan}; ${bytes} bytes, ${dead} at ${deathNs}, ${behindUntilNs}`);
            back += outcome.clones.back;
          }
        }
      }
    }
    ok(back > 0, `${back} came back`);
  });

  it("otherwise its messages are taken too early", () => {
    equal(joined(ahead).clones.back, 1);
    match(wrongIn(joined({ ...ahead, makeReplica: hastyClone })).join(), /statuses are right: world 0/);
  });

  it("its world waits for it when its image is taken; otherwise it gets messages that depend on what it has not sent", () => {
    const outcome = joined(left);
    deepEqual(wrongIn(outcome), []);
    equal(outcome.clones.back, 1);
    match(wrongIn(joined({ ...left, makeReplica: eagerSource })).join(), /statuses are right: world 0/);
  });
});
