import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { Pointer } from "../base/brand.ts";
import { SendMode } from "../request/records.ts";
import { messageWays } from "./testing/message-ways.ts";

describe("M1 MPI §3.4 communication modes", () => {
  for (const { name, bytes, world, sendLent, receiveLent } of messageWays) {
    it(`a synchronous send is complete only when its receive has begun to take it: ${name}`, () => {
      const hand = new ByHand(world);
      const send = hand.send({ from: 0, to: 1, bytes, number: 1, mode: SendMode.SYNCHRONOUS, lent: sendLent });
      hand.settle();
      equal(hand.complete(0, send), false);
      const other = hand.receive({ at: 1, source: 0, tag: 1 });
      hand.settle();
      equal(hand.complete(0, send), false, "a receive with another tag");
      const receive = hand.receive({ at: 1, source: 0, lent: receiveLent });
      hand.settle();
      equal(hand.complete(0, send), true);
      equal(hand.end(1, receive, { number: 1 }).bytes, bytes);
      hand.end(0, send);
      hand.engine(1).cancel(other);
      hand.end(1, other);
      deepEqual(hand.leftBehind(), []);
    });
  }

  it("a probe does not complete a synchronous send, a matched receive does (§3.8.2)", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const send = hand.send({ from: 0, to: 1, bytes: 10, number: 2, mode: SendMode.SYNCHRONOUS });
    hand.settle();
    const message = hand.probeAside(1, 0, 0, 2);
    hand.settle();
    equal(hand.complete(0, send), false);
    const receive = hand.receiveMatched(1, message);
    hand.settle();
    hand.end(1, receive, { number: 2 });
    hand.end(0, send);
    deepEqual(hand.leftBehind(), []);
  });

  it("a standard send up to the eager limit is complete at once, a larger one when it was taken", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    equal(hand.complete(0, hand.send({ from: 0, to: 1, bytes: 8 << 10 })), true);
    const large = hand.send({ from: 0, to: 1, bytes: (8 << 10) + 1, number: 3 });
    hand.settle();
    equal(hand.complete(0, large), false);
  });

  it("M2 the buffer of a complete eager send may be changed before the message arrives", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const { memory, engine } = hand.world.processes[0]!;
    const view = new Uint8Array(100).fill(1);
    const send = engine.startSend(memory.lend(view), 100, 1, 0, 2, SendMode.STANDARD);
    equal(engine.isComplete(send), true);
    view.fill(2);
    engine.giveBack(send);
    const receive = hand.receive({ at: 1, source: 0 });
    hand.settle();
    equal(hand.world.processes[1]!.memory.view(hand.engine(1).records.get(receive, 6) as Pointer, 100)[50], 1);
  });
});
