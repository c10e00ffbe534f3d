/** A dispatcher that crashes at any event, and the successor that has read its journal. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "../base/testing/properties.ts";
import type { DeathPolicy } from "../ft/definition.ts";
import { Dispatcher, type DispatcherOptions, type DispatcherPorts } from "./dispatcher.ts";
import type { DispatcherRecord } from "./dispatcher-state.ts";
import type { Ending } from "./ending.ts";
import type { JobRecord } from "./job-record.ts";
import { jobStateFrom } from "./job-state.ts";
import { decodeJournal, encodeRecord } from "./journal.ts";
import { placementOf } from "./placement.ts";

const heartbeatMs = 100;

interface Shape {
  readonly ranks: number;
  readonly nodes: number;
  readonly spares: number;
  readonly deaths: DeathPolicy;
  readonly sets: "nodes" | "ranks" | "across nodes";
  readonly keepSuspects: boolean;
}
const shape: fc.Arbitrary<Shape> = fc.record({
  ranks: fc.integer({ min: 1, max: 6 }),
  nodes: fc.integer({ min: 1, max: 3 }),
  spares: fc.nat({ max: 2 }),
  deaths: fc.constantFrom<DeathPolicy>("fatal", "survived", "replaced", "replaced"),
  sets: fc.constantFrom("nodes", "ranks", "across nodes"),
  keepSuspects: fc.boolean(),
});

function optionsOf({ ranks, nodes, spares, deaths, sets, keepSuspects }: Shape): DispatcherOptions {
  const placement = placementOf(Array.from({ length: ranks + spares }, (_, rank) => rank % nodes));
  return {
    ranks,
    nodes,
    placement,
    deaths,
    keepSuspects,
    setOf: sets === "nodes" ? undefined : placement.map((_, rank) => (sets === "ranks" ? rank : rank >> 1)),
    heartbeatMs,
    patienceMs: 250,
    starvedPatienceMs: 250,
    startPatienceMs: 400,
    starvedStartPatienceMs: 400,
    endPatienceMs: 500,
    timeoutMs: 20_000,
  };
}

/** What happens to a job; numbers are taken modulo what there is. */
type Happening =
  | { readonly kind: "ended"; readonly rank: number; readonly ending: Ending; readonly isOld: boolean }
  | { readonly kind: "done" | "caught-up"; readonly rank: number }
  | { readonly kind: "passed"; readonly rank: number; readonly calls: number }
  | { readonly kind: "node-ended" | "excused" | "heard"; readonly node: number }
  | { readonly kind: "committed"; readonly set: number; readonly calls: number }
  | { readonly kind: "admit"; readonly count: number }
  | { readonly kind: "withdraw" | "tick" | "interrupted" }
  | { readonly kind: "aborted"; readonly rank: number }
  /** Alone: its set, if it has others, is left. */
  | { readonly kind: "moved"; readonly rank: number; readonly node: number };

const small = fc.nat({ max: 7 });
const ending: fc.Arbitrary<Ending> = fc.oneof(
  fc.constantFrom<Ending>({ kind: "returned" }, { kind: "frozen" }, { kind: "exited", code: 3 }),
  fc.constant<Ending>({ kind: "vanished", code: 1 }),
);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant("tick" as const) }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant("heard" as const), node: small }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant("passed" as const), rank: small, calls: fc.nat({ max: 9 }) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant("node-ended" as const), node: small }), weight: 4 },
  {
    arbitrary: fc.record({
      kind: fc.constant("ended" as const),
      rank: small,
      ending,
      isOld: fc.boolean(),
    }),
    weight: 3,
  },
  fc.record({ kind: fc.constantFrom("done" as const, "caught-up" as const), rank: small }),
  fc.record({ kind: fc.constant("excused" as const), node: small }),
  fc.record({ kind: fc.constant("committed" as const), set: fc.nat({ max: 2 }), calls: small }),
  fc.record({ kind: fc.constant("admit" as const), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ kind: fc.constant("withdraw" as const) }),
  fc.record({ kind: fc.constant("moved" as const), rank: small, node: small }),
);
/** What ends a job at once is rare, or nothing else would be seen. */
const last: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant("aborted" as const), rank: small }),
  fc.record({ kind: fc.constant("interrupted" as const) }),
);
/** A node that falls again and again, at the same call unless something else happens. */
const falls: fc.Arbitrary<Happening[]> = fc.tuple(small, fc.integer({ min: 1, max: 4 })).map(([node, times]) => {
  const caughtUp = Array.from({ length: 8 }, (_, rank): Happening => ({ kind: "caught-up", rank }));
  return Array.from({ length: times }, (): Happening[] => [{ kind: "node-ended", node }, ...caughtUp]).flat();
});
const some = fc.oneof({ arbitrary: happening.map((it) => [it]), weight: 20 }, { arbitrary: falls, weight: 1 });
const story = fc
  .tuple(fc.array(some, { maxLength: 60 }), fc.array(last, { maxLength: 2 }), fc.array(happening, { maxLength: 8 }))
  .map((parts) => parts.flat(2));

/** A job that is told what happens, with a dispatcher that can be crashed. */
class World {
  readonly options: DispatcherOptions;
  /** All that the present dispatcher has ordered, and those before it. */
  readonly orders: string[] = [];
  #bytes: number[] = [];
  #dispatcher: Dispatcher;
  #nowMs = 0;
  #admitted: number[] = [];
  /** Calls passed by the present life of each rank: its node says so with every heartbeat. */
  readonly #passed = new Map<string, { readonly rank: number; readonly calls: number }>();

  constructor(made: Shape) {
    this.options = optionsOf(made);
    this.#dispatcher = new Dispatcher(this.options, this.#ports(), 0);
  }

  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  get journal(): readonly JobRecord[] {
    const read = decodeJournal(Uint8Array.from(this.#bytes));
    return read.kind === "read" ? read.records : [];
  }

  crash(): void {
    const predecessor = { state: jobStateFrom(this.journal).dispatcher, startMs: 0 };
    this.#dispatcher = new Dispatcher(this.options, this.#ports(), this.#nowMs, predecessor);
  }

  /** What every node that lives says by and by: that it is there, and how far its ranks have come. */
  heartbeats(): void {
    const { ranks, nodes } = this.#dispatcher.state;
    for (const [node, { gone }] of nodes.entries()) if (!gone) this.#dispatcher.heard(node);
    for (const [rank, { incarnation }] of ranks.entries()) {
      const passed = this.#passed.get(`${rank}.${incarnation}`);
      if (passed !== undefined && this.#isThere(rank)) this.#dispatcher.falls.passed(rank, passed.calls);
    }
  }

  happens(it: Happening): void {
    const { placement, nodes } = this.options;
    const dispatcher = this.#dispatcher;
    const nowMs = this.#nowMs;
    const rank = "rank" in it ? it.rank % placement.length : 0;
    const node = "node" in it ? it.node % nodes : 0;
    const { incarnation } = dispatcher.state.ranks[rank]!;
    switch (it.kind) {
      case "ended":
        dispatcher.rankEnded(rank, it.isOld ? incarnation - 1 : incarnation, it.ending, nowMs);
        break;
      case "done":
        dispatcher.rankDone(rank, incarnation, nowMs);
        break;
      case "passed":
        this.#rankPassed(rank, incarnation, it.calls);
        break;
      case "caught-up":
        dispatcher.falls.caughtUp(rank);
        break;
      case "node-ended":
        dispatcher.nodeEnded(node, { kind: "signal", signal: "SIGKILL", signalNumber: 9 }, nowMs);
        break;
      case "excused":
        dispatcher.falls.excused(node);
        break;
      case "heard":
        dispatcher.heard(node);
        break;
      case "committed":
        dispatcher.falls.committed(it.set, it.calls);
        break;
      case "admit":
        this.#admitted = dispatcher.admit(it.count) ?? [];
        break;
      case "withdraw":
        if (this.#admitted.length > 0) dispatcher.withdraw(this.#admitted);
        this.#admitted = [];
        break;
      case "tick":
        this.#nowMs += heartbeatMs;
        dispatcher.tick(this.#nowMs);
        break;
      case "interrupted":
        dispatcher.interrupted("SIGINT", 2, nowMs);
        break;
      case "moved":
        this.#move(rank, node);
        break;
      case "aborted":
        dispatcher.aborted(rank, { code: 6, message: "enough", members: [] }, nowMs);
        break;
    }
  }

  #move(rank: number, node: number): void {
    const dispatcher = this.#dispatcher;
    const { deaths, setOf } = this.options;
    const from = dispatcher.state.placement[rank]!;
    if (deaths !== "replaced" || setOf === undefined || dispatcher.outcome !== undefined || from === node) return;
    const as = dispatcher.state.setOf.reduce((most, set) => Math.max(most, set), 0) + 1;
    const set = dispatcher.state.setOf[rank]!;
    dispatcher.moveRanks([rank], node, { set, as, rank, checkpoint: { number: 1, position: 0 }, sent: [] });
    dispatcher.restartMoved(node, this.#nowMs);
    dispatcher.leftByMoved(from, this.#nowMs);
  }

  /** Calls of a life only become more, and only a node that lives says so. */
  #rankPassed(rank: number, incarnation: number, calls: number): void {
    const life = `${rank}.${incarnation}`;
    if (!this.#isThere(rank) || calls <= (this.#passed.get(life)?.calls ?? 0)) return;
    this.#passed.set(life, { rank, calls });
    this.#dispatcher.falls.passed(rank, calls);
  }

  #isThere(rank: number): boolean {
    const { state } = this.#dispatcher.state.ranks[rank]!;
    return (
      ["running", "done", "finished"].includes(state) &&
      this.#dispatcher.isNodeAlive(this.#dispatcher.state.placement[rank]!)
    );
  }

  #ports(): DispatcherPorts {
    const order = (what: string, ...details: readonly unknown[]): void => {
      this.orders.push(`${what} ${JSON.stringify(details)}`);
    };
    return {
      record: (record: DispatcherRecord) => {
        this.#bytes.push(...encodeRecord(record));
        order("record", record);
      },
      tell: (death) => order("tell", death),
      left: (rank) => order("left", rank),
      restart: (node, ranks) => order("restart", node, ranks),
      restartRanks: (node, ranks) => order("restart on", node, ranks),
      endRanks: (node, ranks) => order("end on", node, ranks),
      decided: (outcome) => order("decided", outcome),
      survived: (reason, afterMs) => order("survived", reason, afterMs),
      work: () => 0,
      end: (node) => order("end", node),
      kill: (node) => order("kill", node),
      disown: (node) => order("disown", node),
      ended: (outcome) => order("ended", outcome),
    };
  }
}

test("V1: a journal that is replayed gives the dispatcher's state, after every event", () => {
  fc.assert(
    fc.property(shape, story, (made, events) => {
      const world = new World(made);
      for (const event of events) {
        world.happens(event);
        deepEqual(jobStateFrom(world.journal).dispatcher, world.dispatcher.state);
      }
    }),
    { numRuns: 300 },
  );
});

test("V1: a dispatcher that crashed before any event decides from there on as one that did not", () => {
  fc.assert(
    fc.property(shape, story, fc.nat(), (made, events, seed) => {
      const crashAt = seed % (events.length + 1);
      const [whole, crashed] = [new World(made), new World(made)];
      for (const [at, event] of events.entries()) {
        if (at === crashAt) {
          // A new dispatcher waits for an end as long as any other: how long the nodes had been ending is not known to it.
          if (whole.dispatcher.outcome !== undefined) return;
          crashed.crash();
          for (const each of [whole, crashed]) each.heartbeats();
        }
        for (const each of [whole, crashed]) each.happens(event);
        deepEqual(crashed.orders, whole.orders);
        deepEqual(crashed.dispatcher.state, whole.dispatcher.state);
      }
    }),
    { numRuns: 1000 },
  );
});

test("V1: the stories above reach restarts, falls that are given up, survivals, spawned processes, moves and progress", () => {
  const kinds = new Map<string, number>();
  const count = (word: string): void => void kinds.set(word, (kinds.get(word) ?? 0) + 1);
  fc.assert(
    fc.property(shape, story, (made, events) => {
      const world = new World(made);
      for (const event of events) world.happens(event);
      for (const record of world.journal) {
        count(record.kind);
        if (record.kind !== "fall") continue;
        if (record.returns) count(record.replaced.length > 0 ? "node replaced" : "ranks returned");
        if (record.outcome?.reason.kind === "node-failed" && "givenUp" in record.outcome.reason) count("given up");
        if (record.outcome === null && !record.returns) count("survived");
        if (!record.isGone && record.replaced.length > 0) count("silent");
      }
    }),
    { numRuns: 1500 },
  );
  const wanted = [
    "node replaced",
    "ranks returned",
    "given up",
    "survived",
    "silent",
    "admitted",
    "withdrawn",
    "moved",
  ];
  for (const word of [...wanted, "rank-over", "node-gone", "decided", "caught-up", "progressed", "saved", "excused"]) {
    equal((kinds.get(word) ?? 0) > 10, true, `${word}: ${kinds.get(word) ?? 0}`);
  }
});
