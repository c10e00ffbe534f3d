import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlaceWords, isOverFor, nowhere, PlaceWriter, readPlace, type TurnWord } from "./whereabouts.ts";

const newTurn = (): TurnWord => ({ words: new Int32Array(2), at: 1 });

test("M8: a rank that has written nothing is starting", () => {
  assert.equal(readPlace(createPlaceWords(), { rank: 3, nowMs: 0 }).state, "starting");
});

test("M8: what a rank writes is what its node reads, names of any length cut", () => {
  const [words, turn] = [createPlaceWords(), newTurn()];
  const writer = new PlaceWriter(words, turn);
  const bigMs = 2 ** 31 + 5;
  const comm = "ä".repeat(100);
  writer.write({ ...nowhere, state: "over", sinceMs: bigMs, peer: 4, tag: 7, call: "MPI_Recv", comm, isBlocked: true });
  writer.polled();
  const place = readPlace(words, { rank: 3, nowMs: bigMs + 1500, turn });
  assert.deepEqual(
    { rank: place.rank, state: place.state, forMs: place.forMs, peer: place.peer, tag: place.tag, polls: place.polls },
    { rank: 3, state: "over", forMs: 1500, peer: 4, tag: 7, polls: 1 },
  );
  assert.deepEqual([place.call, place.comm, place.isBlocked], ["MPI_Recv", "ä".repeat(40), true]);
  assert.deepEqual([isOverFor(words, 1000, bigMs + 1500), isOverFor(words, 2000, bigMs + 1500)], [true, false]);
});

test("M8: a rank that shares its thread tells whose turn it is, until it tells more", () => {
  const [words, turn] = [createPlaceWords(), newTurn()];
  const writer = new PlaceWriter(words, turn);
  const seen = (laterMs: number): unknown[] => {
    const options = { rank: 0, nowMs: laterMs, turnMs: Date.now() + laterMs, turn };
    const { state, forMs, call, wait, isBlocked } = readPlace(words, options);
    return [state, Math.floor(forMs / 100_000), call, wait, isBlocked];
  };
  writer.write({ ...nowhere, state: "waiting", wait: 3, call: "MPI_Recv", isBlocked: true });
  writer.goOn();
  assert.deepEqual(seen(250_000), ["computing", 2, "", 3, false]);
  writer.giveWay();
  assert.deepEqual(seen(350_000), ["waiting", 3, "", 3, false]);
  assert.deepEqual(seen(-1_000_000), ["waiting", 0, "", 3, false], "a clock that was set back");
  writer.write({ ...nowhere, state: "waiting", sinceMs: 50_000, wait: 4, call: "MPI_Wait" });
  assert.deepEqual(seen(450_000), ["waiting", 4, "MPI_Wait", 4, false]);
});

test("M8: a rank that died while it wrote shows nothing", () => {
  const [words, turn] = [createPlaceWords(), newTurn()];
  new PlaceWriter(words, turn).write({ ...nowhere, state: "waiting", call: "MPI_Recv" });
  Atomics.add(new Int32Array(words), 0, 1);
  const { state, call } = readPlace(words, { rank: 0, nowMs: 0, turn });
  assert.deepEqual([state, call], ["computing", ""]);
});
