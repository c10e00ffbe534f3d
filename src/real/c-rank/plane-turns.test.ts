/**
 * Turns without JavaScript (ADR 42): ranks of a test that wait in their planes, run by turns.wat. A rank is a function that goes on where
 * it stopped, as a program's stack is put back; its waits are the text's own.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { layoutOf } from "../transport/layout.ts";
import { enterNodeMemory, newNodeMemory, turnWordOf } from "../transport/node-memory.ts";
import { RankMemory } from "../transport/rank-memory.ts";
import { PlaneTurns } from "./plane-turns.ts";
import functionBytes from "./testing/functions.wat";

const yields = 3;
const [WAITS_IN_ENGINE, GOES_ON, UNWINDS] = [0, 1, 2];

const module = new WebAssembly.Module(functionBytes);

function functionsOf(look: () => number, act: () => void): { look: () => number; act: () => void } {
  return new WebAssembly.Instance(module, { test: { look, act } }).exports as never;
}

/** What a rank does when it has its turn: its next waits, until it stops in one. */
type Step = (rank: TestRank) => "stopped" | "ended";

class TestRank {
  readonly index: number;
  /** What a look shows. */
  sight = 0;
  /** Answers of its waits. */
  readonly answers: number[] = [];
  readonly #world: TestThread;
  isUnwound = false;
  step: Step = (rank) => rank.wait();

  constructor(world: TestThread, index: number) {
    this.#world = world;
    this.index = index;
    const turn = world.turns.turnOf(index);
    const look = (): number => {
      world.looks.push(index);
      return this.sight;
    };
    const unwound = functionsOf(look, () => {
      this.isUnwound = true;
    });
    const rewound = functionsOf(look, () => {
      assert.ok(this.isUnwound, "a stack is put back that was unwound");
      this.isUnwound = false;
    });
    const goOn = functionsOf(
      () => {
        world.ran.push(index);
        this.answers.push(turn.rewound());
        assert.ok(!this.isUnwound, "its stack is there");
        return this.step(this) === "ended" ? 0 : 1;
      },
      () => {},
    );
    turn.looks(unwound.look, rewound.look);
    turn.switchBy({ unwind: unwound.act, goOn: goOn.look, rewound: rewound.act });
  }

  /** Waits, and goes on in the same turn as long as that is what the wait answers. */
  wait(): "stopped" {
    const { waitAtGate, waitForMessage } = this.#world.turns.turnOf(this.index);
    for (;;) {
      this.sight = 0;
      const answer = this.index % 2 === 0 ? waitAtGate() : waitForMessage();
      if (answer === UNWINDS) return "stopped";
      this.answers.push(answer);
    }
  }

  /** Its first turn, which is JavaScript's. */
  begin(): void {
    this.#world.turns.begin(this.index);
    this.wait();
  }
}

class TestThread {
  readonly turns: PlaneTurns;
  readonly ranks: readonly TestRank[];
  readonly words: Int32Array;
  readonly #turnAt: readonly number[];
  /** Ranks in the order of their turns, and of looks at them. */
  readonly ran: number[] = [];
  readonly looks: number[] = [];
  asked = 0;
  moved = 0;
  mustGiveWay = (): boolean => true;

  constructor(ranks: number) {
    const layout = layoutOf({ processes: ranks, memoryBytes: 16 << 20, boards: 1, longBoards: 0 });
    const memory = newNodeMemory(layout);
    const node = enterNodeMemory(memory, layout, 0);
    const turnWords = Array.from({ length: ranks }, (_, process) => turnWordOf({ ...node, process }));
    this.words = node.words;
    this.#turnAt = turnWords.map(({ at }) => at);
    const heap = new RankMemory(node);
    this.turns = new PlaneTurns({
      node,
      turnWords,
      allocate: (bytes) => heap.allocate(bytes),
      yields,
      mustGiveWay: () => {
        this.asked++;
        return this.mustGiveWay();
      },
      moved: () => {
        this.moved++;
        this.turns.idle = 0;
      },
    });
    this.ranks = Array.from({ length: ranks }, (_, index) => new TestRank(this, index));
  }

  /** All ranks stop in their first waits. */
  begin(): void {
    for (const rank of this.ranks) rank.begin();
    this.asked = 0;
    this.turns.idle = 0;
    this.looks.splice(0);
  }

  /** Bits of the ranks' turn words: 1, it has its turn; 2, it waits. */
  get turnBits(): number[] {
    return this.#turnAt.map((at) => this.words[at]! & 3);
  }
}

test("ADR 42: a rank that waits gives way to the next one that can go on, and nobody is asked", () => {
  const thread = new TestThread(4);
  thread.begin();
  const [a, b, c, d] = thread.ranks as [TestRank, TestRank, TestRank, TestRank];
  for (const rank of [a, c, d]) rank.sight = 1;
  let left = 5;
  for (const rank of [a, c, d]) {
    rank.step = () => {
      left--;
      // The one that goes on finds the others ready again: all but b.
      for (const other of [a, c, d]) if (other !== rank && left > 0) other.sight = 1;
      return rank.wait();
    };
  }
  thread.turns.run(0);
  assert.deepEqual(thread.ran.slice(0, 5), [0, 2, 3, 0, 2]);
  assert.ok(!thread.ran.includes(b.index), "a rank without news has no turn");
  assert.equal(thread.turns.current, thread.ran.at(-1));
  assert.ok(a.answers.every((answer) => answer === GOES_ON));
});

test("ADR 42: where nobody can go on the core is given away, then JavaScript waits, and is told when that is over", () => {
  const thread = new TestThread(3);
  thread.begin();
  const [a, b] = thread.ranks as [TestRank, TestRank];
  a.sight = 1;
  a.step = () => {
    let asked = 0;
    thread.mustGiveWay = () => {
      // As the thread sleeps, the news comes for this rank itself.
      thread.turns.idle++;
      if (++asked === 2) a.sight = 1;
      return asked === 4;
    };
    return a.wait();
  };
  thread.turns.run(0);
  // Its first wait: JavaScript is asked twice, after all yields; then it goes on where it is, and waits again.
  assert.equal(thread.moved, 1);
  assert.equal(thread.asked, 4);
  assert.deepEqual(a.answers, [GOES_ON, GOES_ON]);
  assert.ok(
    thread.looks.filter((rank) => rank === b.index).length >= 2 * yields,
    "others are looked at before each yield",
  );
  assert.deepEqual([thread.turns.current, a.isUnwound], [0, true]);
});

test("ADR 42: a rank that does not wait in its plane is JavaScript's, and has its turn in the order of ranks", () => {
  const thread = new TestThread(3);
  const [a, , c] = thread.ranks as [TestRank, TestRank, TestRank];
  thread.ranks[0]!.begin();
  thread.ranks[2]!.begin();
  thread.asked = 0;
  // The rank between them waits in its engine.
  a.sight = 1;
  c.sight = 1;
  thread.turns.run(0);
  assert.deepEqual([thread.ran, thread.asked], [[0], 1], "nobody overtakes it");
  c.sight = 1;
  thread.turns.run(2);
  assert.deepEqual(thread.ran, [0, 2]);
  // One that has ended is nobody's.
  thread.turns.ended(1);
  a.sight = 1;
  c.sight = 1;
  thread.asked = 0;
  c.step = () => "ended";
  thread.turns.run(0);
  assert.deepEqual([thread.ran, thread.asked, thread.turns.current], [[0, 2, 0, 2], 0, 2]);
});

test("ADR 42: what the engine must see to stays so until the rank goes on, and after many sleeps the engine waits", () => {
  const thread = new TestThread(2);
  thread.begin();
  const [a, b] = thread.ranks as [TestRank, TestRank];
  const { turns } = thread;
  b.sight = 2;
  assert.ok(turns.hasNews(1));
  b.sight = 0;
  assert.ok(turns.hasNews(1), "it was seen");
  let sleeps = 0;
  for (; !turns.hasNews(0); sleeps++) turns.slept(0);
  assert.equal(sleeps, 20);
  const inEngine: TestRank["step"] = () => "stopped";
  a.step = inEngine;
  b.step = inEngine;
  turns.run(0);
  assert.deepEqual([thread.ran, turns.isWaiting(0), turns.isWaiting(1)], [[0], false, true]);
  turns.run(1);
  assert.deepEqual([a.answers, b.answers], [[WAITS_IN_ENGINE], [WAITS_IN_ENGINE]]);
  assert.ok(!turns.isWaiting(1));
  // Another wait begins anew.
  thread.begin();
  a.sight = 0;
  assert.ok(!turns.hasNews(0));
  turns.slept(0);
  assert.ok(!turns.hasNews(0));
});

test("ADR 42: a rank that stops in its engine is JavaScript's, whoever had its turn before", () => {
  const thread = new TestThread(3);
  thread.begin();
  const [a, b, c] = thread.ranks as [TestRank, TestRank, TestRank];
  for (const rank of thread.ranks) rank.sight = 1;
  b.step = () => "stopped";
  thread.turns.idle = 2;
  thread.turns.hasMoved = false;
  thread.turns.run(0);
  assert.deepEqual([thread.ran, thread.turns.current], [[0, 1], 1]);
  assert.deepEqual(
    [a, b, c].map(({ index }) => thread.turns.isWaiting(index)),
    [true, false, true],
  );
  assert.deepEqual([thread.turns.idle, thread.turns.hasMoved], [0, true], "a turn is a movement");
});

test("ADR 42: an error leaves with the name of the rank whose program has thrown it; others go on", () => {
  const thread = new TestThread(3);
  thread.begin();
  const [a, b, c] = thread.ranks as [TestRank, TestRank, TestRank];
  for (const rank of thread.ranks) rank.sight = 1;
  b.step = () => {
    throw new Error("crash");
  };
  assert.throws(() => thread.turns.run(0), /crash/);
  assert.deepEqual([thread.turns.current, thread.ran], [1, [0, 1]]);
  assert.deepEqual(thread.turnBits, [2, 1, 0], "turns are told, to people");
  thread.turns.ended(1);
  a.sight = 1;
  c.step = () => "ended";
  thread.turns.run(2);
  thread.turns.ended(2);
  assert.deepEqual([thread.turns.current, thread.ran], [2, [0, 1, 2]]);
});

test("ADR 42: random waits: only ranks with news have turns, and each that has news has one before another has its second", () => {
  const random = new SeededRandom(42);
  const below = (bound: number): number => random.bits() % bound;
  for (let round = 0; round < 10; round++) {
    const thread = new TestThread(2 + below(5));
    thread.begin();
    let left = 200;
    const waitedFor = thread.ranks.map(() => 0);
    for (const rank of thread.ranks) {
      rank.step = () => {
        assert.notEqual(rank.sight, 0, "a rank has its turn when there is something to see");
        rank.sight = 0;
        waitedFor[rank.index] = 0;
        for (const other of thread.ranks) {
          if (other === rank) continue;
          if (other.sight !== 0) waitedFor[other.index]!++;
          assert.ok(waitedFor[other.index]! < thread.ranks.length, "nobody is passed over");
          if (left > 0 && below(3) === 0) other.sight = 1;
        }
        left--;
        return rank.wait();
      };
      rank.wait = function wait(this: TestRank): "stopped" {
        const { waitAtGate, waitForMessage } = thread.turns.turnOf(this.index);
        while ((below(2) === 0 ? waitAtGate() : waitForMessage()) !== UNWINDS) {
          waitedFor[this.index] = 0;
          this.sight = 0;
        }
        return "stopped";
      };
    }
    // While all wait the news comes from elsewhere, as from another thread.
    let asked = 0;
    thread.mustGiveWay = () => {
      if (left <= 0 || ++asked > 1000) return true;
      thread.ranks[below(thread.ranks.length)]!.sight = 1;
      return false;
    };
    thread.ranks[0]!.sight = 1;
    thread.turns.run(0);
    assert.ok(left <= 0 || asked > 1000);
    assert.ok(thread.ranks.every(({ index }) => thread.turns.isWaiting(index)));
  }
});
