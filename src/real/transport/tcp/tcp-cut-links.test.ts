/** Links that a fault plan cuts and restores, on real sockets: nothing passes meanwhile, and nothing is lost or twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callsNames, newTcpWorld, type TcpRank } from "../testing/tcp-world.ts";

const text = (tag: number): Uint8Array => new TextEncoder().encode(`message ${tag}`);
const tagsOf = ({ arrivals }: TcpRank): number[] => arrivals.map(({ tag }) => tag);

for (const calls of callsNames) {
  test(`X3 (${calls}): a link that is cut carries nothing until it is restored, and then everything once`, async () => {
    const world = await newTcpWorld(3, calls);
    try {
      const [a, b, c] = world.ranks as [TcpRank, TcpRank, TcpRank];
      a.send(1, 0, text(0));
      b.send(0, 0, text(0));
      await world.until(() => a.arrivals.length === 1 && b.arrivals.length === 1);
      world.hosts[0]!.cut([1]);
      world.hosts[1]!.cut([0]);
      // Sockets are shut down in the next turn of the event loop.
      let turns = 0;
      await world.until(() => ++turns === 3);
      for (const tag of [1, 2]) a.send(1, tag, text(tag));
      b.send(0, 1, text(1));
      for (const tag of [3, 4]) c.send(tag - 3, tag, text(tag));
      await world.until(() => a.arrivals.length === 2 && b.arrivals.length >= 2);
      const endMs = Date.now() + 100;
      await world.until(() => Date.now() > endMs);
      assert.deepEqual(
        [tagsOf(a), tagsOf(b)],
        [
          [0, 3],
          [0, 4],
        ],
        "the third node reaches both",
      );
      for (const [host, peer] of [
        [0, 1],
        [1, 0],
      ] as const)
        world.hosts[host]!.restore([peer]);
      await world.until(() => a.arrivals.length >= 3 && b.arrivals.length >= 4);
      assert.deepEqual(
        [tagsOf(a), tagsOf(b)],
        [
          [0, 3, 1],
          [0, 4, 1, 2],
        ],
      );
      assert.deepEqual(world.events, []);
    } finally {
      world.close();
    }
  });
}
