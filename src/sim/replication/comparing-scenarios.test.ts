/** D1: messages that are compared, with nothing left to chance. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Suspicion } from "../../core/ft/replication/comparing/message-comparison.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import { ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { SendMode } from "../../core/request/records.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World } from "../world.ts";

const plan = [3, 3];
const ranks = plan.length;
const tag = 4;
const context = 2;
const right = 1;
const wrong = 9;

test("D1 a wrong message whose sender dies before it is judged gives its place to that of the substitute, which is judged as well", () => {
  const suspicions: Suspicion[] = [];
  const protocols: ReplicationProtocol[] = [];
  const got: number[] = [];
  const world = new World({
    ranks,
    replicas: plan,
    nodes: 6,
    cost: { jitterNs: 0, detectionNs: 10_000, inFlightAtCrash: "delivered" },
    protocol: (process) => (ports) => {
      const place = { rank: process % ranks, replica: Math.floor(process / ranks) };
      const suspect = (suspicion: Suspicion): void => void suspicions.push(suspicion);
      const membership = new Membership(plan);
      const made = new ReplicationProtocol({ ...place, membership, comparing: "hash", suspect }, ports);
      protocols[process] = made;
      return made;
    },
  });
  const replicaOf = ({ number }: SimProcess): number => Math.floor(number / ranks);

  function* send(process: SimProcess): Steps {
    const { engine, memory, compute } = process;
    const replica = replicaOf(process);
    const buffer = memory.allocate(8);
    memory.bytes[buffer] = replica === 0 ? wrong : right;
    // The last vote comes when the substitute has sent what the dead one had.
    if (replica === 2) yield compute(1_000_000);
    yield engine.startSend(buffer, 8, 1, tag, context, SendMode.STANDARD);
    if (replica === 0) yield compute(1_000_000);
  }

  function* receive(process: SimProcess): Steps {
    const { engine, memory } = process;
    const buffer = memory.allocate(8);
    yield engine.startReceive(buffer, 8, 0, tag, context);
    got[replicaOf(process)] = memory.bytes[buffer]!;
  }

  world.startAll((process) => (process.rank === 0 ? send(process) : receive(process)));
  world.planCrash(100_000, 0);
  world.run();
  deepEqual(got, [right, right, right]);
  const reports = [1, 3, 5].map((process) => protocols[process]!.report());
  deepEqual(
    reports.map(({ compared, uncompared }) => [compared, uncompared]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
  // Of the dead nobody says anything.
  equal(suspicions.length, 0);
});
