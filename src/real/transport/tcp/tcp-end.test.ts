/**
 * The end of ranks, with connections that a generator cuts at any moment, also while they are ending and afterwards.
 * Whatever happens: who has not died gets every message of every peer that has not died, in order and once; and everybody
 * comes to an end.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../core/base/testing/properties.ts";
import { PipeSide, PipeWorld } from "../testing/pipe-world.ts";

interface Send {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

type Event =
  | { readonly kind: "step"; readonly rank: number; readonly times: number }
  | { readonly kind: "host"; readonly pair: number }
  | { readonly kind: "cut"; readonly pair: number; readonly keep: number }
  | { readonly kind: "kill"; readonly rank: number }
  | { readonly kind: "news"; readonly rank: number };

interface Scenario {
  readonly ranks: number;
  readonly sends: readonly Send[];
  /** These do not wait for what others send them. */
  readonly careless: readonly boolean[];
  readonly events: readonly Event[];
  /** How often each of them gets a turn after the events, in proportion. */
  readonly paces: readonly number[];
  /** Connections cut after the events. Few: another connection mends what was forgotten on the last one. */
  readonly cuts: number;
  /** For what the generator has not decided: how much the kernel moves, and cuts near the end. */
  readonly seed: number;
}

/** What must have happened in some of the runs. */
const marks = { cutWhileLeaving: 0, cutAfterAnEnd: 0, endedBeforeRead: 0, killed: 0 };

/** Programs that send in order, receive what they expect, and leave. */
class Ending {
  readonly world: PipeWorld;
  readonly #scenario: Scenario;
  readonly #random: () => number;
  /** What each rank has still to send. */
  readonly #outbox: { send: Send; tag: number }[][];
  readonly #dead: number[] = [];
  readonly #knowsDead: Set<number>[];

  constructor(scenario: Scenario) {
    let state = scenario.seed | 1;
    this.#random = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state >> 8;
    };
    // As many bytes as the kernel likes: few, or all.
    const chunk = () => (this.#random() & 1 ? 100_000 : this.#random() % 60);
    this.#scenario = scenario;
    this.world = new PipeWorld(scenario.ranks, chunk);
    this.#outbox = this.world.sides.map((_, rank) =>
      scenario.sends.map((send, tag) => ({ send, tag })).filter(({ send }) => send.from === rank),
    );
    this.#knowsDead = this.world.sides.map(() => new Set());
  }

  expected(to: number, from: number): string[] {
    const sends = this.#scenario.sends.map((send, tag) => ({ send, tag }));
    const ours = sends.filter(({ send }) => send.from === from && send.to === to);
    return ours.map(({ send, tag }) => PipeSide.shown(from, tag, send.bytes));
  }

  arrived(to: number, from: number): string[] {
    return this.world.sides[to]!.arrived.filter((line) => line.startsWith(`${from},`));
  }

  isGone(rank: number): boolean {
    return this.world.states[rank] === "finished" || this.world.states[rank] === "dead";
  }

  #hasEverything(rank: number): boolean {
    if (this.#scenario.careless[rank]) return true;
    return this.world.sides.every(
      (_, peer) =>
        this.#knowsDead[rank]!.has(peer) || this.arrived(rank, peer).length === this.expected(rank, peer).length,
    );
  }

  /** One turn of a rank's program. */
  step(rank: number): void {
    if (this.isGone(rank)) return;
    const { sides, states } = this.world;
    const side = sides[rank]!;
    const outbox = this.#outbox[rank]!;
    const next = outbox[0];
    if (next !== undefined && side.send(next.send.to, next.tag, next.send.bytes)) outbox.shift();
    side.step();
    if (states[rank] === "running" && outbox.length === 0 && this.#hasEverything(rank)) states[rank] = "leaving";
    if (states[rank] === "leaving" && side.transport.leave()) {
      if (sides.some((_, peer) => peer !== rank && !this.isGone(peer))) marks.endedBeforeRead++;
      this.world.finished(rank, this.#random() & 1 ? 0 : 10_000);
    }
  }

  cut(pair: number, keep: number): void {
    const { states } = this.world;
    if (states.includes("leaving")) marks.cutWhileLeaving++;
    if (states.includes("finished") && states.includes("leaving")) marks.cutAfterAnEnd++;
    this.world.cut(pair % this.world.pairs, keep);
  }

  kill(rank: number): void {
    if (this.isGone(rank) || this.#dead.length > 0) return;
    marks.killed++;
    this.#dead.push(rank);
    this.world.killed(rank, this.#random() & 1 ? 0 : 10_000);
  }

  /** The rank hears of the deaths so far. */
  hear(rank: number): void {
    if (this.isGone(rank)) return;
    for (const dead of this.#dead) {
      if (this.#knowsDead[rank]!.has(dead)) continue;
      this.#knowsDead[rank]!.add(dead);
      this.world.tellDeath(rank, dead);
    }
  }

  play(): void {
    for (const event of this.#scenario.events) {
      switch (event.kind) {
        case "step":
          for (let i = 0; i < event.times; i++) this.step(event.rank % this.#scenario.ranks);
          break;
        case "host":
          this.world.host(event.pair % this.world.pairs);
          break;
        case "cut":
          this.cut(event.pair, event.keep);
          break;
        case "kill":
          this.kill(event.rank % this.#scenario.ranks);
          break;
        case "news":
          this.hear(event.rank % this.#scenario.ranks);
          break;
      }
    }
    this.#playFairly();
  }

  /** Everybody gets a turn again and again, in random order, until it must have come to an end. */
  #playFairly(): void {
    const { ranks, paces } = this.#scenario;
    let { cuts } = this.#scenario;
    const turns = paces.slice(0, ranks).flatMap((pace, rank) => new Array<number>(pace).fill(rank));
    const isOver = () => this.world.states.every((_, rank) => this.isGone(rank));
    for (let turn = 0; turn < 100_000 && !isOver(); turn++) {
      this.step(turns[this.#random() % turns.length]!);
      this.world.host(this.#random() % this.world.pairs);
      this.hear(this.#random() % ranks);
      const isEnding = this.world.states.some((state) => state === "leaving" || state === "finished");
      if (cuts === 0 || this.#random() % (isEnding ? 8 : 40) !== 0) continue;
      cuts--;
      this.cut(this.#random(), this.#random() & 1 ? 0 : this.#random() % 300);
    }
  }

  check(): void {
    const { ranks, careless } = this.#scenario;
    assert.deepEqual(this.world.bad, []);
    assert.deepEqual(
      this.world.states.map((state, rank) => (this.isGone(rank) ? "gone" : state)),
      this.world.states.map(() => "gone"),
    );
    for (let to = 0; to < ranks; to++) {
      for (let from = 0; from < ranks; from++) {
        const expected = this.expected(to, from);
        const arrived = this.arrived(to, from);
        const isAll = this.world.states[to] === "finished" && this.world.states[from] === "finished" && !careless[to];
        assert.deepEqual(arrived, isAll ? expected : expected.slice(0, arrived.length), `from ${from} to ${to}`);
      }
    }
  }
}

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      rank: fc.nat(2),
      times: fc.integer({ min: 1, max: 20 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("host" as const), pair: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut" as const), pair: fc.nat(2), keep: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("news" as const), rank: fc.nat(2) }) },
);
const kill: fc.Arbitrary<Event> = fc.record({ kind: fc.constant("kill" as const), rank: fc.nat(2) });

const scenarioOf = (events: fc.Arbitrary<Event>): fc.Arbitrary<Scenario> =>
  fc
    .record({
      ranks: fc.integer({ min: 2, max: 3 }),
      sends: fc.array(fc.record({ from: fc.nat(2), to: fc.nat(2), bytes: fc.nat(512) }), { maxLength: 40 }),
      careless: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      events: fc.array(events, { maxLength: 120 }),
      paces: fc.array(fc.constantFrom(1, 1, 5, 30), { minLength: 3, maxLength: 3 }),
      cuts: fc.nat(6),
      seed: fc.nat(),
    })
    .map((scenario) => ({
      ...scenario,
      sends: scenario.sends.filter(({ from, to }) => from !== to && from < scenario.ranks && to < scenario.ranks),
    }));

const play = (scenario: Scenario): void => {
  const ending = new Ending(scenario);
  ending.play();
  ending.check();
};

test("M8: connections are cut at any moment, also at the end: everything arrives once, and everybody ends", () => {
  fc.assert(fc.property(scenarioOf(event), play), { numRuns: 1500 });
  assert.ok(marks.cutWhileLeaving > 100, "connections were cut while ranks were leaving");
  assert.ok(marks.cutAfterAnEnd > 100, "connections were cut when one rank had ended and another was leaving");
  assert.ok(marks.endedBeforeRead > 100, "ranks ended long before others");
});

test("M8: a rank dies meanwhile: all others get everything of each other, and end", () => {
  fc.assert(fc.property(scenarioOf(fc.oneof({ weight: 9, arbitrary: event }, { weight: 1, arbitrary: kill })), play), {
    numRuns: 500,
  });
  assert.ok(marks.killed > 50);
});

// One thing after the other, where the kernel moves everything at once.

/** Two ranks, connected: rank 0 has sent its first message, and rank 1 has it. */
function connected(): { world: PipeWorld; a: PipeSide; b: PipeSide; turn: () => void } {
  const world = new PipeWorld(2, () => 100_000);
  const [a, b] = world.sides as [PipeSide, PipeSide];
  const turn = () => {
    for (const side of [a, b]) for (let i = 0; i < 3; i++) side.step();
    for (let i = 0; i < 3; i++) world.host(0);
  };
  a.send(1, 0, 8);
  for (let i = 0; i < 5; i++) turn();
  assert.deepEqual(b.arrived, [PipeSide.shown(0, 0, 8)]);
  return { world, a, b, turn };
}

const turns = (turn: () => void, count: number): void => {
  for (let i = 0; i < count; i++) turn();
};

test("M8: a rank does not leave before its last message is confirmed, and sends it again when the connection breaks", () => {
  const { world, a, b, turn } = connected();
  a.send(1, 1, 100);
  assert.ok(!a.transport.leave());
  a.step();
  assert.ok(!a.transport.leave(), "everything is sent, nothing is confirmed: the other side computes");
  world.cut(0, 0);
  for (let i = 0; i < 5; i++) {
    a.step();
    world.host(0);
    assert.ok(!a.transport.leave());
  }
  turns(turn, 5);
  assert.ok(a.transport.leave());
  assert.deepEqual(b.arrived, [PipeSide.shown(0, 0, 8), PipeSide.shown(0, 1, 100)]);
});

test("M8: the receipt for the end is lost: the next connection says it, while the other side goes on", () => {
  const { world, a, b, turn } = connected();
  a.send(1, 1, 100);
  assert.ok(!a.transport.leave());
  for (let i = 0; i < 3; i++) b.step();
  assert.equal(b.arrived.length, 2);
  world.cut(0, 0);
  a.step();
  assert.ok(!a.transport.leave());
  turns(turn, 5);
  assert.ok(a.transport.leave());
});

test("M8: two ranks leave at once, and a cut takes what both said last: neither waits for the other", () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const { world, a, b } = connected();
    a.send(1, 1, 100);
    b.send(0, 2, 100);
    for (let i = 0; i < 3; i++) for (const side of [a, b]) side.step();
    assert.ok([a, b].every((side) => side.arrived.length > 0));
    for (const rank of order) if (world.sides[rank]!.transport.leave()) world.finished(rank, 0);
    world.cut(0, 0);
    for (let i = 0; i < 10; i++) {
      world.host(0);
      for (const rank of order) {
        if (world.states[rank] === "finished") continue;
        world.sides[rank]!.step();
        if (world.sides[rank]!.transport.leave()) world.finished(rank, 0);
      }
    }
    assert.deepEqual(world.states, ["finished", "finished"]);
  }
});

test("M8: what was read from a rank that has ended since is still delivered", () => {
  const { world, a, b } = connected();
  for (let tag = 1; tag < 6; tag++) a.send(1, tag, 8);
  b.step();
  assert.equal(b.arrived.length, 2, "it has read them all and taken one");
  b.send(0, 9, 8);
  while (a.arrived.length === 0) a.step();
  assert.ok(a.transport.leave(), "the message said that they have been read");
  world.finished(0, 0);
  world.cut(0, 0);
  b.send(0, 10, 8);
  for (let i = 0; i < 5; i++) world.host(0);
  for (let i = 0; i < 10; i++) b.step();
  assert.deepEqual(
    b.arrived,
    [0, 1, 2, 3, 4, 5].map((tag) => PipeSide.shown(0, tag, 8)),
  );
  assert.ok(b.transport.leave());
});

test("M8: a rank that leaves waits for nobody who has died", () => {
  const { world, a } = connected();
  a.send(1, 1, 100);
  assert.ok(!a.transport.leave());
  world.killed(1, 0);
  for (let i = 0; i < 5; i++) {
    a.step();
    world.host(0);
    assert.ok(!a.transport.leave());
  }
  world.tellDeath(0, 1);
  assert.ok(a.transport.leave());
});
