import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../../base/testing/properties.ts";
import { StoreFrames } from "../../service-channel/service-store.ts";
import { EventLogger } from "./event-logger.ts";
import { LoggerStreams } from "./logger-streams.ts";
import { StoredStreams } from "./stored-streams.ts";
import { MemoryStore } from "./testing/memory-store.ts";

const words = (...list: readonly number[]): Int32Array => Int32Array.from(list);
/** Four words: how many, whose, what, and one more. */
const entry = (word: number): number[] => [4, 0, 4, word];

function successorOf(store: MemoryStore, bytes = store.bytes): EventLogger {
  const streams = StoredStreams.restored([bytes]);
  ok(typeof streams !== "string", `${streams}`);
  return new EventLogger(streams);
}

/** What an event logger knows of these sets. */
function knowledge(logger: EventLogger, sets: readonly number[]): unknown {
  return sets.map((set) => {
    const end = logger.reached(set);
    return { end, words: end === null ? null : [...logger.read(set, logger.begin(set))] };
  });
}

describe("L1 an event logger goes on with what the one before has written", () => {
  it("with every word that was settled, and the life that may append", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(false, { store }));
    logger.open(3, 0, 0);
    logger.append(3, 0, 0, words(...entry(1), ...entry(2)));
    logger.settle();
    logger.append(3, 0, 8, words(...entry(3)));
    const successor = successorOf(store);
    equal(successor.open(3, 0, 0), 8, "the third entry was not settled, and is wanted");
    deepEqual(successor.fence(3, 1, 4), words(...entry(2)));
    equal(successor.open(3, 0, 0), null, "an old life");
  });

  it("a set that it knows nothing of had been acknowledged nothing", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(false, { store }));
    logger.append(3, 0, 0, words(...entry(1)));
    logger.settle();
    const successor = successorOf(store);
    equal(successor.reached(5), 0);
    deepEqual(successor.fence(5, 1, 0), words());
  });

  it("rule 7: a life that was fenced stays fenced; its stream is asked for again, and is the same", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(false, { store }));
    logger.append(3, 0, 0, words(...entry(1), 4, 0));
    const said = logger.fence(3, 1, 0);
    const successor = successorOf(store);
    equal(successor.append(3, 0, 4, words(9)), null);
    deepEqual(successor.fence(3, 1, 0), said);
    equal(successor.open(3, 1, 0), 4);
  });

  it("one that has not been told all yet leaves that to its successor, too", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(true, { store }));
    logger.open(3, 1, 10);
    logger.owes(3, 1, 18);
    logger.append(3, 1, 10, words(...entry(1)));
    logger.settle();
    const successor = successorOf(store);
    equal(successor.reached(3), null);
    equal(successor.reached(4), null, "nothing is known of that set");
    equal(successor.fence(4, 1, 0), null);
    equal(successor.open(3, 1, 10), 14);
    successor.append(3, 1, 14, words(...entry(2)));
    equal(successor.reached(3), 18);
  });

  it("words are written with one call for all that have come, before they are acknowledged", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(false, { store }));
    const streams = new LoggerStreams(logger).open({ client: 3, incarnation: 0, begin: 0 });
    const { incoming } = streams!;
    const before = store.appends;
    for (let at = 0; at < 12; at += 4) equal(incoming.receive(words(...entry(at)), 0, 4), 4);
    deepEqual([incoming.arrived, incoming.settled, store.appends], [12, 0, before]);
    incoming.settle?.();
    deepEqual([incoming.arrived, incoming.settled, store.appends], [12, 12, before + 1]);
    incoming.settle?.();
    equal(store.appends, before + 1, "there was nothing");
  });

  it("words of a connection that broke before they were written are written before the next one acknowledges them", () => {
    const store = new MemoryStore();
    const logger = new EventLogger(new StoredStreams(false, { store }));
    const service = new LoggerStreams(logger);
    const hello = { client: 3, incarnation: 0, begin: 0 };
    service.open(hello)?.incoming.receive(words(...entry(1)), 0, 4);
    equal(service.open(hello)?.incoming.settled, 4);
    equal(successorOf(store).reached(3), 4);
  });

  it("L6 what is trimmed leaves the store, which is never much larger than twice what is kept", () => {
    const store = new MemoryStore();
    const slackBytes = 400;
    const logger = new EventLogger(new StoredStreams(false, { store, slackBytes }));
    for (let i = 0; i < 1000; i++) {
      logger.append(0, 0, 4 * i, words(...entry(i)));
      logger.settle();
      if (i % 10 === 9) logger.trim(0, 4 * (i - 20));
    }
    ok(store.bytes.length < 4000, `${store.bytes.length} bytes`);
    ok(store.replacements > 10 && store.replacements < 200, `${store.replacements} times`);
    deepEqual(knowledge(successorOf(store), [0]), knowledge(logger, [0]));
  });

  it("a long stream is written anew in parts, none of them lost", () => {
    const store = new MemoryStore();
    const all = words(...Array.from({ length: 20_000 }, (_, i) => entry(i)).flat());
    const logger = new EventLogger(new StoredStreams(false, { store, slackBytes: 0 }));
    for (let at = 0; at < all.length; at += 30_000) logger.append(0, 0, at, all.subarray(at, at + 30_000));
    logger.settle();
    logger.trim(0, 60_000);
    ok(store.replacements > 1);
    deepEqual(successorOf(store).fence(0, 1, 60_000), all.subarray(60_000));
  });

  it("X7 a store that is not whole is refused, with the record and the reason", () => {
    equal(StoredStreams.restored([new Uint8Array(0)]), "it is empty");
    const strange: (readonly number[])[] = [
      [1, 0, 0, 0, 0],
      [0, 99, 0],
      [0, 1, 0, 0],
    ];
    for (const record of strange)
      match(`${StoredStreams.restored([framed([record])])}`, /^record 0 at byte 0 is not one/);
    const begin = [0, 1, 0];
    const open = [1, 5, 0, 0, 0];
    const second: (readonly number[])[] = [
      begin,
      [2, 5, 0, 7],
      [3, 5, 0],
      [4, 5, 1, 0],
      [5, 5, 1],
      [6, 5, 3],
      [7, 5, 3],
    ];
    for (const record of second) {
      match(`${StoredStreams.restored([framed([begin, record])])}`, /^record 1 at byte 24 is not one/, `${record}`);
    }
    const third: (readonly number[])[] = [
      [2, 5, 1, 7],
      [4, 5, 1, 1],
      [4, 5, 1, -1],
      [6, 5, 1, 1],
    ];
    for (const record of third) {
      match(
        `${StoredStreams.restored([framed([begin, open, record])])}`,
        /^record 2 at byte 56 is not one/,
        `${record}`,
      );
    }
  });

  it("whatever happens, the successor knows what the lost one knew when it last settled", () => {
    const act = fc.record({
      what: fc.constantFrom("append", "append", "append", "trim", "fence", "open", "lose"),
      set: fc.integer({ min: 0, max: 2 }),
      count: fc.integer({ min: 1, max: 9 }),
    });
    let losses = 0;
    fc.assert(
      fc.property(fc.array(act, { minLength: 10, maxLength: 60, size: "max" }), fc.boolean(), (acts, isTold) => {
        const lives = [0, 0, 0];
        const oldest = [0, 0, 0];
        const store = new MemoryStore();
        let logger = new EventLogger(new StoredStreams(isTold, { store, slackBytes: 50 }));
        if (isTold) for (const set of [0, 1]) logger.owes(set, 0, 0);
        for (const { what, set, count } of acts) {
          const life = lives[set]!;
          const end = logger.reached(set);
          if (end === null) continue;
          if (what === "append") logger.append(set, life, end, words(...Array.from({ length: count }, entry).flat()));
          else if (what === "trim") oldest[set] = Math.min(end, oldest[set]! + 4 * count);
          else if (what === "fence") logger.fence(set, ++lives[set]!, oldest[set]!);
          else if (what === "open") logger.open(set, life, oldest[set]!);
          if (what === "trim") logger.trim(set, oldest[set]!);
          if (what !== "lose") continue;
          logger.settle();
          const known = knowledge(logger, [0, 1, 2]);
          const streams = StoredStreams.restored([store.bytes], { store, slackBytes: 50 });
          ok(typeof streams !== "string", `${streams}`);
          logger = new EventLogger(streams);
          losses++;
          deepEqual(knowledge(logger, [0, 1, 2]), known);
          for (const each of [0, 1, 2]) {
            if (logger.reached(each) !== null) ok(logger.open(each, lives[each]!, oldest[each]!) !== null);
          }
        }
      }),
      { numRuns: 300 },
    );
    ok(losses > 100, `${losses}`);
  });
});

function framed(records: readonly (readonly number[])[]): Uint8Array {
  const frames = new StoreFrames();
  for (const [kind = 0, a = 0, b, ...rest] of records) {
    frames.begin(kind, a, b ?? 0);
    frames.put(Int32Array.from(rest));
    frames.finish();
  }
  const taken = frames.take();
  return new Uint8Array(taken.buffer, taken.byteOffset, taken.byteLength).slice();
}
