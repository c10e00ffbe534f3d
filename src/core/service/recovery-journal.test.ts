/** Recovery that crashes at any event, and what its journal says. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "../base/testing/properties.ts";
import type { NextLife } from "../ft/job-part.ts";
import type { JobRecord } from "./job-record.ts";
import { jobStateFrom } from "./job-state.ts";
import { decodeJournal, encodeRecord } from "./journal.ts";
import { placementOf } from "./placement.ts";
import { Recovery, type RecoveryPorts } from "./recovery.ts";

const setOf = [0, 0, 1, 1, 2];
const placement = placementOf([0, 0, 0, 0, 1]);
const members = [[0, 1], [2, 3], [4]];

/** What happens to a set, or to the job. */
const happening = fc.record({
  kind: fc.constantFrom(
    "whole checkpoint",
    "whole checkpoint",
    "take",
    "store",
    "store",
    "verify",
    "verify",
    "fall",
    "prepared",
    "begin",
    "unreadable",
    "broken image",
    "impatience",
  ),
  set: fc.nat({ max: 2 }),
});
type Happening = ReturnType<typeof happening.generate>["value"];

/** Recovery with the part of the dispatcher that concerns it: falls, as records. */
class World {
  readonly orders: string[] = [];
  core: Recovery;
  #bytes: number[] = [];
  #deaths = 0;
  #nowMs = 0;

  constructor() {
    const began = { kind: "began", nodes: 2, ranks: setOf.length, placement, setOf, calendarMs: 0 } as const;
    this.#bytes.push(...encodeRecord(began));
    this.core = this.#recovery();
  }

  get journal(): readonly JobRecord[] {
    const read = decodeJournal(Uint8Array.from(this.#bytes));
    return read.kind === "read" ? read.records : [];
  }

  crash(): void {
    this.core = this.#recovery(jobStateFrom(this.journal).recovery);
    this.core.takeOver(this.#nowMs);
  }

  happens({ kind, set }: Happening): void {
    const { core } = this;
    const nowMs = ++this.#nowMs;
    const books = core.state.books[set]!;
    const number = books.open ?? 0;
    const newest = books.committed.at(-1)!.number;
    const image = { number, position: 100 * nowMs, callsPassed: 1, settledMs: 0, problem: "" };
    const incarnation = core.state.incarnations[set]!;
    switch (kind) {
      case "whole checkpoint":
        for (const each of ["begin", "take", "store", "verify"] as const) this.happens({ kind: each, set });
        break;
      case "take":
        core.takeAll(nowMs);
        break;
      case "store":
        for (const rank of members[set]!) core.imageStored(rank, image, nowMs);
        break;
      case "broken image":
        core.imageStored(members[set]![0]!, { ...image, problem: "the disk is full" }, nowMs);
        break;
      case "verify":
        core.verified(set, number, "", nowMs);
        break;
      case "unreadable":
        if (newest > 0) core.imageUnreadable(members[set]![0]!, newest, "it is damaged");
        break;
      case "fall":
        this.#fall(members[set]!);
        break;
      case "prepared":
        core.prepared(set, incarnation, { forRanks: null });
        break;
      case "begin":
        for (const rank of members[set]!) core.began(rank, incarnation, nowMs);
        break;
      case "impatience":
        this.#nowMs += 5000;
        core.time(this.#nowMs);
        break;
    }
  }

  /** As the dispatcher does it: the record first. */
  #fall(ranks: readonly number[]): void {
    const { incarnations } = this.core.state;
    const deaths = ranks.map((rank) => ({ order: this.#deaths++, rank, incarnation: incarnations[setOf[rank]!]! }));
    const fall = { kind: "fall", node: 0, isGone: false, deaths, returns: true, replaced: [], passed: [] } as const;
    this.#bytes.push(...encodeRecord({ ...fall, reason: { kind: "timeout" }, afterMs: 0, outcome: null }));
    this.core.fallen(ranks, this.#nowMs);
  }

  #recovery(predecessor?: Recovery["state"]): Recovery {
    const options = { setOf, checkpointInterval: { kind: "never" } as const, checkpointPatienceMs: 1000 };
    const part = { prepare: (_: NextLife) => undefined, mayCommit: () => true, committed: () => undefined };
    const order =
      (what: string) =>
      (...details: readonly unknown[]): void =>
        void this.orders.push(`${what} ${JSON.stringify(details)}`);
    const ports: RecoveryPorts = {
      record: (record) => this.#bytes.push(...encodeRecord(record)),
      restart: order("restart"),
      hopeless: order("hopeless"),
      fell: order("fell"),
      stop: order("stop"),
      goOn: order("go on"),
      verify: order("verify"),
      drop: order("drop"),
      oldest: order("oldest"),
      committed: order("committed"),
      recovered: () => undefined,
      happened: () => undefined,
      note: () => undefined,
    };
    return new Recovery(options, part, ports, predecessor);
  }
}

test("V1: a journal that is replayed gives recovery's state, after every event", () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (events) => {
      const world = new World();
      for (const event of events) {
        world.happens(event);
        deepEqual(jobStateFrom(world.journal).recovery, world.core.state);
      }
      for (const { kind } of world.journal) kinds.add(kind);
    }),
    { numRuns: 300 },
  );
  deepEqual([...kinds].sort(), [
    "began",
    "checkpoint-begun",
    "checkpoint-committed",
    "checkpoint-given-up",
    "checkpoint-refused",
    "fall",
  ]);
});

test("L4: whoever takes over gives up what was being taken, and everything that counts counts", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (events) => {
      const world = new World();
      for (const event of events) world.happens(event);
      const before = structuredClone(world.core.state);
      world.orders.length = 0;
      world.crash();
      const { books, incarnations } = world.core.state;
      deepEqual(incarnations, before.incarnations);
      for (const [set, { committed, last, open }] of before.books.entries()) {
        deepEqual(books[set], { committed, last, open: null });
        equal(world.orders.includes(`drop [${set},${open}]`), open !== null);
        equal(world.orders.includes(`oldest [${set},${JSON.stringify(committed[0])}]`), true);
      }
      deepEqual(jobStateFrom(world.journal).recovery, world.core.state);
    }),
    { numRuns: 300 },
  );
});

test("L4: numbers of checkpoints are never used again, whoever gives them", () => {
  const world = new World();
  world.happens({ kind: "take", set: 0 });
  world.crash();
  world.happens({ kind: "take", set: 0 });
  deepEqual(
    world.core.state.books.map(({ open }) => open),
    [2, 2, 2],
  );
});
