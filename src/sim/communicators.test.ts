/** The tasks that make communicators, in simulated worlds of 1 to 17 processes with reordering between channels. Row M4. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tries } from "../../test/long.ts";
import type { Pointer } from "../core/base/brand.ts";
import { TAG_UB, UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { Group } from "../core/comm/group.ts";
import type { Communicator } from "../core/process/communicator.ts";
import {
  Create,
  CreateGroup,
  CreateInter,
  Duplicate,
  MeetParents,
  Merge,
  Spawn,
  Split,
  SplitInter,
} from "../core/process/new-communicators.ts";
import type { Task } from "../core/process/task.ts";
import { SendMode } from "../core/request/records.ts";
import type { SimProcess, Wait } from "./sim-process.ts";
import { World } from "./world.ts";

type Maker = Task & { readonly result: Communicator | null };
type Steps<T> = Generator<Parameters<SimProcess["completion"]>[0] | Wait, T, void>;

/** Runs a task to its end and checks that its record comes back. */
function* make(process: SimProcess, task: Maker): Steps<Communicator | null> {
  const request = process.core.start(task);
  yield request;
  process.engine.giveBack(request);
  assert.equal(task.error, 0);
  return task.result;
}

function* barrier(process: SimProcess, comm: Communicator): Steps<void> {
  const request = process.core.collectives.startEqual(comm, "barrier", 0 as Pointer, 0 as Pointer, {});
  yield request;
  process.engine.giveBack(request);
}

const membersOf = (comm: Communicator): number[] => comm.group.worldRanks();
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function* program(process: SimProcess): Generator<Parameters<SimProcess["completion"]>[0] | Wait, void, void> {
  const { core, rank } = process;
  const { world } = core;
  const records = core.engine.records.count;
  const all = range(core.ranks);
  const made: Communicator[] = [];

  const copy = (yield* make(process, new Duplicate(world)))!;
  assert.deepEqual(membersOf(copy), all);
  made.push(copy);

  const parity = rank % 2;
  const half = (yield* make(process, new Split(copy, parity, -rank)))!;
  assert.deepEqual(membersOf(half), all.filter((each) => each % 2 === parity).reverse());
  made.push(half);
  const alone = yield* make(process, new Split(world, rank === 0 ? 5 : UNDEFINED, 0));
  assert.equal(alone === null, rank !== 0);
  if (alone !== null) made.push(alone);

  const few = Group.of(all.slice(0, Math.ceil(core.ranks / 2)).reverse());
  const created = yield* make(process, new Create(world, few));
  assert.equal(created === null, !few.has(rank as never));
  if (created !== null) {
    made.push(created);
    // Only its members take part, while the others are elsewhere.
    const grouped = (yield* make(process, new CreateGroup(world, few, 3, core)))!;
    assert.deepEqual(membersOf(grouped), few.worldRanks());
    made.push(grouped);
  }

  if (core.ranks > 1) {
    const leader = half.size - 1; // world rank 0 or 1
    const bridge = half.rank === leader ? world : null;
    const inter = (yield* make(process, new CreateInter(half, leader, bridge, 1 - parity, 9)))!;
    assert.deepEqual(inter.remote!.worldRanks(), all.filter((each) => each % 2 !== parity).reverse());
    const copied = (yield* make(process, new Duplicate(inter)))!;
    assert.equal(copied.isInter, true);
    const merged = (yield* make(process, new Merge(copied, parity === 0, core)))!;
    assert.deepEqual(membersOf(merged), [
      ...all.filter((each) => each % 2 === 1).reverse(),
      ...all.filter((each) => each % 2 === 0).reverse(),
    ]);
    const pair = yield* make(process, new SplitInter(inter, Math.floor(rank / 2), 0, core));
    assert.equal(pair === null, (rank ^ 1) >= core.ranks);
    if (pair !== null) assert.deepEqual(pair.remote!.worldRanks(), [rank ^ 1]);
    made.push(inter, copied, merged, ...(pair === null ? [] : [pair]));
  }

  assert.equal(new Set(made.map((comm) => comm.context)).size, made.length);
  for (const comm of made) yield* barrier(process, comm);
  for (const comm of made) core.freeCommunicator(comm);
  yield* barrier(process, world);
  assert.equal(core.communicators.size, 2);
  assert.equal(core.engine.records.count, records);
}

test("M4 dup, split, create, create_group, intercomm_create, merge: 1 to 17 processes, 1 to 3 nodes, any seed", () => {
  for (const ranks of range(17).map((i) => i + 1)) {
    for (let seed = 1; seed <= tries(2, 20); seed++) {
      const world = new World({ ranks, nodes: Math.min(ranks, 1 + (seed % 3)), seed });
      world.startAll(program);
      assert.deepEqual(world.run(), [], `ranks ${ranks}, seed ${seed}`);
    }
  }
});

test("M4 several duplicates under way at once get their own contexts", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World({ ranks: 7, nodes: 2, seed });
    world.startAll(function* (process) {
      const { core } = process;
      const tasks = range(6).map(() => new Duplicate(core.world));
      const requests = tasks.map((task) => core.start(task));
      for (const request of requests.reverse()) yield request;
      for (const task of tasks) yield* barrier(process, task.result!);
      assert.equal(new Set(tasks.map((task) => task.result!.context)).size, 6);
    });
    assert.deepEqual(world.run(), [], `seed ${seed}`);
  }
});

test("M4 every tag will do for an inter-communicator and for a group, the last one too", () => {
  for (let seed = 1; seed <= 10; seed++) {
    for (const tag of [0, TAG_UB - 500, TAG_UB]) {
      const world = new World({ ranks: 5, nodes: 2, seed });
      world.startAll(function* (process) {
        const { core, rank } = process;
        // Late, so that messages wait for their receives.
        yield process.compute(rank * 20_000);
        const half = (yield* make(
          process,
          new CreateGroup(core.world, Group.of(range(5).filter((each) => each % 2 === rank % 2)), tag, core),
        ))!;
        const inter = (yield* make(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), tag)))!;
        yield* barrier(process, inter);
      });
      assert.deepEqual(world.run(), [], `seed ${seed}, tag ${tag}`);
    }
  }
});

/** A split of the world in which a rank dies: how it ended at each rank, and who waits for ever. */
function splitWithDeath(seed: number, whenFailed: (process: SimProcess) => void) {
  const world = new World({ ranks: 6, nodes: 2, seed });
  const errors = new Map<number, number>();
  world.startAll(function* (process) {
    const { core, rank } = process;
    const task = new Split(core.world, rank % 2, 0);
    yield core.start(task);
    core.engine.giveBack(task.request);
    errors.set(rank, task.error);
    assert.equal(task.result === null, task.error !== 0);
    if (task.error !== 0) whenFailed(process);
  });
  world.planCrash(seed * 700, seed % 6);
  const stuck = world.run();
  const living = world.processes.filter(({ state }) => state !== "dead").map(({ rank }) => rank);
  return { errors: living.map((rank) => errors.get(rank)), stuck };
}

test("M4 a death while a communicator is made: who depended on the dead hears PROC_FAILED and gets nothing", () => {
  let failures = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const { errors, stuck } = splitWithDeath(seed, () => undefined);
    assert.deepEqual(
      errors.filter((error) => error !== undefined && error !== 0 && error !== ErrorClass.PROC_FAILED),
      [],
    );
    const failed = errors.filter((error) => error === ErrorClass.PROC_FAILED).length;
    assert.deepEqual(stuck, [], `seed ${seed}`);
    assert.equal(errors.filter((error) => error === undefined).length, 0, `seed ${seed}`);
    failures += failed;
  }
  assert.ok(failures > 0);
});

test("M4 a death while a communicator is made: where those who hear of it revoke, nobody waits for ever", () => {
  const count = { failed: 0, revoked: 0 };
  for (let seed = 1; seed <= 60; seed++) {
    const { errors, stuck } = splitWithDeath(seed, ({ core }) => core.revocations.revoke(core.world));
    assert.deepEqual(stuck, [], `seed ${seed}`);
    for (const error of errors) {
      if (error === ErrorClass.PROC_FAILED) count.failed++;
      else if (error === ErrorClass.REVOKED) count.revoked++;
      else assert.equal(error, 0, `seed ${seed}`);
    }
  }
  assert.ok(count.failed > 0 && count.revoked > 0, JSON.stringify(count));
});

test("M4 an inter-communicator that cannot be made, because the other leader is dead, leaves no memory behind", () => {
  const world = new World({ ranks: 3, seed: 1 });
  let error = 0;
  world.startAll(function* (process): Steps<void> {
    const { core, rank, memory } = process;
    const alone = (yield* make(process, new CreateGroup(core.world, Group.of([rank]), 1, core)))!;
    if (rank === 2) return;
    if (rank === 1) yield process.compute(1_000_000);
    const before = memory.bytesAllocated;
    const task = new CreateInter(alone, 0, core.world, 1 - rank, 7);
    yield core.start(task);
    process.engine.giveBack(task.request);
    error = task.error;
    assert.equal(memory.bytesAllocated, before);
  });
  world.planCrash(500_000, 1);
  assert.deepEqual(world.run(), []);
  assert.equal(error, ErrorClass.PROC_FAILED);
});

test("M6 §11.8 parents and those whom they spawn meet: 2 to 9 processes, 1 to 3 nodes, any seed", () => {
  for (const ranks of range(8).map((i) => i + 2)) {
    for (let seed = 1; seed <= tries(2, 20); seed++) {
      const parents = range(1 + (seed % (ranks - 1)));
      const children = range(ranks).slice(parents.length).reverse();
      const world = new World({ ranks, nodes: Math.min(ranks, 1 + (seed % 3)), seed });
      world.startAll(function* (process): Steps<void> {
        const { core, rank } = process;
        const isParent = rank < parents.length;
        const records = core.engine.records.count;
        const group = Group.of(isParent ? parents : children);
        const local = (yield* make(process, new CreateGroup(core.world, group, 1, core)))!;
        const root = parents.length - 1;
        const { context, children: count } = local;
        const origin = isParent ? [] : yield* told(process, parents[root]!);
        if (isParent && local.rank === root)
          for (const child of children) yield* tell(process, child, [context, count]);
        const outcome = isParent && local.rank === root ? { error: 0, why: "", wanted: 1, children } : null;
        const task = isParent
          ? new Spawn(local, root, outcome)
          : new MeetParents({ world: children, parents, context: origin[0]!, count: origin[1]!, command: 0 });
        const inter = (yield* make(process, task))!;
        assert.deepEqual(membersOf(inter), isParent ? parents : children);
        assert.deepEqual(inter.remote!.worldRanks(), isParent ? children : parents);
        const merged = (yield* make(process, new Merge(inter, !isParent, core)))!;
        assert.deepEqual(membersOf(merged), [...parents, ...children]);
        yield* barrier(process, merged);
        for (const comm of [local, inter, merged]) core.freeCommunicator(comm);
        assert.equal(core.engine.records.count, records);
      });
      assert.deepEqual(world.run(), [], `ranks ${ranks}, seed ${seed}`);
    }
  }
});

test("M6 §11.8 when nobody could be spawned all parents hear why", () => {
  const why = "there is no such program, \u00e4hem";
  const world = new World({ ranks: 3, seed: 1 });
  world.startAll(function* (process): Steps<void> {
    const { core, rank } = process;
    const outcome = rank === 1 ? { error: ErrorClass.SPAWN, why, wanted: 4, children: [] } : null;
    const task = new Spawn(core.world, 1, outcome);
    const request = core.start(task);
    yield request;
    process.engine.giveBack(request);
    assert.equal(task.error, ErrorClass.SPAWN);
    assert.deepEqual(task.outcome, { error: ErrorClass.SPAWN, why, wanted: 4, children: [] });
    assert.equal(task.result, null);
  });
  assert.deepEqual(world.run(), []);
});

/** What the dispatcher does in the real world: children know context and count from their birth. */
function* tell({ core, engine, memory }: SimProcess, to: number, words: readonly number[]): Steps<void> {
  const at = memory.allocate(8);
  new Int32Array(memory.bytes.buffer, at, 2).set(words);
  const request = core.startSend(core.world, at, 8, to, 99, SendMode.STANDARD);
  yield request;
  engine.giveBack(request);
  memory.free(at);
}

function* told({ core, engine, memory }: SimProcess, from: number): Steps<number[]> {
  const at = memory.allocate(8);
  const request = core.startReceive(core.world, at, 8, from, 99);
  yield request;
  engine.giveBack(request);
  const words = Array.from(new Int32Array(memory.bytes.buffer, at, 2));
  memory.free(at);
  return words;
}
