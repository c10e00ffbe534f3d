import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/by-hand.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE } from "../base/constants.ts";
import { SendMode } from "../request/records.ts";
import { messageWays } from "./test-message-ways.ts";

const apart = { ranks: 2, nodes: 2 };

describe("M1 MPI §3.8.4 cancel", () => {
  it("a posted receive is cancelled at once, and the message goes to the next one", () => {
    const hand = new ByHand(apart);
    const cancelled = hand.receive({ at: 1, source: ANY_SOURCE });
    const next = hand.receive({ at: 1, source: 0 });
    hand.engine(1).cancel(cancelled);
    equal(hand.end(1, cancelled).cancelled, true);
    const send = hand.send({ from: 0, to: 1, bytes: 10, number: 1 });
    hand.settle();
    equal(hand.end(1, next, { number: 1 }).cancelled, false);
    hand.end(0, send);
    deepEqual(hand.leftBehind(), []);
  });

  it("a receive that has its message is not cancelled", () => {
    const hand = new ByHand(apart);
    const receive = hand.receive({ at: 1, source: 0 });
    const send = hand.send({ from: 0, to: 1, bytes: 100_000, number: 1 });
    hand.world.processes[0]!.state = "computing"; // keeps its pieces for now
    hand.settle();
    hand.engine(1).cancel(receive);
    equal(hand.complete(1, receive), false);
    hand.world.processes[0]!.state = "passive";
    hand.engine(0).progress();
    hand.settle();
    equal(hand.end(1, receive, { number: 1 }).cancelled, false);
    hand.end(0, send);
    deepEqual(hand.leftBehind(), []);
  });

  for (const { name, bytes, world, sendLent } of messageWays) {
    it(`a send whose envelope waits at the receiver is taken back: ${name}`, () => {
      const hand = new ByHand(world);
      const send = hand.send({ from: 0, to: 1, bytes, mode: SendMode.SYNCHRONOUS, lent: sendLent });
      hand.settle();
      hand.engine(0).cancel(send);
      hand.settle();
      equal(hand.end(0, send).cancelled, true);
      equal(hand.engine(1).probe(ANY_SOURCE, 0, 2), -1);
      deepEqual(hand.leftBehind(), []);
    });

    it(`cancel or receive, exactly one of them wins: ${name}`, () => {
      const won = { cancel: 0, receive: 0 };
      for (let seed = 1; seed <= 40; seed++) {
        const hand = new ByHand({ ...world, seed });
        const send = hand.send({ from: 0, to: 1, bytes, number: 1, mode: SendMode.SYNCHRONOUS, lent: sendLent });
        let receive = -1 as RecordId;
        hand.world.start(0, function* ({ engine, compute }) {
          yield compute(4_000);
          engine.cancel(send);
          engine.cancel(send);
        });
        hand.world.start(1, function* ({ engine, compute }) {
          for (let i = 0; i < seed; i++) {
            engine.progress();
            yield compute(400);
          }
          receive = hand.receive({ at: 1, source: 0, room: bytes });
        });
        hand.settle();
        const { cancelled } = hand.end(0, send);
        if (cancelled) hand.engine(1).cancel(receive);
        const outcome = hand.end(1, receive, cancelled ? undefined : { number: 1 });
        equal(outcome.cancelled, cancelled);
        won[cancelled ? "cancel" : "receive"]++;
        deepEqual(hand.leftBehind(), []);
      }
      ok(won.cancel > 0 && won.receive > 0, `one of them always won: ${JSON.stringify(won)}`);
    });
  }

  it("a send set aside by a matched probe is not cancelled", () => {
    const hand = new ByHand(apart);
    const send = hand.send({ from: 0, to: 1, bytes: 10, number: 3, mode: SendMode.SYNCHRONOUS });
    hand.settle();
    const message = hand.engine(1).matchedProbe(0, 0, 2);
    hand.engine(0).cancel(send);
    hand.settle();
    equal(hand.complete(0, send), false);
    const receive = hand.receiveMatched(1, message);
    hand.settle();
    equal(hand.end(0, send).cancelled, false);
    hand.end(1, receive, { number: 3 });
    deepEqual(hand.leftBehind(), []);
  });

  it("a send that waits for room is cancelled at once, those behind it go on", () => {
    const hand = new ByHand({ ...apart, cost: { channelBytesMax: 100 } });
    const sends = [1, 2, 3].map((number) => hand.send({ from: 0, to: 1, bytes: 80, number }));
    hand.engine(0).cancel(sends[1]!);
    equal(hand.complete(0, sends[1]!), true);
    hand.settle();
    equal(hand.end(0, sends[1]!).cancelled, true);
    for (const number of [1, 3]) hand.end(1, hand.receive({ at: 1, source: 0 }), { number });
    hand.end(0, sends[0]!);
    hand.end(0, sends[2]!);
    deepEqual(hand.leftBehind(), []);
  });

  it("a complete request stays as it is", () => {
    const hand = new ByHand(apart);
    const send = hand.send({ from: 0, to: 1, bytes: 10 });
    hand.engine(0).cancel(send);
    equal(hand.end(0, send).cancelled, false);
  });
});
