/** The cases every transport passes, on real sockets between nodes, with both ways to call them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quietNow } from "../../../../test/patience.ts";
import { engineCases } from "../../../core/p2p/testing/engine-conformance.ts";
import { type ConformanceCase, type Role, transportCases } from "../../../core/wire/testing/transport-conformance.ts";
import { type CallsName, callsNames, newTcpWorld } from "../testing/tcp-world.ts";

/** Why a case does not apply between nodes. */
const skips: Record<string, string> = {
  "a rank can send to itself": "a rank is on its own node: RankTransport sends by the ring",
};

async function run(conformance: ConformanceCase, calls: CallsName): Promise<void> {
  const world = await newTcpWorld(conformance.ranks, calls, conformance.ranks, conformance.identities);
  const places = world.ranks.map(() => new Map<number, number>());
  const roles = new Map<number, Role>();
  for (const { rank, transport, memory } of world.ranks) {
    transport.setLanding({ landingOf: (receive) => places[rank]!.get(receive) ?? Number.NaN });
    const end = {
      rank,
      transport,
      memory,
      expect: (receive: number, pointer: number) => void places[rank]!.set(receive, pointer),
      check: (claim: boolean, what: string) => assert.ok(claim, what),
    };
    roles.set(rank, conformance.role(end));
  }
  const dead = new Set<number>();
  const endMs = quietNow() + 20_000;
  while (roles.size > 0) {
    assert.ok(quietNow() < endMs, `ranks ${[...roles.keys()]} do not come to an end`);
    // A caller looks for packets while it waits for anything, and stays until everybody is done.
    for (const { rank, transport } of world.ranks) if (!dead.has(rank)) transport.peek();
    for (const [rank, role] of roles) {
      if (role.next().done !== true) continue;
      roles.delete(rank);
      if (!conformance.dies?.includes(rank)) continue;
      dead.add(rank);
      world.hosts[rank]!.rankDied(rank);
      for (const other of world.ranks) if (other.rank !== rank) other.transport.peerFailed(rank);
      for (const [node, host] of world.hosts.entries()) if (node !== rank) host.peerFailed(rank);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(world.events, []);
  world.close();
}

for (const calls of callsNames) {
  for (const conformance of [...transportCases, ...engineCases]) {
    const skip = skips[conformance.name] ?? false;
    test(`M8: TCP by ${calls}: ${conformance.name}`, { skip }, () => run(conformance, calls));
  }
}
