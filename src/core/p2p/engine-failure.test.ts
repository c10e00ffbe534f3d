import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { SendMode } from "../request/records.ts";
import { Now } from "./engine.ts";
import { messageWays } from "./testing/message-ways.ts";

const { PROC_FAILED, PROC_FAILED_PENDING } = ErrorClass;

describe("M2 the death of a peer ends every wait for it", () => {
  for (const { name, bytes, world, sendLent, receiveLent } of messageWays) {
    for (const inFlightAtCrash of ["lost", "delivered", "either"] as const) {
      it(`at whatever moment it dies, sender or receiver: ${name}, in flight: ${inFlightAtCrash}`, () => {
        for (let moment = 0; moment < 24; moment++) {
          for (const dead of [0, 1]) {
            const hand = new ByHand({
              ...world,
              seed: moment + 1,
              cost: { ...world.cost, detectionNs: 3_000, inFlightAtCrash },
            });
            const alive = 1 - dead;
            hand.world.planCrash(moment * 700, dead);
            const first = { from: 0, to: 1, bytes, number: 1, lent: sendLent, mode: SendMode.SYNCHRONOUS };
            const sends = [first, { ...first, tag: 1 }].map((sent) => hand.send(sent));
            const receives = [0, 5].map((tag) =>
              hand.receive({ at: 1, source: 0, tag, room: bytes, lent: receiveLent }),
            );
            hand.settle();
            for (const request of alive === 0 ? sends : receives) {
              const { error } = hand.end(alive, request);
              equal([0, PROC_FAILED].includes(error), true, `error ${error}`);
            }
            const envelopes = hand.engine(alive).unexpected.count;
            equal(hand.engine(alive).records.count, envelopes);
          }
        }
      });
    }
  }

  it("posted receives, sends that wait for room, envelopes without payload: all end with PROC_FAILED", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2, cost: { channelBytesMax: 500 } });
    const envelope = hand.send({ from: 1, to: 0, bytes: 20_000, tag: 1 });
    hand.settle();
    equal(envelope >= 0, true);
    hand.world.processes[1]!.state = "computing";
    const waits = [
      ...[1, 2, 3, 4].map(() => hand.send({ from: 0, to: 1, bytes: 400 })),
      hand.send({ from: 0, to: 1, bytes: 20_000 }),
      hand.receive({ at: 0, source: 1, tag: 4 }),
    ];
    hand.settle();
    hand.world.processes[0]!.core.peerFailed({ rank: 1, replica: 0 }, 0);
    const errors = waits.map((request) => hand.end(0, request).error);
    deepEqual(errors, [0, PROC_FAILED, PROC_FAILED, PROC_FAILED, PROC_FAILED, PROC_FAILED]);
    hand.world.planCrash(hand.world.nowNs, 1);
    hand.settle();
    const late = [
      hand.receive({ at: 0, source: 1, tag: 1 }),
      hand.receive({ at: 0, source: 1, tag: 9 }),
      hand.send({ from: 0, to: 1, bytes: 8 }),
    ];
    deepEqual(
      late.map((request) => hand.end(0, request).error),
      [PROC_FAILED, PROC_FAILED, PROC_FAILED],
    );
    equal(hand.engine(0).sendNow(0 as Pointer, 0, 1, 0, 2), false, "the short way leaves the error to the long one");
    deepEqual(hand.leftBehind(), []);
  });

  it("a receive that fails has received nothing, whatever was received with its record before", () => {
    const hand = new ByHand({ ranks: 2, nodes: 1 });
    const received = hand.receive({ at: 0, source: 1, tag: 7 });
    hand.send({ from: 1, to: 0, bytes: 400, tag: 7 });
    hand.settle();
    equal(hand.end(0, received).bytes, 400);
    const failing = hand.receive({ at: 0, source: 1, tag: 8 });
    equal(failing, received, "it has the same record");
    hand.world.processes[0]!.core.peerFailed({ rank: 1, replica: 0 }, 0);
    const { source, tag, bytes, error } = hand.end(0, failing);
    deepEqual({ source, tag, bytes, error }, { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, error: PROC_FAILED });
  });

  it("messages of the dead that are wholly here can still be received", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    hand.send({ from: 1, to: 0, bytes: 100, number: 7 });
    hand.settle();
    hand.world.planCrash(hand.world.nowNs, 1);
    hand.settle();
    const { error, bytes } = hand.end(0, hand.receive({ at: 0, source: 1 }), { number: 7 });
    deepEqual([error, bytes], [0, 100]);
    deepEqual(hand.leftBehind(), []);
  });

  it("a message that comes after the news is dropped: the receive it was meant for has failed, and no other may take it", () => {
    const cost = { latencyBetweenNs: 50_000, detectionNs: 1_000, inFlightAtCrash: "delivered" } as const;
    for (const way of ["posted", "now"] as const) {
      const hand = new ByHand({ ranks: 2, nodes: 2, cost });
      hand.send({ from: 1, to: 0, bytes: 100, number: 7 });
      hand.world.planCrash(0, 1);
      const meant = hand.receive({ at: 0, source: 1 });
      let next = -1 as RecordId;
      hand.world.start(0, function* ({ compute, core, engine, memory }) {
        yield compute(100_000);
        if (way === "posted") next = hand.receive({ at: 0, source: 1 });
        else {
          core.peerFailed({ rank: 1, replica: 0 }, 0); // the news reach it while it computes, and the packet lies there unseen
          equal(engine.receiveNow(memory.allocate(100), 100, 1, 0, 2), Now.MUST_POST);
        }
      });
      hand.settle();
      equal(hand.end(0, meant).error, PROC_FAILED);
      if (way === "posted") equal(hand.end(0, next).error, PROC_FAILED);
    }
  });

  it("what had arrived before the news is received, looked at or not", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const receives = [1, 2].map(() => hand.receive({ at: 0, source: 1 }));
    hand.world.processes[0]!.state = "computing";
    hand.send({ from: 1, to: 0, bytes: 100, number: 7 });
    hand.settle();
    hand.world.processes[0]!.core.peerFailed({ rank: 1, replica: 0 }, 0);
    equal(hand.end(0, receives[0]!, { number: 7 }).error, 0);
    equal(hand.end(0, receives[1]!).error, PROC_FAILED);
  });

  it("receives from ANY_SOURCE end with PROC_FAILED_PENDING, those of named others go on", () => {
    const hand = new ByHand({ ranks: 3, nodes: 3 });
    const wildcard = hand.receive({ at: 0, source: ANY_SOURCE });
    const named = hand.receive({ at: 0, source: 2, tag: 3 });
    hand.world.planCrash(10, 1);
    hand.settle();
    equal(hand.end(0, wildcard).error, PROC_FAILED_PENDING);
    const send = hand.send({ from: 2, to: 0, bytes: 50_000, number: 2, tag: 3 });
    hand.settle();
    equal(hand.end(0, named, { number: 2 }).error, 0);
    hand.end(2, send);
    deepEqual(hand.leftBehind(), []);
  });

  it("packets of the dead that arrive after the news touch no request that took the place of an old one", () => {
    // The news travels faster than the packets: pieces, release and answers of the dead come to records used anew.
    for (const sharesInside of [false, true]) {
      const hand = new ByHand({
        ranks: 3,
        sharesInside,
        seed: 3,
        cost: {
          detectionNs: 0,
          latencyInsideNs: 50_000,
          jitterNs: 0,
          inFlightAtCrash: "delivered",
          helpBytesMin: 1 << 30,
        },
      });
      const { world } = hand;
      // Rank 1 sends in pieces to rank 0, and has taken a message of rank 0.
      const old = [
        hand.receive({ at: 0, source: 1, room: 40_000, lent: true }),
        hand.send({ from: 0, to: 1, bytes: 20_000, number: 1 }),
      ];
      hand.send({ from: 1, to: 0, bytes: 40_000, number: 2, lent: true });
      // When rank 1 dies, pieces of the one and the answer to the other (clear to send, or release) are on their way.
      world.start(1, function* ({ compute }) {
        yield compute(110_000);
        hand.receive({ at: 1, source: 0, room: 20_000 });
      });
      let fresh: ReturnType<ByHand["send"]>[] = [];
      world.start(2, function* ({ compute }) {
        yield compute(130_000);
        world.planCrash(world.nowNs, 1);
        yield compute(10_000);
        equal(hand.engine(0).peers.hasFailed(1), true);
        for (const request of old) equal(hand.end(0, request).error, PROC_FAILED);
        fresh = [
          hand.send({ from: 0, to: 2, bytes: 30_000, number: 3 }),
          hand.receive({ at: 0, source: 2, room: 40_000 }),
        ];
      });
      hand.settle();
      deepEqual(
        fresh.map((request) => hand.complete(0, request)),
        [false, false],
      );
      const last = hand.send({ from: 2, to: 0, bytes: 40_000, number: 4 });
      const taken = hand.receive({ at: 2, source: 0, room: 40_000 });
      hand.settle();
      hand.end(0, fresh[0]!);
      hand.end(0, fresh[1]!, { number: 4 });
      hand.end(2, taken, { number: 3 });
      hand.end(2, last);
      deepEqual(hand.leftBehind(), []);
    }
  });
});
