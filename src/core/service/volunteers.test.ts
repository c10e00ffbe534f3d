/** Who takes which place: every state that a job of one or two places and up to four volunteers can come to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Volunteers } from "./volunteers.ts";

const volunteersMax = 4;

type Event = readonly [
  what: "begin" | "call" | "return" | "join" | "go" | "lose" | "end",
  /** A volunteer's number, or that of a place. */
  number: number,
];

/** A job with its processes, as far as anybody outside of the core can see them. */
class World {
  readonly core: Volunteers;
  readonly #nodes: number;
  readonly #startsOwn: boolean;
  hasBegun = false;
  isOver = false;
  /** By volunteer: called, not joined; free; in a place; or gone. */
  readonly #states: ("called" | "joined" | "gone")[] = [];
  /** By place: its process, 0 for one of the job's own; null: none. */
  readonly places: (number | null)[];
  /** In the order in which they have joined; and places in that in which they became vacant. */
  #free: number[] = [];
  #vacant: number[] = [];

  constructor(nodes: number, startsOwn: boolean) {
    this.#nodes = nodes;
    this.#startsOwn = startsOwn;
    this.places = new Array<number | null>(nodes).fill(null);
    this.core = new Volunteers({ nodes, startsOwn }, { take: (node, volunteer) => this.#take(node, volunteer) });
  }

  get key(): string {
    return JSON.stringify([this.hasBegun, this.isOver, this.#states, this.places, this.#free, this.#vacant]);
  }

  get events(): Event[] {
    if (this.isOver) return [];
    const volunteers = [...this.#states.keys()].map((i) => i + 1);
    const living = volunteers.filter((volunteer) => this.#states[volunteer - 1] !== "gone");
    const called = living.filter((volunteer) => this.#states[volunteer - 1] === "called");
    const held = [...this.places.keys()].filter((node) => this.places[node] !== null);
    return [
      ...(this.#startsOwn && !this.hasBegun ? [["begin", 0] as const] : []),
      ...(volunteers.length < volunteersMax ? [["call", 0] as const] : []),
      ...volunteers.map((volunteer) => ["return", volunteer] as const),
      ...called.map((volunteer) => ["join", volunteer] as const),
      ...living.map((volunteer) => ["go", volunteer] as const),
      ...held.map((node) => ["lose", node] as const),
      ["end", 0],
    ];
  }

  happens([what, number]: Event): void {
    switch (what) {
      case "begin":
        this.core.begin();
        assert(this.hasBegun, "a job with processes of its own waits for nobody");
        break;
      case "call":
        assert.equal(this.core.called(0), this.#states.push("called"), "everybody has a number of its own");
        break;
      case "return":
        assert.equal(this.core.called(number), null, "nobody comes back under the number that it had");
        break;
      case "join":
        this.#states[number - 1] = "joined";
        this.#free.push(number);
        this.core.joined(number);
        break;
      case "go":
        this.#states[number - 1] = "gone";
        this.#free = this.#free.filter((each) => each !== number);
        this.core.gone(number);
        if (this.places.includes(number)) this.#lose(this.places.indexOf(number));
        break;
      case "lose":
        this.#lose(number);
        break;
      case "end": {
        const without = [...this.places.keys()].filter((node) => this.places[node] === null);
        assert.deepEqual(this.core.end().sort(), without, "nobody ends in these places");
        this.isOver = true;
        assert.equal(this.core.called(0), null, "nobody joins a job that ends");
        break;
      }
    }
    this.#check();
  }

  /** The process of that place is gone, or given up; another may take it. */
  #lose(node: number): void {
    const before = this.places[node];
    if (before) this.#states[before - 1] = "gone";
    this.places[node] = null;
    const [first] = this.#free;
    const successor = this.core.successorOf(node);
    assert.equal(successor, first ?? (this.#startsOwn ? 0 : null), "the first that is free, then one of its own");
    if (successor === null) this.#vacant.push(node);
    else this.#put(node, successor);
  }

  /** The core says so: in the beginning, or to one that has just joined. */
  #take(node: number, volunteer: number): void {
    if (this.hasBegun) assert.equal(node, this.#vacant.shift(), "the place that has been vacant longest");
    else if (node === this.#nodes - 1) this.hasBegun = true;
    this.#put(node, volunteer);
  }

  #put(node: number, volunteer: number): void {
    assert.equal(this.places[node], null, "a place has one process");
    if (volunteer > 0) {
      assert.equal(volunteer, this.#free.shift(), "the one that has been free longest");
      assert.equal(this.#states[volunteer - 1], "joined");
    }
    this.places[node] = volunteer;
  }

  #check(): void {
    const held = this.places.filter((process) => process !== null && process > 0);
    assert.equal(new Set(held).size, held.length, "a volunteer has one place");
    if (this.isOver) return;
    assert.equal(this.core.free, this.#free.length);
    for (const volunteer of [0, ...this.#states.keys()].map((i) => i + 1))
      assert.equal(this.core.isFree(volunteer), this.#free.includes(volunteer));
    for (const node of this.places.keys()) assert.equal(this.core.isVacant(node), this.places[node] === null);
    if (!this.hasBegun) {
      assert.equal(this.core.missing, this.#nodes - this.#free.length);
      assert(
        this.places.every((process) => process === null),
        "all places are taken at once",
      );
      assert(this.#startsOwn || this.core.missing > 0, "it begins as soon as there are enough");
    } else assert(this.#free.length === 0 || this.places.every((process) => process !== null), "nobody waits in vain");
  }
}

/** Every state that can be reached is visited once, by the shortest way there. */
function explore(nodes: number, startsOwn: boolean): number {
  const seen = new Set<string>();
  const ways: Event[][] = [[]];
  for (const way of ways) {
    const world = new World(nodes, startsOwn);
    for (const event of way) world.happens(event);
    for (const event of world.events) {
      const next = new World(nodes, startsOwn);
      for (const each of [...way, event]) next.happens(each);
      if (seen.has(next.key)) continue;
      seen.add(next.key);
      ways.push([...way, event]);
    }
  }
  return seen.size;
}

for (const nodes of [1, 2]) {
  for (const startsOwn of [false, true]) {
    const what = startsOwn ? "and the job's own processes" : "alone";
    test(`V9 volunteers ${what} for ${nodes} places: every state`, () => {
      assert(explore(nodes, startsOwn) > 100);
    });
  }
}

test("V9: places of a job that goes on are taken one by one, by those who join", () => {
  const taken: string[] = [];
  const core = new Volunteers({ nodes: 2, startsOwn: false }, { take: (node, by) => taken.push(`${by} at ${node}`) });
  core.resume();
  assert.deepEqual([core.successorOf(1), core.successorOf(0)], [null, null]);
  core.joined(core.called(0)!);
  assert.deepEqual(taken, ["1 at 1"]);
  assert.deepEqual(core.end(), [0]);
});
