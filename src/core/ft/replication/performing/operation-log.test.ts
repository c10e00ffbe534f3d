/** Operations of replicas, of which one performs: every crash at every point, as far as there is room; the rest by chance. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { longUnless, tries } from "../../../../../test/long.ts";
import { SeededRandom } from "../../../base/seeded-random.ts";
import { OperationLog } from "./operation-log.ts";
import { type ModelOperation, type Move, PerformingWorld, type WorldSize } from "./testing/performing-world.ts";

const write = (cell: number, value: number): ModelOperation => ({ kind: "write", cell, value });
const read = (cell: number, value: number): ModelOperation => ({ kind: "read", cell, value });
const look: ModelOperation = { kind: "look" };
const once: ModelOperation = { kind: "once" };

/** Every way in which a world can go on, each state once. How many states there are. */
function explore(size: WorldSize): { states: number; ends: number } {
  const world = new PerformingWorld(size);
  const seen = new Set([world.key]);
  const open = [world.key];
  let ends = 0;
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    world.restore(key);
    const { moves } = world;
    if (moves.every(({ kind }) => kind === "crash" || kind === "ask" || kind === "move")) {
      assert.equal(world.problem, "", key);
      ends++;
    }
    for (const move of moves) {
      world.restore(key);
      world.make(move);
      assert.equal(world.disagreement, "", `${JSON.stringify(move)} in ${key}`);
      if (seen.has(world.key)) continue;
      seen.add(world.key);
      open.push(world.key);
    }
  }
  return { states: seen.size, ends };
}

for (const [what, program] of [
  ["a write", [write(0, 1)]],
  ["a write over a write", [write(0, 1), write(0, 2)]],
  ["a look and a write", [look, write(0, 1)]],
  ["what must not be done twice", [once, look]],
] as const) {
  test(`X2 two replicas, ${what}: wherever the performer dies, all is done, and nothing twice`, () => {
    const { states, ends } = explore({ replicas: 2, crashes: 1, program });
    assert(states > 40 && ends >= 3, `${states} states, ${ends} ends`);
  });
}

for (const [what, size] of [
  ["two replicas, a long program", { replicas: 2, program: [read(0, 0), once, write(0, 3), look, write(1, 4)] }],
  ["three replicas, a write", { replicas: 3, program: [write(0, 1)] }],
  ["three replicas, a look", { replicas: 3, program: [look] }],
  ["three replicas, once", { replicas: 3, program: [once] }],
] as const) {
  test(`X2 ${what}, and everything that can happen`, longUnless(what !== "three replicas, once"), () => {
    const { states } = explore({ ...size, crashes: size.replicas - 1 });
    assert(states > 2000, `${states} states`);
  });
}

for (const [what, size] of [
  ["a look and a write", { replicas: 2, crashes: 2, clones: 1, program: [look, write(0, 1)] }],
  ["a read and a write", { replicas: 2, crashes: 1, clones: 1, program: [read(0, 0), write(0, 1)] }],
  ["what must not be done twice", { replicas: 2, crashes: 2, clones: 1, program: [once, look] }],
  ["two clones, a look", { replicas: 2, crashes: 2, clones: 2, program: [look, look] }],
  ["of three replicas, a look", { replicas: 3, crashes: 2, clones: 1, program: [look] }],
] as const) {
  test(
    `R6, X2 a clone takes part, ${what}: whoever dies, and when`,
    longUnless(what === "a look and a write" || what === "a read and a write"),
    () => {
      const { states, ends } = explore(size);
      assert(states > 100 && ends >= 3, `${states} states, ${ends} ends`);
    },
  );
}

for (const [what, size] of [
  ["a look and a write", { replicas: 2, crashes: 0, moves: 2, program: [look, write(0, 1)] }],
  ["a read and a write", { replicas: 2, crashes: 1, moves: 1, program: [read(0, 0), write(0, 1)] }],
  ["what must not be done twice", { replicas: 2, crashes: 1, moves: 1, program: [once, look] }],
  ["a clone, and a look", { replicas: 2, crashes: 1, clones: 1, moves: 1, program: [look, look] }],
  ["of three replicas, a look", { replicas: 3, crashes: 1, moves: 1, program: [look] }],
] as const) {
  test(
    `D5, X2 a replica goes on elsewhere, ${what}: whoever dies, and when`,
    longUnless(what === "a look and a write" || what === "a read and a write"),
    () => {
      const { states, ends } = explore(size);
      assert(states > 100 && ends >= 3, `${states} states, ${ends} ends`);
    },
  );
}

/** Leaves out what a comment of the class says is necessary. */
class AsksStrangers extends OperationLog {
  override met(): void {}
}
class GoesOnAtOnce extends OperationLog {
  override get isHeld(): boolean {
    return true;
  }
}
class ChangesAtOnce extends OperationLog {
  override get mayChange(): boolean {
    return true;
  }
}
class AsksNobody extends OperationLog {
  override died(replica: number): void {
    super.died(replica);
    Object.assign(this, { awaited: 0 });
  }
}
class HearsTheDead extends OperationLog {
  override take(...[from, word]: Parameters<OperationLog["take"]>): void {
    super.take(from, { ...word, view: (this as unknown as { view: number }).view });
  }
}

class ForgetsTheClone extends OperationLog {
  override expect(replica: number): void {
    super.expect(replica, this.known, this.known);
  }
}
class TellsNoClone extends OperationLog {
  override returned(): void {}
}

for (const [what, Log] of [
  ["nobody forgets what the clone lacks, nor changes what it has still to read", ForgetsTheClone],
  ["the performer tells the clone what it lacks", TellsNoClone],
] as const) {
  test(`R6, X2 without it, it goes wrong, and that is found: ${what}`, () => {
    const size = { replicas: 2, crashes: 1, clones: 1, program: [read(0, 0), look, write(0, 1)] };
    assert.throws(() => explore({ ...size, Log }));
  });
}

test("D5, X2 without it, it goes wrong, and that is found: a performer that has moved asks those that know it", () => {
  assert.throws(() => explore({ replicas: 2, crashes: 0, moves: 1, program: [look], Log: AsksStrangers }));
});

for (const [what, Log, size] of [
  ["what must not be done twice waits until all know of it", GoesOnAtOnce, { replicas: 2, program: [once] }],
  ["a change waits for those who read before it", ChangesAtOnce, { replicas: 2, program: [read(0, 0), write(0, 1)] }],
  ["a new performer asks what others were told", AsksNobody, { replicas: 3, program: [look] }],
  ["words of earlier views are dropped", HearsTheDead, { replicas: 3, program: [look] }],
] as const) {
  test(`X2 without it, it goes wrong, and that is found: ${what}`, () => {
    assert.throws(() => explore({ ...size, crashes: 1, Log }));
  });
}

/** One way, drawn from a seed. */
function walk(size: WorldSize, seed: number): PerformingWorld {
  const world = new PerformingWorld(size);
  const random = new SeededRandom(seed);
  const pick = (moves: readonly Move[]): Move => moves[Math.floor(random.fraction() * moves.length)]!;
  for (;;) {
    const all = world.moves;
    const moves = all.filter(({ kind }) => kind !== "crash");
    const crashes = all.filter(({ kind }) => kind === "crash");
    if (moves.length === 0) break;
    world.make(crashes.length > 0 && random.fraction() < 0.05 ? pick(crashes) : pick(moves));
    assert.equal(world.disagreement, "", `seed ${seed}`);
  }
  return world;
}

const everything = [read(0, 0), look, write(0, 1), once, write(1, 2), look, write(0, 3), once, read(2, 0), write(2, 4)];

for (const replicas of [2, 3, 4]) {
  test(`X2 ${replicas} replicas, all kinds of operations, crashes until one is left: by chance`, () => {
    for (let seed = 1; seed <= tries(60, 600); seed++) {
      const world = walk({ replicas, crashes: replicas - 1, program: everything }, seed);
      assert.equal(world.problem, "", `seed ${seed}`);
    }
  });
}

for (const replicas of [2, 3]) {
  test(`R6, X2 ${replicas} replicas, all kinds of operations, and the dead come back: by chance`, () => {
    let back = 0;
    for (let seed = 1; seed <= tries(20, 300); seed++) {
      const world = walk({ replicas, crashes: 4, clones: 4, program: everything }, seed);
      assert.equal(world.problem, "", `seed ${seed}`);
      back += world.cloned;
    }
    assert(back > 20, `${back} came back`);
  });
}

test("X2 the performer waits for a replica that is far behind: what it remembers is bounded", () => {
  const program = Array.from({ length: 40 }, (_, i) => write(0, i + 1));
  for (let seed = 1; seed <= 20; seed++) {
    const world = walk({ replicas: 2, crashes: 0, program, aheadMax: 4 }, seed);
    assert.equal(world.problem, "");
  }
  const [performer, other] = [0, 1].map(
    (replica) => new OperationLog({ replica, replicas: 2, living: 3, aheadMax: 4 }),
  );
  for (let i = 0; i < 4; i++) {
    assert.equal(performer!.ask().kind, "perform");
    performer!.append({ outcome: null, isRepeated: false });
  }
  assert.equal(performer!.ask().kind, "wait", "4 operations ahead");
  for (const { word } of performer!.outbox.splice(0)) other!.take(0, word);
  assert.equal(other!.ask().kind, "told");
  for (const { word } of other!.outbox.splice(0)) performer!.take(1, word);
  assert.equal(performer!.ask().kind, "perform");
});

test("X2 all replicas agree on the performer, in whichever order they hear of deaths", () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const log = new OperationLog({ replica: 2, replicas: 4, living: 15 });
    for (const replica of order) log.died(replica);
    assert.equal(log.performer, 2);
  }
  const partial = new OperationLog({ replica: 1, replicas: 3, living: 0b110 });
  assert.equal(partial.performer, 1, "a replica that was never there performs nothing");
});
