import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { Pointer } from "../base/brand.ts";
import { LoggingProtocol } from "../ft/logging/logging-protocol.ts";
import { InstantStream } from "../ft/logging/testing/instant-stream.ts";
import { sentInSet } from "./sent-in-set.ts";

const sentBy = (hand: ByHand, rank: number, setOf: readonly number[]) =>
  sentInSet(hand.world.processes[rank]!.core, setOf);

test("D5 a member says which number is next, and which messages wait for a receive", () => {
  const hand = new ByHand({ ranks: 3 });
  hand.send({ from: 0, to: 1, bytes: 8, number: 1 });
  hand.send({ from: 0, to: 1, bytes: 100_000, number: 2 });
  hand.send({ from: 0, to: 1, bytes: 8, number: 3 });
  hand.send({ from: 0, to: 2, bytes: 100_000, number: 4 });
  hand.settle();
  const [one, ...none] = sentBy(hand, 0, [0, 0, 1]);
  deepEqual(none, []);
  equal(one?.next, 3);
  deepEqual(one?.unsent, []);
  deepEqual(
    one?.waiting.map(([sequence, , , bytes]) => [sequence, bytes]),
    [[1, 100_000]],
  );
  hand.receive({ at: 1, source: 0, room: 8 });
  hand.receive({ at: 1, source: 0, room: 100_000 });
  hand.settle();
  deepEqual(sentBy(hand, 0, [0, 0, 1]), [{ from: 0, to: 1, next: 3, unsent: [], waiting: [] }]);
  deepEqual(sentBy(hand, 1, [0, 0, 1]), [{ from: 1, to: 0, next: 0, unsent: [], waiting: [] }]);
});

test("D5 numbers of rounds that have not begun are not sent", () => {
  const setOf = new Int32Array(4);
  const hand = new ByHand({
    ranks: 4,
    protocol: (rank) => (ports) => new LoggingProtocol({ rank, setOf, stream: new InstantStream() }, ports),
  });
  const { core } = hand.world.processes[0]!;
  core.collectives.startEqual(core.world, "barrier", 0 as Pointer, 0 as Pointer, {});
  hand.settle();
  const sent = sentBy(hand, 0, [...setOf]);
  // Dissemination: a message to 1, and in the next round one to 2.
  deepEqual(
    sent.map(({ to, next, unsent }) => [to, next, unsent]),
    [
      [1, 1, []],
      [2, 1, [0]],
      [3, 0, []],
    ],
  );
});
