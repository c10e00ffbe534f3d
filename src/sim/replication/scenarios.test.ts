/** The paper's own scenarios, with nothing left to chance. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { Membership } from "../../core/ft/replication/membership.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { RecordFlag, SendMode } from "../../core/request/records.ts";
import type { CostModel } from "../cost-model.ts";
import { ScenarioProgram } from "../logging/testing/scenario.ts";
import type { Script } from "../script/script.ts";
import { World } from "../world.ts";
import { certainCost } from "./certain-cost.ts";
import { type ReplicatedOutcome, runReplicas } from "./run-replication-seed.ts";

interface Scenario {
  readonly program: Script;
  readonly plan: readonly number[];
  /** When, and which replica of which rank. */
  readonly deaths?: readonly { readonly atNs: number; readonly rank: number; readonly replica: number }[];
  readonly copiesBytesMax?: number;
  readonly cost?: Partial<CostModel>;
}

function play({ program, plan, deaths = [], copiesBytesMax, cost }: Scenario): ReplicatedOutcome {
  const ranks = plan.length;
  const nodes = ranks * Math.max(...plan);
  return runReplicas({
    plan,
    script: program,
    world: { ranks, nodes, cost: { ...certainCost, ...cost } },
    ...(copiesBytesMax === undefined ? {} : { copiesBytesMax }),
    planDeaths: (world) => {
      for (const { atNs, rank, replica } of deaths) world.planCrash(atNs, replica * ranks + rank);
    },
  });
}

function survive(scenario: Scenario): ReplicatedOutcome {
  const outcome = play(scenario);
  equal(outcome.violations.length, 0, `${outcome.violations[0]?.invariant}: ${outcome.violations[0]?.what}`);
  return outcome;
}

/** Two ranks, two replicas of each; their programs are still to be started. */
function twoWorlds(): World {
  const plan = [2, 2];
  return new World({
    ranks: 2,
    replicas: plan,
    cost: certainCost,
    protocol: (process) => (ports) => {
      const place = { rank: process % 2, replica: Math.floor(process / 2) };
      return new ReplicationProtocol({ ...place, membership: new Membership(plan) }, ports);
    },
  });
}

describe("R4 Figure 3: two ranks, two replicas of each, one dies between two exchanges", () => {
  const figure3 = (): Script => {
    const program = new ScenarioProgram(2);
    for (let round = 0; round < 2; round++) program.send(1, 0).send(0, 1).compute(1, 20_000);
    return program.script;
  };

  it("without the death each message is sent once in each world, and acknowledged to the other one", () => {
    const { counts } = survive({ program: figure3(), plan: [2, 2] });
    deepEqual(counts, { ...counts, sent: 8, sentForOthers: 0, acknowledgements: 8, duplicates: 0 });
  });

  it("whenever the death comes, all that live come to the end", () => {
    let sentForOthers = 0;
    for (let atNs = 0; atNs < 60_000; atNs += 4_000) {
      const deaths = [{ atNs, rank: 1, replica: 1 }];
      sentForOthers += survive({ program: figure3(), plan: [2, 2], deaths }).counts.sentForOthers;
    }
    ok(sentForOthers > 8, `${sentForOthers} messages sent for the dead`);
  });
});

describe("R3 §3.3: nobody waits for ever", () => {
  it("Irecv, Send, Wait on both sides, with large messages", () => {
    const program = new ScenarioProgram(2);
    program.exchange(0, 1, 5_000);
    survive({ program: program.script, plan: [2, 2] });
  });

  it("Send, Recv on both sides, with small messages, also without room for copies", () => {
    for (const copiesBytesMax of [0, 1 << 20]) {
      const program = new ScenarioProgram(2);
      program.cross(0, 1, 8);
      survive({ program: program.script, plan: [2, 2], copiesBytesMax });
    }
  });

  it("copies are bounded: a program that sends much more than they hold comes to its end", () => {
    const program = new ScenarioProgram(2);
    for (let i = 0; i < 200; i++) program.send(0, 1, 100);
    survive({ program: program.script, plan: [3, 3], copiesBytesMax: 500 });
  });
});

describe("R3 the end of a process", () => {
  it("MPI_Finalize waits for acknowledgements: until the other world has a small message, whose send was complete at once, its sender may not end", () => {
    const world = twoWorlds();
    const seen: string[] = [];
    world.startAll(function* ({ engine, memory, rank, number, compute, until }) {
      const buffer = memory.allocate(8);
      const name = `${rank}.${Math.floor(number / 2)}`;
      if (rank === 1) {
        // World 1 is late: 0.0 keeps the message for it.
        if (number === 3) yield compute(50_000);
        yield engine.startReceive(buffer, 8, 0, 7, 4);
        seen.push(`${name} has it`);
        return;
      }
      if (number === 2) yield compute(40_000);
      yield engine.startSend(buffer, 8, 1, 7, 4, SendMode.STANDARD);
      seen.push(`${name} has sent${engine.unsent ? ", and must not end" : ""}`);
      // As MPI_Finalize does.
      yield until("its acknowledgements", () => !engine.unsent);
      seen.push(`${name} ends`);
    });
    deepEqual(world.run(), []);
    equal(seen[0], "0.0 has sent, and must not end");
    ok(seen.indexOf("0.0 ends") > seen.indexOf("0.1 has sent, and must not end"), seen.join("; "));
  });
});

describe("R4 half a message of the dead", () => {
  it("a receive that has half of it waits for the same number, which the substitute sends", () => {
    const program = new ScenarioProgram(2).send(0, 1, 60_000).send(1, 0);
    let duplicates = 0;
    for (let atNs = 0; atNs < 40_000; atNs += 2_000) {
      const deaths = [{ atNs, rank: 0, replica: 0 }];
      // The news is faster than the acknowledgements.
      const cost = { detectionNs: 0 };
      duplicates += survive({ program: program.script, plan: [2, 2], deaths, cost }).counts.duplicates;
    }
    ok(duplicates > 0, "a message that had come was sent again, and its sender was told");
  });

  it("a synchronous send waits for its match, also when its own receiver is dead", () => {
    for (const atNs of [0, 5_000, 15_000, 30_000]) {
      const program = new ScenarioProgram(2).compute(1, 20_000).send(0, 1, 8, SendMode.SYNCHRONOUS).send(1, 0);
      survive({ program: program.script, plan: [2, 2], deaths: [{ atNs, rank: 1, replica: 0 }] });
    }
  });
});

describe("R8 partial replication", () => {
  it("the only process of a rank sends to all worlds, and nobody acknowledges it", () => {
    const program = new ScenarioProgram(2);
    for (let round = 0; round < 3; round++) program.send(1, 0).send(0, 1);
    const { counts } = survive({ program: program.script, plan: [3, 1] });
    deepEqual(counts, {
      sent: 6,
      sentForOthers: 6,
      acknowledgements: 6,
      duplicates: 0,
      compared: 0,
      uncompared: 0,
      comparedBytes: 0,
    });
  });
});

describe("R4 a send that is cancelled", () => {
  it("is sent all the same, in all worlds: cancelling it would be a decision of each replica", () => {
    const world = twoWorlds();
    const cancelled: boolean[] = [];
    world.startAll(function* ({ engine, memory, rank, compute }) {
      const buffer = memory.allocate(5_000);
      if (rank === 0) {
        const send = engine.startSend(buffer, 5_000, 1, 7, 4, SendMode.STANDARD);
        engine.cancel(send);
        yield send;
        cancelled.push(engine.records.hasFlag(send, RecordFlag.CANCELLED));
      } else {
        yield compute(20_000);
        yield engine.startReceive(buffer, 5_000, 0, 7, 4);
      }
    });
    deepEqual(world.run(), []);
    deepEqual(cancelled, [false, false]);
  });
});
