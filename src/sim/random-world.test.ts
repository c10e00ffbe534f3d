import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Identity } from "../core/base/identity.ts";
import { Random } from "./random.ts";
import { randomWorld } from "./random-world.ts";
import type { SimProcess, Steps } from "./sim-process.ts";
import { World, type WorldOptions } from "./world.ts";

const worlds = (count: number): WorldOptions[] =>
  Array.from({ length: count }, (_, seed) => randomWorld(new Random(seed + 1), 4));

/** Limits of one sender's lives, or to one sender's peers. */
const limitsOf = ({ eagerLimit }: WorldOptions, senders: readonly (readonly [Identity, number])[]): Set<number> =>
  new Set(senders.map(([sender, to]) => eagerLimit?.(sender, to) ?? -1));

const life = (incarnation: number): Identity => ({ rank: 1, replica: 0, incarnation });

describe("eager limits of random worlds", () => {
  it("M1 L2: in some worlds they differ from peer to peer and from life to life, and none is above the largest", () => {
    const varied = worlds(100).filter(({ eagerLimit }) => eagerLimit !== undefined);
    ok(varied.length > 20 && varied.length < 60, `${varied.length} of 100 worlds`);
    const peers = [0, 2, 3].map((to) => [life(0), to] as const);
    const lives = [0, 1, 2, 3].map((incarnation) => [life(incarnation), 0] as const);
    ok(varied.some((world) => limitsOf(world, peers).size > 1));
    ok(varied.some((world) => limitsOf(world, lives).size > 1));
    for (const world of varied) {
      for (const limit of limitsOf(world, [...peers, ...lives])) ok(limit >= 0 && limit <= world.cost!.eagerBytesMax!);
    }
  });

  it("M1 a message above the limit of its sender for that peer is announced, one below travels at once", () => {
    const limits = [1000, 0];
    const world = new World({ ranks: 3, cost: { eagerBytesMax: 1000 }, eagerLimit: (_, to) => limits[to - 1] ?? 0 });
    const sent: boolean[] = [];
    const program = function* ({ rank, engine, memory }: SimProcess): Steps {
      if (rank !== 0) return;
      const pointer = memory.allocate(100);
      for (const to of [1, 2]) sent.push(engine.sendNow(pointer, 100, to, 0, 0));
      yield* [];
    };
    world.startAll(program);
    equal(world.run().length, 0);
    deepEqual(sent, [true, false]);
  });
});
