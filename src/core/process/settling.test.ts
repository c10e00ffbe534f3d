import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { quietContext } from "./context.ts";
import type { Process } from "./process.ts";
import { Settling } from "./settling.ts";

/** Lets everybody's messages progress, and asks who has come to rest. */
function advance(hand: ByHand, settlings: readonly Settling[]): string[] {
  let rests: string[] = [];
  for (let rounds = 0; rounds < 20; rounds++) {
    hand.settle();
    rests = settlings.map((settling) => settling.advance());
  }
  return rests;
}

const settlingOf = (hand: ByHand, rank: number, members?: readonly number[], attempt = 0): Settling =>
  new Settling(hand.world.processes[rank]!.core, members, attempt);

describe("L4: coming to rest", () => {
  it("of a set takes only its members, whatever the others do (§3.3.3)", () => {
    const hand = new ByHand({ ranks: 4, nodes: 2 });
    const large = 100_000;
    // Under way to and from a rank that is not asked.
    const sent = hand.send({ from: 0, to: 2, bytes: large, number: 1 });
    const set = [0, 1].map((rank) => settlingOf(hand, rank, [0, 1]));
    deepEqual(advance(hand, set), ["quiet", "quiet"]);
    equal(hand.complete(0, sent), false);
  });

  it("waits for bytes that are under way inside the set", () => {
    const hand = new ByHand({ ranks: 2 });
    const receive = hand.receive({ at: 1, source: 0, room: 100_000 });
    hand.send({ from: 0, to: 1, bytes: 100_000, number: 3 });
    const all = [0, 1].map((rank) => settlingOf(hand, rank));
    deepEqual(advance(hand, all), ["quiet", "quiet"]);
    equal(hand.complete(1, receive), true);
  });

  it("takes no numbers of channels: a life that was not brought to rest counts the same (rule 1)", () => {
    const hand = new ByHand({ ranks: 2 });
    deepEqual(
      advance(
        hand,
        [0, 1].map((rank) => settlingOf(hand, rank)),
      ),
      ["quiet", "quiet"],
    );
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const)
      equal(hand.engine(from).outbox.numbers.take(to), 0);
  });

  it("leaves no request of the program's behind when it is given up: who ends meanwhile has finished", () => {
    const hand = new ByHand({ ranks: 2, cost: { eagerBytesMax: 0 } });
    const only = settlingOf(hand, 0, [0, 1], 1);
    hand.settle();
    equal(only.advance(), "moving");
    equal(only.giveUp(), true);
    const { engine } = hand.world.processes[0]!;
    ok(engine.completion.isUsing(quietContext), "a mark is still being taken back");
    equal(engine.completion.unfinished, 0);
  });

  it("leaves none behind either when all have come to the end meanwhile, one without a stop", () => {
    const hand = new ByHand({ ranks: 2 });
    const [waiting, late] = hand.world.processes.map(({ core }) => core) as [Process, Process];
    waiting.startFinalBarrier();
    const only = settlingOf(hand, 0);
    hand.settle();
    equal(only.advance(), "moving");
    late.startFinalBarrier();
    for (let rounds = 0; rounds < 20; rounds++) {
      late.progress();
      hand.settle();
      if (only.advance() === "over") break;
    }
    ok(waiting.engine.isComplete(waiting.finalBarrier));
    equal(waiting.engine.completion.unfinished, 0);
  });

  it("can be given up while somebody does not come, and tried again", () => {
    const hand = new ByHand({ ranks: 3 });
    const first = [0, 1].map((rank) => settlingOf(hand, rank, [0, 1, 2], 1));
    deepEqual(advance(hand, first), ["moving", "moving"]);
    for (const settling of first) equal(settling.giveUp(), true);
    hand.settle();
    for (const rank of [0, 1]) equal(hand.engine(rank).completion.unfinished, 0);
    equal(hand.engine(2).unexpected.count, 2, "who has not come has the marks of the others");
    const second = [0, 1, 2].map((rank) => settlingOf(hand, rank, [0, 1, 2], 2));
    deepEqual(advance(hand, second), ["quiet", "quiet", "quiet"]);
    equal(second[0]!.giveUp(), false);
    deepEqual(hand.leftBehind(), []);
  });

  it("forgets the marks of an attempt that was given up, also those that come late", () => {
    for (const eagerBytesMax of [0, 1000]) {
      const hand = new ByHand({ ranks: 3, cost: { eagerBytesMax } });
      const early = settlingOf(hand, 0, [0, 1, 2], 1);
      equal(early.advance(), "moving");
      equal(early.giveUp(), true);
      // It stops when the others have gone on: their marks are here, or on their way, and nobody takes them.
      const late = settlingOf(hand, 1, [0, 1, 2], 1);
      equal(late.advance(), "moving");
      hand.settle();
      equal(late.giveUp(), true);
      hand.settle();
      equal(hand.engine(0).unexpected.count, 0);
      equal(hand.engine(1).unexpected.count, 0);
      const next = [0, 1, 2].map((rank) => settlingOf(hand, rank, [0, 1, 2], 2));
      deepEqual(advance(hand, next), ["quiet", "quiet", "quiet"]);
      deepEqual(hand.leftBehind(), []);
    }
  });
});
