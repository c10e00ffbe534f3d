/**
 * The cases every transport passes, on the simulated network. Roles look at their transports themselves, at times of their
 * own, and the engines of their processes are never asked.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tries } from "../../test/long.ts";
import { engineCases } from "../core/p2p/testing/engine-conformance.ts";
import { type ConformanceCase, transportCases } from "../core/wire/testing/transport-conformance.ts";
import { World, type WorldOptions } from "./world.ts";

type Kind = Omit<WorldOptions, "ranks" | "nodes" | "seed"> & { readonly together: boolean };

const tight = { channelBytesMax: 300, fullChance: 0.3, pieceBytesMax: 1_000, helpBytesMin: 1, jitterNs: 20_000 };

const kinds: Readonly<Record<string, Kind>> = {
  "one node": { together: true },
  "one node that shares its memory": { together: true, sharesInside: true },
  "a node for each rank": { together: false },
  "one node, channels that are nearly always full": { together: true, sharesInside: true, cost: tight },
  "a node for each rank, channels that are nearly always full": { together: false, cost: tight },
};

/** How often each way was taken, in all worlds together. */
const taken = { full: 0, fetch: 0, help: 0, put: 0, push: 0 };

/** How often a role that waits looks again. */
const turnNs = 500;

function run(conformance: ConformanceCase, { together, ...options }: Kind, seed: number): void {
  const { ranks, dies = [], identities } = conformance;
  const identityOf = (rank: number) => identities?.[rank];
  const world = new World({ ...options, identityOf, ranks, nodes: together ? 1 : ranks, seed });
  let rolesLeft = ranks;
  world.startAll(function* (process) {
    const { rank, transport, memory } = process;
    const check = (claim: boolean, what: string): void => assert.ok(claim, `rank ${rank}: ${what}`);
    const role = conformance.role({ rank, transport, memory, expect: () => {}, check });
    while (role.next().done !== true) yield process.compute(turnNs);
    rolesLeft--;
    if (dies.includes(rank)) world.planCrash(world.nowNs, rank);
    while (rolesLeft > 0 || dies.includes(rank)) yield process.compute(turnNs);
    assert.equal(transport.arrivedCount, 0, `rank ${rank} has packets that nobody looked at`);
  });
  assert.deepEqual(world.run(), []);
  assert.equal(rolesLeft, 0);
  assert.equal(world.network.packetsInFlight, 0);
  taken.full += world.network.timesFull;
  for (const { transport } of world.processes) {
    for (const way of ["fetch", "help", "put", "push"] as const) taken[way] += transport.marks[way];
  }
}

for (const [name, kind] of Object.entries(kinds)) {
  for (const conformance of [...transportCases, ...engineCases]) {
    test(`the simulated network, ${name}: ${conformance.name}`, () => {
      for (let seed = 1; seed <= tries(1, 3); seed++) run(conformance, kind, seed);
    });
  }
}

test("the simulated network was full at times, and every way of moving a message was taken", () => {
  for (const [way, times] of Object.entries(taken)) assert.ok(times > 0, `${way}: never`);
});
