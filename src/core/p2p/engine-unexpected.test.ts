import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";

describe("M1 the memory of unexpected messages is bounded in bytes", () => {
  const unexpectedBytesMax = 100_000;
  const channelBytesMax = 10_000;
  const bytes = 200;
  const senders = 4;

  /** Messages nobody wants yet, sent in waves so that the door is heard to close. */
  function flooded(perSender: number): ByHand {
    const hand = new ByHand({
      ranks: senders + 1,
      nodes: senders + 1,
      unexpectedBytesMax,
      cost: { channelBytesMax },
    });
    for (let number = 0; number < perSender; number++) {
      for (let from = 1; from <= senders; from++) {
        hand.send({ from, to: 0, bytes, number, tag: number % 10 });
      }
      if (number % 1000 === 0) hand.settle();
    }
    hand.settle();
    return hand;
  }

  it("very many of them: nothing lost, bytes bounded by the limit and what the channels hold", () => {
    const messages = tries(8_000, 100_000);
    const perSender = messages / senders;
    const hand = flooded(perSender);
    const { engine, memory } = hand.world.processes[0]!;
    equal(engine.unexpected.count, messages);
    // A channel's worth was under way when the door closed, another one left before its sender heard of it.
    const bound = unexpectedBytesMax + 2 * senders * channelBytesMax;
    ok(engine.store.bytes > unexpectedBytesMax / 2, "some payloads are stored");
    ok(memory.bytesAllocatedMax <= bound, `${memory.bytesAllocatedMax} bytes stored, at most ${bound} wanted`);
    for (let number = 0; number < perSender; number++) {
      for (let source = 1; source <= senders; source++) {
        const receive = hand.receive({ at: 0, source, tag: number % 10, room: bytes });
        if (!hand.complete(0, receive)) hand.settle();
        hand.end(0, receive, { number });
      }
    }
    hand.settle();
    equal(engine.unexpected.count, 0);
    equal(memory.bytesAllocated, 0);
    // The door is open again: a payload comes with its envelope.
    const send = hand.send({ from: 1, to: 0, bytes, number: 1 });
    equal(hand.complete(1, send), true);
  });

  it("all of them taken by wildcards, in the order of each sender", () => {
    const perSender = tries(2_000, 5_000);
    const messages = perSender * senders;
    const hand = flooded(perSender);
    const next = new Int32Array(senders + 1);
    for (let i = 0; i < messages; i++) {
      const receive = hand.receive({ at: 0, source: ANY_SOURCE, tag: ANY_TAG, room: bytes });
      if (!hand.complete(0, receive)) hand.settle();
      const source = hand.engine(0).records.get(receive, 24);
      hand.end(0, receive, { number: next[source]!++ });
    }
    deepEqual([...next.subarray(1)], Array(senders).fill(perSender));
    equal(hand.engine(0).store.bytes, 0);
  });

  it("a sender that never waits for anything hears that the door is closed, too", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, unexpectedBytesMax, cost: { channelBytesMax } });
    const sends: RecordId[] = [];
    hand.world.start(1, function* ({ compute }) {
      for (let number = 0; number < 5_000; number++) {
        sends.push(hand.send({ from: 1, to: 0, bytes, number }));
        yield compute(1_000);
      }
    });
    hand.settle();
    const { bytesAllocatedMax } = hand.world.processes[0]!.memory;
    ok(
      bytesAllocatedMax <= unexpectedBytesMax + 2 * channelBytesMax + 100 * bytes,
      `${bytesAllocatedMax} bytes stored`,
    );
    sends.forEach((send, number) => {
      const receive = hand.receive({ at: 0, source: 1, room: bytes });
      if (!hand.complete(0, receive)) hand.settle();
      hand.end(0, receive, { number });
      hand.end(1, send);
    });
    hand.settle();
    deepEqual(hand.leftBehind(), []);
  });
});
