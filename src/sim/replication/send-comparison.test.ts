/** R8: replicas that do not send the same messages are found while they run, and no others are. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import type { SendDivergence } from "../../core/ft/replication/comparing/send-comparison.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import type { ReplicationVariant } from "../../core/ft/replication/options.ts";
import type { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { replicaOfVariant } from "../../core/ft/replication/variants.ts";
import { R_STATUS_SOURCE, SendMode } from "../../core/request/records.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World } from "../world.ts";
import { runReplicationSeed } from "./run-replication-seed.ts";

const taskTag = 5;
const resultTag = 6;
const context = 2;

interface Farm {
  readonly found: readonly SendDivergence[];
  readonly compared: number;
}

/** A master gives the next task to whoever brings a result; how long tasks take differs from process to process. */
function farm(seed: number, variant: ReplicationVariant, isInOrder: boolean): Farm {
  const plan = [2, 2, 2];
  const ranks = plan.length;
  const found: SendDivergence[] = [];
  const protocols: ReplicationProtocol[] = [];
  const world = new World({
    ranks,
    replicas: plan,
    seed,
    protocol: (process) => (ports) => {
      const place = { rank: process % ranks, replica: Math.floor(process / ranks) };
      const diverged = (divergence: SendDivergence): void => void found.push(divergence);
      const made = replicaOfVariant(variant, { ...place, membership: new Membership(plan), diverged }, ports);
      protocols.push(made);
      return made;
    },
  });
  world.startAll((process) => (process.rank === 0 ? master(process, isInOrder) : worker(process)));
  world.run();
  return { found, compared: protocols.reduce((sum, protocol) => sum + protocol.runsCompared, 0) };
}

const tasks = 20;

function* master({ engine, memory }: SimProcess, isInOrder: boolean): Steps {
  const buffer = memory.allocate(8);
  const give = (task: number, to: number) => {
    memory.bytes[buffer] = task;
    return engine.startSend(buffer, 8, to, taskTag, context, SendMode.STANDARD);
  };
  let next = 1;
  for (const to of [1, 2]) yield give(next++, to);
  for (let done = 0; done < tasks; done++) {
    const receive = engine.startReceive(buffer, 8, isInOrder ? 1 + (done % 2) : ANY_SOURCE, resultTag, context);
    yield receive;
    const from = engine.records.get(receive, R_STATUS_SOURCE);
    // 0: there are no more.
    yield give(done + 2 < tasks ? next++ : 0, from);
  }
}

function* worker({ engine, memory, number, compute }: SimProcess): Steps {
  const buffer = memory.allocate(8);
  for (let calls = 0; ; calls++) {
    yield engine.startReceive(buffer, 8, 0, taskTag, context);
    if (memory.bytes[buffer] === 0) return;
    yield compute(1_000 * (1 + ((7 * number + 3 * calls) % 11)));
    yield engine.startSend(buffer, 8, 0, resultTag, context, SendMode.STANDARD);
  }
}

describe("R8 replicas at work compare what they send", () => {
  it("a master that serves whoever is first is found, and the message named", () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => farm(seed, "parallel", false).found);
    const found = all.find(({ length }) => length > 0);
    ok(found !== undefined);
    const [{ rank, replicas, message, isExact }] = found as [SendDivergence];
    ok(rank >= 0 && rank < 3);
    deepEqual(replicas, [0, 1]);
    ok(isExact);
    ok([taskTag, resultTag].includes(message.tag) && message.bytes === 8 && message.sequence < tasks + 2);
  });

  it("a master that serves its workers in turn is not, though it is compared", () => {
    const { found, compared } = farm(3, "parallel", true);
    deepEqual(found, []);
    ok(compared > 10, `${compared} runs of messages compared`);
  });

  it("send-deterministic programs are not, whoever dies", () => {
    let runs = 0;
    for (let seed = 1; seed <= tries(5, 60); seed++) {
      const { divergences, runsCompared } = runReplicationSeed({ seed });
      equal(divergences.length, 0, `seed ${seed}: ${JSON.stringify(divergences[0])}`);
      runs += runsCompared;
    }
    ok(runs > 100, `${runs} runs of messages compared`);
  });
});
