/**
 * Ranks that die and come back, again and again, with packets under way in all directions and connections that break. What
 * hosts and ranks hear of it, and when connections are handed over, is in the generator's hands; only the dispatcher's
 * order is kept. Whatever happens: what arrives was sent by the life that the receiver knows, to the very life that
 * receives it, in order and without gaps; and between the last lives everything arrives.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../core/base/testing/properties.ts";
import { PipeSide, PipeWorld } from "../testing/pipe-world.ts";

const ranks = 3;
const messagesMax = 12;

interface News {
  readonly kind: "died" | "returned";
  readonly rank: number;
  readonly life: number;
}

type Event =
  | { readonly kind: "send"; readonly from: number; readonly to: number; readonly bytes: number }
  | { readonly kind: "step"; readonly rank: number; readonly times: number }
  | { readonly kind: "host"; readonly pair: number; readonly times: number }
  | { readonly kind: "cut"; readonly pair: number; readonly keep: number }
  | { readonly kind: "look" | "kill" | "return" | "host-hears" | "hear"; readonly rank: number };

/** What must have happened in some of the runs. */
const marks = { returns: 0, returnsHeardLate: 0, sentToOldLife: 0, connectedBeforeNews: 0 };

const tagOf = (life: number, lifeOfPeer: number, number: number): number => (life << 16) | (lifeOfPeer << 8) | number;

class Returning {
  readonly world: PipeWorld;
  readonly #random: () => number;
  /** The life of each peer (second index) that each rank has heard of. */
  readonly #lives: number[][];
  /** By rank: what its host has still to hear, and what its host has told it. */
  readonly #atHost: News[][];
  readonly #atRank: News[][];
  /** Number of the next message from each peer (second index) in the life that is known of it. */
  readonly #next: number[][];
  /** Sent by these two lives to each other, as `PipeSide.shown` shows it; by sender and receiver. */
  readonly #sent: string[][][];

  constructor(seed: number) {
    let state = seed | 1;
    this.#random = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state >> 8;
    };
    this.world = new PipeWorld(ranks, () => (this.#random() & 1 ? 100_000 : this.#random() % 60));
    const each = <T>(make: () => T): T[] => Array.from({ length: ranks }, make);
    this.#lives = each(() => each(() => 0));
    this.#next = each(() => each(() => 0));
    this.#atHost = each(() => []);
    this.#atRank = each(() => []);
    this.#sent = each(() => each(() => []));
  }

  isDead(rank: number): boolean {
    return this.world.states[rank] === "dead";
  }

  send(from: number, to: number, bytes: number): void {
    if (from === to || this.isDead(from)) return;
    const sent = this.#sent[from]![to]!;
    if (sent.length >= messagesMax) return;
    const life = this.#lives[from]![to]!;
    const tag = tagOf(this.world.lives[from]!, life, sent.length);
    if (!this.world.sides[from]!.send(to, tag, bytes)) return;
    sent.push(PipeSide.shown(from, tag, bytes));
    if (life < this.world.lives[to]!) marks.sentToOldLife++;
  }

  step(rank: number): void {
    if (this.isDead(rank)) return;
    const side = this.world.sides[rank]!;
    const before = side.arrived.length;
    side.step();
    for (const line of side.arrived.slice(before)) this.#check(rank, line);
  }

  #check(rank: number, line: string): void {
    const [source, , tag] = line.split(" ")[0]!.split(",").map(Number) as [number, number, number];
    assert.equal(tag >> 16, this.#lives[rank]![source], "from the life that the receiver knows");
    assert.equal((tag >> 8) & 0xff, this.world.lives[rank], "for the life that receives it");
    assert.equal(tag & 0xff, this.#next[rank]![source]!++, "in order and without gaps");
  }

  kill(rank: number): void {
    if (this.isDead(rank)) return;
    this.world.killed(rank, this.#random() & 1 ? 0 : 10_000);
    this.#atHost[rank] = [];
    this.#atRank[rank] = [];
    this.#spread({ kind: "died", rank, life: this.world.lives[rank]! });
  }

  revive(rank: number): void {
    if (!this.isDead(rank) || this.world.lives[rank] === 50) return;
    marks.returns++;
    this.world.returned(rank);
    this.#lives[rank] = [...this.world.lives];
    this.#next[rank]!.fill(0);
    for (let peer = 0; peer < ranks; peer++) this.#sent[rank]![peer] = [];
    this.#spread({ kind: "returned", rank, life: this.world.lives[rank]! });
  }

  /** To every node but its own; one that starts later knows already. */
  #spread(news: News): void {
    for (const [other, atHost] of this.#atHost.entries())
      if (other !== news.rank && !this.isDead(other)) atHost.push(news);
  }

  hostHears(rank: number): void {
    const news = this.#atHost[rank]!.shift();
    if (news === undefined) return;
    if (news.kind === "died") this.world.hostHearsDeath(rank, news.rank);
    else this.world.hostHearsReturn(rank, news.rank, news.life);
    this.#atRank[rank]!.push(news);
  }

  hear(rank: number): void {
    const news = this.#atRank[rank]!.shift();
    if (news === undefined) return;
    const { transport, handover } = this.world.sides[rank]!;
    if (news.kind === "died") transport.peerFailed(news.rank, news.life);
    else {
      if (this.world.lives[news.rank]! > news.life) marks.returnsHeardLate++;
      if (handover.life(0, news.rank) === news.life && handover.generation(0, news.rank) > 0)
        marks.connectedBeforeNews++;
      transport.peerReturned(news.rank, news.life);
      this.#lives[rank]![news.rank] = news.life;
      this.#next[rank]![news.rank] = 0;
      this.#sent[rank]![news.rank] = [];
    }
  }

  play(events: readonly Event[]): void {
    for (const event of events) {
      switch (event.kind) {
        case "send":
          this.send(event.from, event.to, event.bytes);
          break;
        case "step":
          for (let i = 0; i < event.times; i++) this.step(event.rank);
          break;
        case "look":
          // The packet it sees, if there is one, is taken later.
          if (!this.isDead(event.rank)) this.world.sides[event.rank]!.transport.peek();
          break;
        case "host":
          for (let i = 0; i < event.times; i++) this.world.host(event.pair);
          break;
        case "cut":
          this.world.cut(event.pair, event.keep);
          break;
        case "kill":
          this.kill(event.rank);
          break;
        case "return":
          this.revive(event.rank);
          break;
        case "host-hears":
          this.hostHears(event.rank);
          break;
        case "hear":
          this.hear(event.rank);
          break;
      }
    }
    for (let rank = 0; rank < ranks; rank++) this.revive(rank);
    for (let turn = 0; turn < 20_000 && !this.#isOver(); turn++) {
      const [rank, other] = [this.#random() % ranks, this.#random() % ranks];
      this.send(rank, other, this.#random() % 512);
      this.step(rank);
      this.world.host(this.#random() % this.world.pairs);
      if (this.#random() % 5 === 0) this.hostHears(this.#random() % ranks);
      if (this.#random() % 5 === 0) this.hear(this.#random() % ranks);
    }
  }

  /** What the last lives sent each other, and what has arrived of it. */
  #channel(from: number, to: number): { sent: string[]; arrived: string[] } {
    const sent = this.#sent[from]![to]!;
    const prefix = `${from},7,`;
    const isOfLast = (line: string) =>
      line.startsWith(prefix) && Number(line.split(",")[2]) >> 16 === this.world.lives[from];
    return { sent, arrived: this.world.sides[to]!.arrived.filter(isOfLast) };
  }

  #isOver(): boolean {
    for (let from = 0; from < ranks; from++) {
      for (let to = 0; to < ranks; to++) {
        const { sent, arrived } = this.#channel(from, to);
        if (from !== to && (sent.length < messagesMax || arrived.length < sent.length)) return false;
      }
    }
    return [...this.#atHost, ...this.#atRank].every(({ length }) => length === 0);
  }

  check(): void {
    assert.deepEqual(this.world.bad, []);
    for (let from = 0; from < ranks; from++) {
      for (let to = 0; to < ranks; to++) {
        if (from === to) continue;
        const { sent, arrived } = this.#channel(from, to);
        assert.equal(sent.length, messagesMax);
        assert.deepEqual(arrived, sent, `from ${from} to ${to}`);
      }
    }
  }
}

const rank = fc.nat(ranks - 1);
const times = fc.integer({ min: 1, max: 8 });
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant("send" as const), from: rank, to: rank, bytes: fc.nat(512) }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("step" as const), rank, times }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("look" as const), rank }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("host" as const), pair: rank, times }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), pair: rank, keep: fc.nat(400) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), rank }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("return" as const), rank }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("host-hears" as const), rank }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("hear" as const), rank }) },
);

test("L5: ranks die and return at any moment: every life gets what was sent to it by the lives it knows, and no more", () => {
  const scenario = fc.tuple(fc.array(event, { maxLength: 200, size: "max" }), fc.nat());
  fc.assert(
    fc.property(scenario, ([events, seed]) => {
      const returning = new Returning(seed);
      returning.play(events);
      returning.check();
    }),
    { numRuns: 300 },
  );
  for (const [mark, count] of Object.entries(marks)) assert.ok(count > 20, `${mark}: ${count}`);
});

test("L5: a thousand lives of a peer need the memory of one", () => {
  const world = new PipeWorld(2, () => 100_000);
  const a = world.sides[0]!;
  const turn = () => {
    for (const side of world.sides) for (let i = 0; i < 3; i++) side.step();
    for (let i = 0; i < 3; i++) world.host(0);
  };
  let before = 0;
  for (let life = 0; life < 1000; life++) {
    a.send(1, life, 100);
    for (let i = 0; i < 4; i++) turn();
    assert.deepEqual(world.sides[1]!.arrived, [PipeSide.shown(0, life, 100)]);
    // Some lives leave packets behind that never leave, or are never looked at.
    a.send(1, 0, 300);
    world.sides[1]!.send(0, 1, 300);
    if (life === 1) before = a.memory.allocate(0);
    world.killed(1, 0);
    world.tellDeath(0, 1);
    world.returned(1);
    world.hostHearsReturn(0, 1, life + 1);
    a.transport.peerReturned(1, life + 1);
  }
  assert.equal(a.memory.allocate(0), before, "nothing was allocated since");
  assert.deepEqual(a.arrived, []);
});

test("L5: a packet of the old life that was seen and not taken is gone, and those behind it", () => {
  const world = new PipeWorld(2, () => 100_000);
  const a = world.sides[0]!;
  const turns = (side: PipeSide) => {
    for (let i = 0; i < 4; i++) {
      for (let times = 0; times < 3; times++) world.host(0);
      side.step();
    }
  };
  world.sides[1]!.send(0, 1, 100);
  world.sides[1]!.send(0, 2, 100);
  for (let i = 0; i < 3; i++) world.host(0);
  world.sides[1]!.step();
  assert.ok(a.transport.peek() >= 0);
  world.killed(1, 10_000);
  world.tellDeath(0, 1);
  world.returned(1);
  world.hostHearsReturn(0, 1, 1);
  world.sides[1]!.send(0, 3, 100);
  turns(world.sides[1]!);
  a.transport.peerReturned(1, 1);
  assert.ok(!a.transport.isShowing);
  turns(a);
  assert.deepEqual(a.arrived, [PipeSide.shown(1, 3, 100)]);
});
