import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlaceWords, isOverFor, nowhere, PlaceWriter, readPlace } from "./whereabouts.ts";

test("M8: a rank that has written nothing is starting", () => {
  assert.equal(readPlace(createPlaceWords(), 3, 0).state, "starting");
});

test("M8: what a rank writes is what its node reads, names of any length cut", () => {
  const words = createPlaceWords();
  const writer = new PlaceWriter(words);
  const bigMs = 2 ** 31 + 5;
  const comm = "ä".repeat(100);
  writer.write({ ...nowhere, state: "over", sinceMs: bigMs, peer: 4, tag: 7, call: "MPI_Recv", comm, isBlocked: true });
  writer.polled();
  const place = readPlace(words, 3, bigMs + 1500);
  assert.deepEqual(
    { rank: place.rank, state: place.state, forMs: place.forMs, peer: place.peer, tag: place.tag, polls: place.polls },
    { rank: 3, state: "over", forMs: 1500, peer: 4, tag: 7, polls: 1 },
  );
  assert.deepEqual([place.call, place.comm, place.isBlocked], ["MPI_Recv", "ä".repeat(40), true]);
  assert.deepEqual([isOverFor(words, 1000, bigMs + 1500), isOverFor(words, 2000, bigMs + 1500)], [true, false]);
});

test("M8: a rank that shares its thread tells whose turn it is, until it tells more", () => {
  const words = createPlaceWords();
  const writer = new PlaceWriter(words);
  const seen = (laterMs: number): unknown[] => {
    const { state, forMs, call, wait, isBlocked } = readPlace(words, 0, laterMs, Date.now() + laterMs);
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
  const words = createPlaceWords();
  new PlaceWriter(words).write({ ...nowhere, state: "waiting", call: "MPI_Recv" });
  Atomics.add(new Int32Array(words), 0, 1);
  assert.deepEqual([readPlace(words, 0, 0).state, readPlace(words, 0, 0).call], ["computing", ""]);
});
