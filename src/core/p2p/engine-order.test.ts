import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { Pointer } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { Now } from "./engine.ts";

/** Sizes that take different ways, so that small messages would like to overtake large ones. */
const sizes = [100_000, 0, 20_000, 8, 8 << 10, 9 << 10];
const worlds = [
  { ranks: 3, nodes: 1, sharesInside: true },
  { ranks: 3, nodes: 3 },
  { ranks: 3, nodes: 3, cost: { channelBytesMax: 200, pieceBytesMax: 700, fullChance: 0.2 } },
];

for (const world of worlds) {
  describe(`M1 MPI §3.5 order, ${JSON.stringify(world)}`, () => {
    for (const [source, tag] of [
      [0, 0],
      [ANY_SOURCE, 0],
      [0, ANY_TAG],
      [ANY_SOURCE, ANY_TAG],
    ] as const) {
      for (const first of ["receives", "sends", "half"] as const) {
        it(`messages of one sender do not overtake each other: source ${source}, tag ${tag}, ${first} first`, () => {
          const hand = new ByHand(world);
          const receives = sizes.slice(0, { receives: 6, sends: 0, half: 3 }[first]).map(() => {
            return hand.receive({ at: 1, source, tag });
          });
          const sends = sizes.map((bytes, number) => hand.send({ from: 0, to: 1, bytes, number }));
          hand.settle();
          while (receives.length < sizes.length) receives.push(hand.receive({ at: 1, source, tag }));
          hand.settle();
          receives.forEach((receive, number) => {
            equal(hand.end(1, receive, { number }).bytes, sizes[number]);
          });
          for (const send of sends) hand.end(0, send);
          deepEqual(hand.leftBehind(), []);
        });
      }
    }

    it("of several receives that fit, the one posted first takes the message, wildcard or not", () => {
      const hand = new ByHand(world);
      const patterns = [
        { source: ANY_SOURCE, tag: 5 },
        { source: 0, tag: 5 },
        { source: 0, tag: ANY_TAG },
        { source: ANY_SOURCE, tag: ANY_TAG },
        { source: 0, tag: 5 },
        { source: ANY_SOURCE, tag: 5 },
      ];
      const receives = patterns.map((pattern) => hand.receive({ at: 1, ...pattern }));
      const sends = sizes.map((bytes, number) => hand.send({ from: 0, to: 1, bytes, number, tag: 5 }));
      hand.settle();
      receives.forEach((receive, number) => {
        equal(hand.end(1, receive, { number }).bytes, sizes[number]);
      });
      for (const send of sends) hand.end(0, send);
    });

    it("a receive passes over messages with other tags, sources and contexts", () => {
      const hand = new ByHand(world);
      const sent = [
        { from: 0, tag: 1, context: 2 },
        { from: 2, tag: 2, context: 2 },
        { from: 0, tag: 2, context: 4 },
        { from: 0, tag: 2, context: 2 },
      ].map((message, number) => ({ ...message, request: hand.send({ ...message, to: 1, bytes: 50, number }) }));
      hand.settle();
      const wanted = hand.receive({ at: 1, source: 0, tag: 2 });
      hand.settle();
      hand.end(1, wanted, { number: 3 });
      for (const { from, request } of sent) hand.end(from, request);
      equal(hand.engine(1).unexpected.count, 3);
    });
  });
}

describe("M1 MPI §3.5 order of the short ways", () => {
  it("sendNow waits behind a send that waits for room", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, cost: { channelBytesMax: 100 } });
    const engine = hand.engine(0);
    const requests = [0, 1, 2].map((number) => hand.send({ from: 0, to: 1, bytes: 60, number }));
    const { memory } = hand.world.processes[0]!;
    const buffer = memory.allocate(60);
    equal(engine.sendNow(buffer, 60, 1, 0, 2), false);
    hand.settle();
    equal(engine.sendNow(buffer, 60, 1, 0, 2), true);
    memory.free(buffer);
    requests.forEach((_, number) => {
      const receive = hand.receive({ at: 1, source: 0 });
      hand.end(1, receive, { number });
    });
  });

  it("receiveNow takes what has arrived, oldest first, and says when only a posted receive will do", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const engine = hand.engine(1);
    const { memory } = hand.world.processes[1]!;
    const buffer = memory.allocate(64);
    const now = (tag: number): number => engine.receiveNow(buffer, 64, ANY_SOURCE, tag, 2);
    equal(now(0), Now.NOTHING);
    const sends = [4, 3, 3, ANY_TAG - 1].map((tag, number) =>
      hand.send({ from: 0, to: 1, bytes: number === 2 ? 9000 : 8 + number, number, tag }),
    );
    hand.settle();
    equal(now(3), Now.DONE);
    deepEqual([engine.lastSource, engine.lastTag, engine.lastBytes, engine.lastError], [0, 3, 9, 0]);
    equal(now(3), Now.MUST_POST, "an envelope only");
    equal(now(ANY_TAG), Now.DONE);
    equal(engine.lastTag, 4);
    equal(sends.length, 4);
  });

  it("ANY_TAG takes no message with one of our own tags, on any way", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const engine = hand.engine(1);
    const send = (): unknown => hand.send({ from: 0, to: 1, bytes: 8, tag: -7 });
    const posted = hand.receive({ at: 1, source: 0, tag: ANY_TAG });
    send();
    hand.settle();
    equal(hand.complete(1, posted), false);
    engine.cancel(posted);
    hand.end(1, posted);
    equal(engine.probe(ANY_SOURCE, ANY_TAG, 2), -1);
    equal(engine.probe(0, ANY_TAG, 2), -1);
    // At the head of what has arrived: keep the world from storing it before receiveNow looks.
    const process = hand.world.processes[1]!;
    process.state = "computing";
    send();
    hand.settle();
    equal(engine.receiveNow(process.memory.allocate(8) as Pointer, 8, 0, ANY_TAG, 2), Now.NOTHING);
    equal(engine.unexpected.count, 2);
  });
});
