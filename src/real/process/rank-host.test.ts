import assert from "node:assert/strict";
import { test } from "node:test";
import { type TestChoice, TestChoices, TestProtocol } from "../../core/ft/testing/choices.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Process } from "../../core/process/process.ts";
import { noSpawner } from "../../core/process/spawner.ts";
import { Random } from "../../sim/random.ts";
import { World } from "../../sim/world.ts";
import { createPlaceWords } from "../messages/whereabouts.ts";
import { RankHost } from "./rank-host.ts";
import { RankWhereabouts } from "./rank-whereabouts.ts";

/** An event happens in every wait. */
function hostOf(process: Process, happen: () => void): RankHost {
  return new RankHost({
    process,
    waiting: { idle: happen, parks: 0, glance: () => false, reset() {}, whenSomething: async () => happen() },
    notices: { isNews: () => false, deliver: () => false },
    survivesDeaths: false,
    number: 0,
    nameOf: (rank: number) => ({ rank, replica: 0 }),
    processorName: "test",
    tracer: null,
    whereabouts: new RankWhereabouts({
      words: createPlaceWords(),
      turn: { words: new Int32Array(1), at: 0 },
      process,
      isDelivered: () => true,
    }),
    stop: { words: new Int32Array(1), at: 0 },
    kept: () => ({ oldest: 0, newest: 0 }),
    spawner: noSpawner(1, "this is a test"),
    abort: (_code, message) => assert.fail(message),
    buried() {},
    result() {},
    checkpoint() {},
    restored: () => null,
  });
}

/** A host whose awaited conditions become true while it waits, in an order that the seed decides. */
class Life {
  readonly choices: TestChoices | null;
  readonly seen: string[] = [];
  readonly #random: Random;
  readonly #host: RankHost;
  /** Conditions that are true, and those that will be. */
  readonly #ready = new Set<string>();
  readonly #unready: string[] = [];

  constructor(seed: number, choices: TestChoices | null) {
    this.choices = choices;
    this.#random = new Random(seed);
    const protocol = () => (choices === null ? null : () => new TestProtocol(choices));
    const [process] = new World({ ranks: 1, seed, protocol }).processes;
    this.#host = hostOf(process!.core, () => this.#makeReady());
  }

  #makeReady(): void {
    assert(this.#unready.length > 0, "nothing will become ready");
    // Several conditions at once, or one.
    do this.#ready.add(this.#unready.splice(this.#random.below(this.#unready.length), 1)[0]!);
    while (this.#unready.length > 0 && this.#random.chance(0.5));
  }

  async done(name: string): Promise<void> {
    if (this.#random.chance(0.2)) this.#ready.add(name);
    else this.#unready.push(name);
    await this.#host.whenReady(() => this.#ready.has(name));
    this.seen.push(name);
  }

  /** Chains of awaits side by side; their actions interleave. */
  async run(): Promise<this> {
    const chain = async (name: string, length: number) => {
      for (let i = 0; i < length; i++) {
        await this.done(`${name}${i}`);
        await Promise.resolve();
        this.seen.push(`${name}${i} goes on`);
      }
    };
    await Promise.all([chain("a", 3), chain("b", 4), chain("c", 2)]);
    await chain("d", 2);
    return this;
  }
}

const live = (seed: number, known: readonly TestChoice[] = []) => new Life(seed, new TestChoices(known)).run();

test("L1 replay in TypeScript: awaits go on in a second life in the order of the first", async () => {
  const lives = await Promise.all(Array.from({ length: 12 }, (_, seed) => live(seed)));
  assert(new Set(lives.map(({ seen }) => seen.join())).size > 1, "lives differ when nobody remembers");
  for (const [seed, first] of lives.entries()) {
    const { all } = first.choices!;
    assert.equal(all.length, 11, "one choice for each await");
    const second = await live(seed + 100, all);
    assert.deepEqual(second.seen, first.seen);
    assert.deepEqual(second.choices!.all, all);
    const half = all.slice(0, 5);
    const third = await live(seed + 200, half);
    assert.deepEqual(third.choices!.all.slice(0, 5), half);
  }
});

test("M7 awaits without a protocol that replays all go on", async () => {
  const { seen } = await new Life(3, null).run();
  assert.equal(seen.length, 22);
});

test("L1 replay: a clock that is behind that of the life before goes on from there", () => {
  const host = hostOf(new World({ ranks: 1 }).processes[0]!.core, () => {});
  const before = host.now();
  host.moveClockTo(before - 5);
  assert(host.now() >= before && host.now() < before + 60);
  host.moveClockTo(before + 1e6);
  assert(host.now() >= before + 1e6 && host.now() < before + 1e6 + 60);
});

for (const waits of [1, 3]) {
  test(`ADR 18: a gate that opens in wait ${waits} is asked about from the second wait on, until it opens`, () => {
    const [{ core }] = new World({ ranks: 1, seed: 1 }).processes as unknown as [{ readonly core: Process }];
    const seen: boolean[] = [];
    const host = hostOf(core, () => void seen.push(core.inquiries.isWaiting));
    const board = { passed: () => seen.length === waits } as unknown as NonNullable<Communicator["board"]>;
    core.world.board = board;
    host.waitForGate(core.world);
    assert.deepEqual(seen, [false, true, true].slice(0, waits));
    assert.equal(core.inquiries.isWaiting, false);
  });
}

test("D2 a stop that comes too early is postponed: waits last, until it is time or the order is another", () => {
  const [process] = new World({ ranks: 1, seed: 1 }).processes;
  let idles = 0;
  let isTooEarly = true;
  const host = hostOf(process!.core, () => {
    if (++idles % 10 === 0) isTooEarly = false;
  });
  const { words, at } = host.stop;
  words[at] = 5;
  assert.equal(
    host.waitUntil(() => false),
    false,
  );
  assert.equal(idles, 0, "at once");
  host.postponeStop(5, () => isTooEarly);
  assert.equal(
    host.waitUntil(() => false),
    false,
  );
  assert.equal(idles, 10, "when it was time");
  isTooEarly = true;
  words[at] = 6;
  assert.equal(
    host.waitUntil(() => false),
    false,
  );
  assert.equal(idles, 10, "another order");
  // The order was another one when it was found that the first one came too early.
  host.postponeStop(5, () => true);
  assert.equal(host.shallStop(), true);
  words[at] = 0;
  assert.equal(host.shallStop(), false);
});
