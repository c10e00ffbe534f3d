import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { BlockWindow } from "./block-window.ts";
import { MemorySegments } from "./memory-segments.ts";
import { StoredHomes } from "./stored-homes.ts";

interface Bounds {
  readonly bytesMax?: number;
  readonly itemsMax?: number;
  readonly segmentWordsMax?: number;
}

const options = (store: MemorySegments, bounds: Bounds = {}) => ({
  store,
  bytesMax: 1 << 20,
  itemsMax: 1 << 20,
  segmentWordsMax: 1 << 20,
  ...bounds,
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

function restored(store: MemorySegments, bounds: Bounds = {}): StoredHomes {
  const homes = StoredHomes.restored(store.written(), options(store, bounds));
  ok(typeof homes !== "string", String(homes));
  return homes;
}

function bytesOf(homes: StoredHomes, receiver: number, source: number, sequence: number): number[] {
  const message = homes.reader.messageOf(homes.homeOf(receiver), source, sequence)!;
  const stage = new Int32Array(1000);
  return message.pieces.flatMap((piece) => [...homes.wordsOf(piece, stage)]);
}

/** The entries of a home from a number on, for people. */
function entriesOf(homes: StoredHomes, receiver: number, from = 0): string[] {
  const home = homes.homeOf(receiver);
  const window = new BlockWindow();
  const stage = new Int32Array(1000);
  return Array.from({ length: home.entries.end - from }, (_, i) => {
    const entry = homes.reader.entryAt(home, from + i, window);
    equal(entry.number, from + i);
    if (entry.kind === "taken") return `taken ${entry.source}:${entry.sequence}`;
    const { source, sequence, bytes } = entry.facts;
    const all = entry.pieces.flatMap((piece) => [...homes.wordsOf(piece, stage)]);
    return `${source}:${sequence} of ${bytes}: ${all}`;
  });
}

function eventsOf(homes: StoredHomes, receiver: number, from = 0): number[][] {
  const home = homes.homeOf(receiver);
  const window = new BlockWindow();
  return Array.from({ length: home.events.end - from }, (_, i) => [
    ...homes.reader.eventAt(home, from + i, window).words,
  ]);
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
    deepEqual(entriesOf(after, 1), ["0:5 of 16: 5000,5001,6000,6001", "2:0 of 0: ", "taken 2:9"]);
    deepEqual(bytesOf(after, 1, 0, 5), [5000, 5001, 6000, 6001]);
    deepEqual(eventsOf(after, 1), [[4, 1, 2]]);
    ok(home.has(0, 5) && home.has(2, 0) && !home.has(0, 4) && !home.has(2, 1));
  });

  it("V3: bytes above the bound are in the store alone, and read again from there", () => {
    const store = new MemorySegments();
    const homes = StoredHomes.empty(options(store, { bytesMax: 400, segmentWordsMax: 500 }));
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

  for (const itemsMax of [0, 1, 2, 3, 50]) {
    it(`V3: of any number of messages, answers and events ${itemsMax} are in memory, and all are read again in their order`, () => {
      const store = new MemorySegments();
      const bounds = { itemsMax, bytesMax: 0, segmentWordsMax: 5000 };
      const homes = StoredHomes.empty(options(store, bounds));
      const expected: string[][] = [[], []];
      const events: number[][][] = [[], []];
      for (let number = 0; number < 800; number++) {
        const receiver = number % 7 === 0 ? 1 : 0;
        const source = 2 + (number % 3);
        if (number % 5 === 4) {
          homes.taken(receiver, source, number);
          if (number % 20 === 4) homes.taken(receiver, source, number);
          expected[receiver]!.push(`taken ${source}:${number}`);
        } else if (number % 50 === 3) {
          const message = homes.post(receiver, facts(source, number, 12), 8, words(number, 2));
          homes.post(receiver, facts(source, number + 1, 4), 4, words(9, 1));
          homes.more(receiver, message, 4, words(number, 1));
          const all = [...words(number, 2), ...words(number, 1)].join();
          expected[receiver]!.push(`${source}:${number} of 12: ${all}`, `${source}:${number + 1} of 4: 9000`);
        } else {
          const count = number % 4;
          homes.post(receiver, facts(source, number, 4 * count), 4 * count, words(number, count));
          expected[receiver]!.push(`${source}:${number} of ${4 * count}: ${words(number, count)}`);
        }
        homes.event(receiver, Int32Array.of(number, receiver));
        events[receiver]!.push([number, receiver]);
        if (number % 10 === 0) homes.settle();
        if (number % 10 === 0) ok(homes.itemsInMemory <= itemsMax, `${homes.itemsInMemory} in memory`);
      }
      homes.settle();
      equal(store.reads, 0, "whoever writes reads nothing");
      for (const there of [homes, restored(store, bounds)]) {
        ok(there.itemsInMemory <= itemsMax, `${there.itemsInMemory} in memory`);
        for (const receiver of [0, 1]) {
          const { entries, events: itsEvents, messages } = there.homeOf(receiver);
          ok(entries.inMemory + itsEvents.inMemory <= itemsMax && messages.size <= itemsMax, "objects");
          ok(entries.blocks.length < 40, `${entries.blocks.length} blocks`);
          const before = store.reads;
          deepEqual(eventsOf(there, receiver), events[receiver]);
          ok(store.reads - before <= itsEvents.blocks.length, "a block is one read");
          deepEqual(entriesOf(there, receiver), expected[receiver]);
          deepEqual(entriesOf(there, receiver, 100), expected[receiver]!.slice(100), "from any place on");
        }
      }
    });
  }

  it("V3 V6: that a message was taken is said once, though the entry that says it is not in memory; a new one needs no read", () => {
    const store = new MemorySegments();
    const bounds = { itemsMax: 2, segmentWordsMax: 200 };
    const homes = StoredHomes.empty(options(store, bounds));
    const say = (there: StoredHomes): void => {
      for (let number = 0; number < 300; number += 3) {
        there.taken(0, 1 + (number % 2), number);
        there.settle();
      }
    };
    say(homes);
    equal(store.reads, 0);
    const said = entriesOf(homes, 0);
    equal(said.length, 100);
    for (const there of [homes, restored(store, bounds)]) {
      say(there);
      deepEqual(entriesOf(there, 0), said);
      there.taken(0, 1, 7);
      equal(there.homeOf(0).entries.end, 101, "one between them is another");
      there.taken(0, 1, 7);
      equal(there.homeOf(0).entries.end, 101);
    }
  });

  it("V3: a message that is still coming stays in memory alone, and is whole in its place when it has come", () => {
    const store = new MemorySegments();
    const bounds = { itemsMax: 2, bytesMax: 0, segmentWordsMax: 100 };
    const homes = StoredHomes.empty(options(store, bounds));
    const slow = homes.post(0, facts(1, 0, 16), 8, words(0, 2));
    const fill = (there: StoredHomes, from: number): void => {
      for (let number = from; number < from + 40; number++) {
        there.post(0, facts(2, number), 0, words(0, 0));
        there.settle();
      }
    };
    fill(homes, 0);
    deepEqual([...homes.homeOf(0).messages].filter(({ isWhole }) => !isWhole).length, 1);
    const after = restored(store, bounds);
    fill(after, 40);
    for (const [there, message] of [[after, after.reader.messageOf(after.homeOf(0), 1, 0)!]] as const) {
      ok(!there.homeOf(0).has(1, 0));
      there.more(0, message, 8, words(7, 2));
      there.settle();
      ok(there.homeOf(0).has(1, 0) && there.homeOf(0).messages.size <= 2);
    }
    const last = restored(store, bounds);
    for (const there of [after, last]) equal(entriesOf(there, 0)[0], "1:0 of 16: 0,1,7000,7001");
    equal(slow.arrived, 8);
  });

  it("V3 V5: messages without all bytes in an image are found among any number that are not in memory, and kept", () => {
    const store = new MemorySegments();
    const bounds = { itemsMax: 3, bytesMax: 0, segmentWordsMax: 300 };
    const homes = StoredHomes.empty(options(store, bounds));
    for (let number = 0; number < 400; number++) {
      homes.post(0, facts(1 + (number % 20), number, 8), 8, words(number, 2));
      homes.event(0, Int32Array.of(number));
      homes.settle();
    }
    const before = store.bytes;
    const pairs = [17, 130, 388].flatMap((number) => [1 + (number % 20), number]);
    homes.mark(0, 1, { entries: 390, events: 395, incomplete: pairs });
    homes.free(0, 1);
    homes.mark(0, 2, { entries: 395, events: 395, incomplete: pairs.slice(2) });
    for (const there of [homes, restored(store, bounds)]) {
      const home = there.homeOf(0);
      for (const number of [17, 130, 388, 390, 399]) {
        deepEqual(bytesOf(there, 0, 1 + (number % 20), number), [...words(number, 2)]);
      }
      equal(there.reader.messageOf(home, 1 + (18 % 20), 18), undefined, "it was freed");
      equal(home.early.length, 3);
      equal(entriesOf(there, 0, 390).length, 10);
      deepEqual(eventsOf(there, 0, 395).flat(), [395, 396, 397, 398, 399]);
    }
    homes.free(0, 2);
    ok(store.bytes < before / 4, `${store.bytes} of ${before}`);
    for (const there of [homes, restored(store, bounds)]) {
      equal(there.reader.messageOf(there.homeOf(0), 1 + 17, 17), undefined);
      deepEqual(bytesOf(there, 0, 1 + (130 % 20), 130), [...words(130, 2)]);
      equal(entriesOf(there, 0, 395).length, 5);
    }
  });

  it("V5: what an image has is freed when the image counts, and its segments are dropped; what it lacks is kept", () => {
    const store = new MemorySegments();
    const homes = StoredHomes.empty(options(store, { bytesMax: 0, segmentWordsMax: 200 }));
    for (let number = 0; number < 100; number++) {
      homes.post(0, facts(1, number, 100), 100, words(number, 25));
      homes.event(0, Int32Array.of(number));
      homes.settle();
    }
    const before = store.bytes;
    homes.mark(0, 3, { entries: 90, events: 95, incomplete: [1, 17] });
    homes.free(0, 4);
    equal(homes.homeOf(0).entries.begin, 0, "a checkpoint without a mark frees nothing");
    homes.free(0, 3);
    ok(store.bytes < before / 4, `${store.bytes} of ${before}`);
    for (const check of [homes, restored(store)]) {
      const home = check.homeOf(0);
      equal(home.entries.begin, 90);
      equal(home.entries.end, 100);
      equal(home.events.begin, 95);
      deepEqual(bytesOf(check, 0, 1, 17), [...words(17, 25)]);
      deepEqual(bytesOf(check, 0, 1, 93), [...words(93, 25)]);
      equal(check.reader.messageOf(home, 1, 18), undefined);
      ok(home.has(1, 18), "a message that was freed is not taken again");
    }
  });

  it("V5: segments of a large message that was freed go one by one: a successor reads what is left of it, and passes over that", () => {
    const store = new MemorySegments();
    const bounds = { bytesMax: 0, itemsMax: 2, segmentWordsMax: 30 };
    const homes = StoredHomes.empty(options(store, bounds));
    const next = (isNeeded: boolean): void => {
      // The other home's message keeps the segment.
      if (isNeeded) homes.post(1, facts(3, homes.homeOf(1).entries.end), 0, words(0, 0));
      homes.event(2, words(0, 30));
      homes.settle();
    };
    const large = homes.post(0, facts(1, 0, 12), 4, words(0, 1));
    next(true);
    homes.more(0, large, 4, words(1, 1));
    next(false);
    homes.more(0, large, 4, words(2, 1));
    next(true);
    homes.mark(2, 1, { entries: 0, events: 3, incomplete: [] });
    homes.free(2, 1);
    homes.mark(0, 1, { entries: 1, events: 0, incomplete: [] });
    homes.free(0, 1);
    ok(store.dropped > 0);
    const after = restored(store, bounds);
    equal(after.homeOf(0).entries.begin, 1);
    equal(entriesOf(after, 1).length, 2);
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
      ok(home.events.end === 0 || home.has(1, 1), "in the order in which they were said");
    }
  });
});
