import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOfMessage } from "../frames.ts";
import { MemorySegments } from "./memory-segments.ts";
import { StoredHomes } from "./stored-homes.ts";

const options = (store: MemorySegments, bytesMax = 1 << 20, segmentWordsMax = 1 << 20) => ({
  store,
  bytesMax,
  segmentWordsMax,
});

const facts = (source: number, sequence: number, bytes = 0) => ({
  source,
  sequence,
  context: 2,
  tag: 7,
  bytes,
  isSynchronous: false,
});

/** The words of a message whose bytes follow from its number. */
const words = (sequence: number, count: number) => Int32Array.from({ length: count }, (_, i) => sequence * 1000 + i);

function restored(store: MemorySegments): StoredHomes {
  const homes = StoredHomes.restored(store.written(), options(store));
  ok(typeof homes !== "string", String(homes));
  return homes;
}

function bytesOf(homes: StoredHomes, receiver: number, source: number, sequence: number): number[] {
  const message = homes.homeOf(receiver).messages.get(keyOfMessage(source, sequence))!;
  const stage = new Int32Array(1000);
  return message.pieces.flatMap((piece) => [...homes.wordsOf(piece, stage)]);
}

describe("the homes of a channel memory", () => {
  it("V2: a successor has what was settled: order, bytes, events, numbers, lives", () => {
    const store = new MemorySegments();
    const homes = StoredHomes.empty(options(store));
    homes.beginLife(3, 2);
    const large = homes.post(1, facts(0, 5, 16), 8, words(5, 2));
    homes.post(1, facts(2, 0), 0, words(0, 0));
    homes.more(1, large, 8, words(6, 2));
    homes.taken(1, 2, 9);
    homes.event(1, Int32Array.of(4, 1, 2));
    homes.settle();
    homes.post(1, facts(2, 1), 0, words(0, 0));

    const after = restored(store);
    const home = after.homeOf(1);
    equal(after.lifeOf(3), 2);
    deepEqual(
      home.entries.map((entry) => (entry.kind === "message" ? [entry.facts.source, entry.facts.sequence] : "taken")),
      [[0, 5], [2, 0], "taken"],
    );
    deepEqual(bytesOf(after, 1, 0, 5), [5000, 5001, 6000, 6001]);
    deepEqual([...home.events[0]!.words], [4, 1, 2]);
    ok(home.has(0, 5) && home.has(2, 0) && !home.has(0, 4) && !home.has(2, 1));
  });

  it("V3: bytes above the bound are in the store alone, and read again from there", () => {
    const store = new MemorySegments();
    const homes = StoredHomes.empty(options(store, 400, 500));
    for (let number = 0; number < 200; number++) {
      homes.post(0, facts(1, number, 100), 100, words(number, 25));
      homes.settle();
      ok(homes.bytesInMemory <= 400);
    }
    ok(store.count > 5, "one segment follows the other");
    for (let number = 0; number < 200; number++) deepEqual(bytesOf(homes, 0, 1, number), [...words(number, 25)]);
    ok(store.reads >= 190);
    const after = restored(store);
    equal(after.bytesInMemory, 0);
    for (let number = 0; number < 200; number++) deepEqual(bytesOf(after, 0, 1, number), [...words(number, 25)]);
  });

  it("V5: what an image has is freed when the image counts, and its segments are dropped; what it lacks is kept", () => {
    const store = new MemorySegments();
    const homes = StoredHomes.empty(options(store, 0, 200));
    for (let number = 0; number < 100; number++) {
      homes.post(0, facts(1, number, 100), 100, words(number, 25));
      homes.event(0, Int32Array.of(number));
      homes.settle();
    }
    const before = store.bytes;
    homes.mark(0, 3, { entries: 90, events: 95, incomplete: [1, 17] });
    homes.free(0, 4);
    equal(homes.homeOf(0).entriesBegin, 0, "a checkpoint without a mark frees nothing");
    homes.free(0, 3);
    ok(store.bytes < before / 4, `${store.bytes} of ${before}`);
    for (const check of [homes, restored(store)]) {
      const home = check.homeOf(0);
      equal(home.entriesBegin, 90);
      equal(home.entriesEnd, 100);
      equal(home.eventsBegin, 95);
      deepEqual(bytesOf(check, 0, 1, 17), [...words(17, 25)]);
      deepEqual(bytesOf(check, 0, 1, 93), [...words(93, 25)]);
      ok(!home.messages.has(keyOfMessage(1, 18)));
      ok(home.has(1, 18), "a message that was freed is not taken again");
    }
  });

  it("V7: a write that was interrupted anywhere leaves what was settled before, or more", () => {
    const whole = new MemorySegments();
    const make = (store: MemorySegments, tearAt: number | null): void => {
      const homes = StoredHomes.empty(options(store));
      homes.post(0, facts(1, 0, 8), 8, words(0, 2));
      homes.settle();
      let isLost = false;
      if (tearAt !== null) store.tearNext(tearAt, () => (isLost = true));
      homes.post(0, facts(1, 1, 8), 8, words(1, 2));
      homes.event(0, Int32Array.of(5));
      homes.settle();
      equal(isLost, tearAt !== null);
    };
    make(whole, null);
    for (let share = 0; share < 100; share++) {
      const store = new MemorySegments();
      make(store, share / 100);
      const home = restored(store).homeOf(0);
      ok(home.has(1, 0));
      ok(home.events.length === 0 || home.has(1, 1), "in the order in which they were said");
    }
  });
});
