import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { SendMode } from "../request/records.ts";
import { messageWays } from "./testing/message-ways.ts";

const modes = Object.entries(SendMode);

for (const way of messageWays) {
  const { bytes, world, sendLent, receiveLent } = way;
  describe(`M1 a message travels: ${way.name}`, () => {
    for (const [name, mode] of modes) {
      const arrives = (first: "receive" | "send"): void => {
        const hand = new ByHand(world);
        const post = () => hand.receive({ at: 1, source: 0, tag: 7, lent: receiveLent });
        const early = first === "receive" ? post() : undefined;
        const send = hand.send({ from: 0, to: 1, bytes, number: 5, tag: 7, lent: sendLent, mode });
        hand.settle();
        const receive = early ?? post();
        hand.settle();
        deepEqual(hand.end(1, receive, { number: 5 }), { source: 0, tag: 7, bytes, error: 0, cancelled: false });
        equal(hand.end(0, send).error, 0);
        ok(mode === SendMode.SYNCHRONOUS || way.taken(hand), "took another way");
        deepEqual(hand.leftBehind(), []);
      };
      it(`MPI §3.4 ${name}: into a posted receive`, () => arrives("receive"));
      it(`MPI §3.4 ${name}: before its receive is posted`, () => arrives("send"));
    }

    it("MPI §3.2.5 the status of a wildcard receive tells source, tag and size", () => {
      const hand = new ByHand(world);
      const receive = hand.receive({ at: 1, source: ANY_SOURCE, tag: ANY_TAG, lent: receiveLent });
      const send = hand.send({ from: 0, to: 1, bytes, number: 6, tag: 3, lent: sendLent });
      hand.settle();
      deepEqual(hand.end(1, receive, { number: 6 }), { source: 0, tag: 3, bytes, error: 0, cancelled: false });
      hand.end(0, send);
    });

    for (const first of ["receive", "send"] as const) {
      for (const room of [0, 1, bytes - 1].filter((room) => room >= 0 && room < bytes)) {
        it(`MPI §3.2.4 a buffer of ${room} bytes is too small: TRUNCATE, nothing beyond it is touched; ${first} first`, () => {
          const hand = new ByHand(world);
          const post = () => hand.receive({ at: 1, source: 0, room, lent: receiveLent });
          const early = first === "receive" ? post() : undefined;
          const send = hand.send({ from: 0, to: 1, bytes, number: 1, lent: sendLent });
          hand.settle();
          const receive = early ?? post();
          hand.settle();
          const outcome = hand.end(1, receive, { number: 1 });
          deepEqual(outcome, { source: 0, tag: 0, bytes: room, error: ErrorClass.TRUNCATE, cancelled: false });
          equal(hand.end(0, send).error, 0);
          deepEqual(hand.leftBehind(), []);
        });
      }
    }

    it("MPI §3.7.3 a request freed by the program before it is complete still does its work", () => {
      const hand = new ByHand(world);
      const engine = hand.engine(0);
      const view = new Uint8Array(bytes);
      const send = engine.startSend(hand.world.processes[0]!.memory.lend(view), bytes, 1, 0, 2, SendMode.SYNCHRONOUS);
      engine.abandon(send);
      const receive = hand.receive({ at: 1, source: 0, lent: receiveLent });
      hand.settle();
      equal(hand.end(1, receive).bytes, bytes);
      deepEqual(hand.leftBehind(), []);
    });

    it("M1 send to self", () => {
      const hand = new ByHand({ ...world, ranks: 1, nodes: 1 });
      for (const mode of Object.values(SendMode)) {
        const send = hand.send({ from: 0, to: 0, bytes, number: 8, tag: 1, lent: sendLent, mode });
        const receive = hand.receive({ at: 0, source: 0, tag: 1, lent: receiveLent });
        hand.settle();
        equal(hand.end(0, receive, { number: 8 }).bytes, bytes);
        hand.end(0, send);
      }
      deepEqual(hand.leftBehind(), []);
    });
  });
}
