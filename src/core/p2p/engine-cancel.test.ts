import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE } from "../base/constants.ts";
import { passThrough } from "../ft/pass-through.ts";
import { Recording } from "../ft/recording-protocol.ts";
import { SendMode } from "../request/records.ts";
import { messageWays } from "./testing/message-ways.ts";

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
    const message = hand.probeAside(1, 0, 0, 2);
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

  for (const cancelled of [[0], [1, 3], [4], [4, 3, 2, 1], [0, 1, 2, 3, 4]]) {
    it(`those behind a send that never left move up, the numbers of a channel have no gaps: ${cancelled} of 5`, () => {
      const hand = new ByHand({ ...apart, cost: { channelBytesMax: 100 } });
      const arrived: { number: number; sequence: number }[] = [];
      hand.engine(1).tracer = {
        sent: () => {},
        matched: (_source, tag, _bytes, sequence) => arrived.push({ number: tag, sequence }),
      };
      const post = (number: number) => hand.send({ from: 0, to: 1, bytes: 80, number, tag: number });
      // The first goes and fills the channel, the next five wait.
      const first = post(100);
      const sends = [0, 1, 2, 3, 4].map(post);
      for (const index of cancelled) hand.engine(0).cancel(sends[index]!);
      const last = post(101);
      hand.settle();
      const numbers = [100, ...[0, 1, 2, 3, 4].filter((number) => !cancelled.includes(number)), 101];
      for (const number of numbers) hand.end(1, hand.receive({ at: 1, source: 0, tag: number }), { number });
      deepEqual(
        arrived,
        numbers.map((number, sequence) => ({ number, sequence })),
      );
      sends.forEach((send, index) => {
        equal(hand.end(0, send).cancelled, cancelled.includes(index));
      });
      for (const send of [first, last]) equal(hand.end(0, send).cancelled, false);
      deepEqual(hand.leftBehind(), []);
    });
  }

  it("other packets that wait in the channel are not numbered anew", () => {
    // Rank 0 has a send, an answer and a send waiting for room when the first of the three is cancelled.
    const hand = new ByHand({ ...apart, cost: { channelBytesMax: 100 } });
    const large = hand.send({ from: 1, to: 0, bytes: 20_000, number: 9 });
    hand.settle();
    hand.world.processes[1]!.state = "computing";
    const sends = [1, 2].map((number) => hand.send({ from: 0, to: 1, bytes: 80, number }));
    const receive = hand.receive({ at: 0, source: 1 });
    sends.push(hand.send({ from: 0, to: 1, bytes: 80, number: 3 }));
    hand.settle();
    hand.engine(0).cancel(sends[1]!);
    hand.world.processes[1]!.state = "passive";
    hand.engine(1).progress();
    hand.settle();
    hand.end(0, receive, { number: 9 });
    hand.end(1, large);
    for (const number of [1, 3]) hand.end(1, hand.receive({ at: 1, source: 0 }), { number });
    deepEqual(
      sends.map((send) => hand.end(0, send).cancelled),
      [false, true, false],
    );
    deepEqual([hand.engine(0).arrivals.refused, hand.engine(1).arrivals.refused], [0, 0]);
    deepEqual(hand.leftBehind(), []);
  });

  it("a complete request stays as it is", () => {
    const hand = new ByHand(apart);
    const send = hand.send({ from: 0, to: 1, bytes: 10 });
    hand.engine(0).cancel(send);
    equal(hand.end(0, send).cancelled, false);
  });
});

describe("M1 MPI §3.8.4 cancel under a protocol: it has seen the number, so the message leaves", () => {
  /** Sends that the protocol holds back, with numbers 0, 1 and 2; the one in the middle is cancelled. */
  function cancelled(middle: { bytes: number; mode: SendMode }) {
    const protocols = [0, 1].map(() => new Recording());
    const hand = new ByHand({ ...apart, protocol: (rank) => protocols[rank]!.around(passThrough) });
    let closed = true;
    protocols[0]!.gates.mayLeave = () => !closed;
    const sends = [{ bytes: 10, mode: SendMode.STANDARD }, middle, { bytes: 10, mode: SendMode.STANDARD }].map(
      (sent, number) => hand.send({ from: 0, to: 1, number, tag: number, ...sent }),
    );
    hand.engine(0).cancel(sends[1]!);
    hand.engine(0).cancel(sends[1]!);
    equal(hand.complete(0, sends[1]!), false);
    closed = false;
    hand.engine(0).progress();
    hand.settle();
    const arrived = protocols[1]!.calls.filter(({ hook }) => hook === "arrived");
    deepEqual(
      arrived.map(({ sequence }) => sequence),
      [0, 1, 2],
    );
    const outcome = hand.end(0, sends[1]!);
    for (const number of [0, 2]) {
      hand.end(0, sends[number]!);
      hand.end(1, hand.receive({ at: 1, source: 0, tag: number }), { number });
    }
    return { hand, outcome };
  }

  for (const { name, bytes, mode } of [
    { name: "synchronous", bytes: 10, mode: SendMode.SYNCHRONOUS },
    { name: "large", bytes: 20_000, mode: SendMode.STANDARD },
  ]) {
    it(`${name}: its receiver is asked to forget the envelope as soon as it has left`, () => {
      const { hand, outcome } = cancelled({ bytes, mode });
      equal(outcome.cancelled, true);
      equal(hand.engine(1).probe(0, 1, 2), -1);
      deepEqual(hand.leftBehind(), []);
    });
  }

  it("eager: it is sent, and not cancelled", () => {
    const { hand, outcome } = cancelled({ bytes: 10, mode: SendMode.STANDARD });
    equal(outcome.cancelled, false);
    hand.end(1, hand.receive({ at: 1, source: 0, tag: 1 }), { number: 1 });
    deepEqual(hand.leftBehind(), []);
  });
});
