import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { R_BYTES, R_PEER, R_TAG } from "../request/records.ts";
import { messageWays } from "./testing/message-ways.ts";

for (const { name, bytes, world, sendLent } of messageWays) {
  describe(`M1 MPI §3.8 probes: ${name}`, () => {
    const patterns = [
      [0, 9],
      [ANY_SOURCE, 9],
      [0, ANY_TAG],
      [ANY_SOURCE, ANY_TAG],
    ] as const;

    it("§3.8.1 a probe tells source, tag and size, and a receive then takes that message", () => {
      const hand = new ByHand(world);
      const engine = hand.engine(1);
      for (const [source, tag] of patterns) {
        equal(engine.probe(source, tag, 2), -1);
        const send = hand.send({ from: 0, to: 1, bytes, number: 1, tag: 9, lent: sendLent });
        const later = hand.send({ from: 0, to: 1, bytes, number: 2, tag: 9, lent: sendLent });
        hand.settle();
        equal(engine.probe(source, 8, 2), -1);
        equal(engine.probe(source, tag, 4), -1);
        const found = engine.probe(source, tag, 2);
        equal(engine.probe(source, tag, 2), found, "it stays where it is");
        deepEqual(
          [R_PEER, R_TAG, R_BYTES].map((field) => engine.records.get(found, field)),
          [0, 9, bytes],
        );
        const receives = [1, 2].map(() => hand.receive({ at: 1, source: 0, tag: 9, room: bytes }));
        hand.settle();
        receives.forEach((receive, index) => {
          hand.end(1, receive, { number: index + 1 });
        });
        hand.end(0, send);
        hand.end(0, later);
      }
      deepEqual(hand.leftBehind(), []);
    });

    it("§3.8.2 a matched probe sets the message aside: nobody else finds it, its receive gets it (§3.8.3)", () => {
      const hand = new ByHand(world);
      const engine = hand.engine(1);
      for (const [source, tag] of patterns) {
        const sends = [1, 2].map((number) => hand.send({ from: 0, to: 1, bytes, number, tag: 9, lent: sendLent }));
        hand.settle();
        const first = hand.probeAside(1, source, tag, 2);
        const second = hand.probeAside(1, source, tag, 2);
        equal(hand.probeAside(1, source, tag, 2), -1);
        const posted = hand.receive({ at: 1, source, tag });
        hand.settle();
        equal(hand.complete(1, posted), false);
        for (const [message, number] of [
          [second, 2],
          [first, 1],
        ] as const) {
          const receive = hand.receiveMatched(1, message);
          hand.settle();
          hand.end(1, receive, { number });
        }
        engine.cancel(posted);
        hand.end(1, posted);
        for (const send of sends) hand.end(0, send);
      }
      deepEqual(hand.leftBehind(), []);
    });
  });
}
