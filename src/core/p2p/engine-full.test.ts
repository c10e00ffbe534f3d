import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { SendMode } from "../request/records.ts";

const narrow = { channelBytesMax: 500, pieceBytesMax: 400 };

describe("M1 full channels: isend never blocks, order is kept", () => {
  it("1500 sends of all sizes to a process that does not look are posted at once, and all arrive in order", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, cost: narrow });
    const receiver = hand.world.processes[1]!;
    receiver.state = "computing";
    const bytesOf = (number: number): number => [0, 10, 300, 9_000][number % 4]!;
    const sends = Array.from({ length: 1500 }, (_, number) =>
      hand.send({ from: 0, to: 1, bytes: bytesOf(number), number, tag: number & 1 }),
    );
    hand.settle();
    ok(hand.world.network.timesFull > 0);
    ok(hand.world.network.packetsInFlight < 10);
    ok(hand.engine(0).unsent);
    receiver.state = "passive";
    hand.engine(1).progress();
    for (let number = 0; number < 1500; number++) {
      const receive = hand.receive({ at: 1, source: ANY_SOURCE, tag: ANY_TAG, room: 9_000 });
      hand.settle();
      equal(hand.end(1, receive, { number }).tag, number & 1);
    }
    for (const send of sends) hand.end(0, send);
    equal(hand.engine(0).unsent, false);
    deepEqual(hand.leftBehind(), []);
  });

  it("two processes that fill each other's channel both get through", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, cost: narrow });
    const all: { rank: number; request: ReturnType<ByHand["send"]>; number: number }[] = [];
    for (let number = 0; number < 100; number++) {
      for (const rank of [0, 1]) {
        all.push({
          rank,
          number,
          request: hand.send({ from: rank, to: 1 - rank, bytes: 5_000 * (number % 5), number }),
        });
      }
    }
    const receives = all.map(({ rank, number }) => ({
      rank,
      number,
      request: hand.receive({ at: rank, source: 1 - rank, room: 20_000 }),
    }));
    hand.settle();
    for (const { rank, number, request } of receives) hand.end(rank, request, { number });
    for (const { rank, request } of all) hand.end(rank, request);
    deepEqual(hand.leftBehind(), []);
  });

  it("a full channel to one rank does not hold up messages to another", () => {
    const hand = new ByHand({ ranks: 3, nodes: 3, cost: narrow });
    hand.world.processes[1]!.state = "computing";
    for (let i = 0; i < 20; i++) hand.send({ from: 0, to: 1, bytes: 200 });
    hand.send({ from: 0, to: 2, bytes: 200, number: 4 });
    const receive = hand.receive({ at: 2, source: 0 });
    hand.settle();
    hand.end(2, receive, { number: 4 });
  });

  it("a send whose request was freed while it waited for room still leaves", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, cost: narrow });
    const engine = hand.engine(0);
    for (let number = 0; number < 50; number++) {
      const view = new Uint8Array(450).fill(number);
      engine.abandon(
        engine.startSend(hand.world.processes[0]!.memory.lend(view), 450, 1, number, 2, SendMode.STANDARD),
      );
    }
    hand.settle();
    for (let number = 0; number < 50; number++) {
      const receive = hand.receive({ at: 1, source: 0, tag: number, room: 450 });
      equal(hand.end(1, receive).bytes, 450);
    }
    deepEqual(hand.leftBehind(), []);
  });
});
