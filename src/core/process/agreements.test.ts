/** Agreements and what is built on them, with members that die at any moment. ULFM: uniform agreement, shrinking. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import { Random } from "../../sim/random.ts";
import type { SimProcess, Steps } from "../../sim/sim-process.ts";
import { World } from "../../sim/world.ts";
import type { Pointer, WorldRank } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { Group } from "../comm/group.ts";
import { R_ERROR } from "../request/records.ts";
import { Agree } from "./agree.ts";
import type { Communicator } from "./communicator.ts";
import { CreateInter, Duplicate, Shrink, Split } from "./new-communicators.ts";
import type { Task } from "./task.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;

function* run<T extends Task>(process: SimProcess, task: T): Steps<T> {
  const request = process.core.start(task);
  yield request;
  assert.equal(process.engine.records.get(request, R_ERROR), task.error);
  process.engine.giveBack(request);
  return task;
}

function* barrier(process: SimProcess, comm: Communicator): Steps<number> {
  const request = process.core.collectives.startEqual(comm, "barrier", 0 as Pointer, 0 as Pointer, {});
  yield request;
  const error = process.engine.records.get(request, R_ERROR);
  process.engine.giveBack(request);
  return error;
}

/** What each rank saw, agreement by agreement. */
type Seen = { flags: number; error: number; failed: string };
const seenAs = ({ flags, error, failed }: Seen): string => `flags ${flags}, error ${error}, failed ${failed}`;

/** Everybody who got a verdict, dead later or not, got the same one. */
function checkSame(seen: readonly (readonly Seen[])[], what: string): void {
  const rounds = Math.max(...seen.map((each) => each.length));
  for (let round = 0; round < rounds; round++) {
    const verdicts = new Set(seen.flatMap((each) => each.slice(round, round + 1).map(seenAs)));
    assert.equal(verdicts.size, 1, `${what}, agreement ${round}: ${[...verdicts].join(" | ")}`);
  }
}

interface Plan {
  readonly ranks: number;
  readonly nodes: number;
  readonly seed: number;
  /** When, who. */
  readonly crashes: readonly (readonly [timeNs: number, rank: number])[];
}

/** A world in which some die, the coordinators among them more often than others. */
function planOf(seed: number): Plan {
  const random = new Random(seed);
  const ranks = 2 + random.below(8);
  const deaths = random.below(ranks);
  const order = Array.from({ length: ranks }, (_, rank) => rank);
  const crashes = Array.from({ length: deaths }, () => {
    const place = random.below(2) === 0 ? 0 : random.below(order.length);
    const [rank] = order.splice(place, 1);
    return [random.below(60_000), rank!] as const;
  });
  return { ranks, nodes: 1 + random.below(Math.min(ranks, 3)), seed, crashes };
}

function worldOf({ ranks, nodes, seed, crashes }: Plan): World {
  const inFlightAtCrash = (["lost", "delivered", "either"] as const)[seed % 3]!;
  const world = new World({ ranks, nodes, seed, cost: { detectionNs: 1_000 + (seed % 7) * 3_000, inFlightAtCrash } });
  for (const [timeNs, rank] of crashes) world.planCrash(timeNs, rank);
  return world;
}

describe("U2 ULFM agreement", () => {
  it("without failures: every bit that all have set, on 1 to 17 processes, blocking and several at once", () => {
    for (let ranks = 1; ranks <= 17; ranks++) {
      const world = new World({ ranks, nodes: Math.min(ranks, 3), seed: ranks });
      world.startAll(function* (process) {
        const { core, rank } = process;
        const records = core.engine.records.count;
        const first = yield* run(process, new Agree(core.world, 0b1110 | (rank === 0 ? 1 : 0)));
        assert.deepEqual([first.flags, first.error], [ranks === 1 ? 0b1111 : 0b1110, 0]);
        const tasks = [-1, -1 << rank, ~(1 << rank)].map((flags) => new Agree(core.world, flags));
        const requests = tasks.map((task) => core.start(task));
        for (const request of requests.reverse()) {
          yield request;
          core.engine.giveBack(request);
        }
        assert.deepEqual(
          tasks.map(({ flags }) => flags),
          [-1, -1 << (ranks - 1), -1 << ranks],
        );
        assert.equal(core.engine.records.count, records);
      });
      assert.deepEqual(world.run(), [], `${ranks} ranks`);
    }
  });

  it("verdicts that everybody has are forgotten", () => {
    const world = new World({ ranks: 5, nodes: 2 });
    world.startAll(function* (process) {
      for (let i = 0; i < 50; i++) yield* run(process, new Agree(process.core.world, i));
      const { books } = process.core.agreements as unknown as {
        books: Map<number, { agreements: Map<number, unknown> }>;
      };
      assert.ok(books.get(process.core.world.context)!.agreements.size <= 2);
    });
    assert.deepEqual(world.run(), []);
  });

  it("all that return have the same flags, error and dead, whoever dies when", () => {
    let failed = 0;
    for (let seed = 1; seed <= tries(200, 3000); seed++) {
      const plan = planOf(seed);
      const world = worldOf(plan);
      const seen: Seen[][] = Array.from({ length: plan.ranks }, () => []);
      world.startAll(function* (process) {
        const { core, rank } = process;
        for (let round = 0; round < 6; round++) {
          yield process.compute(((rank + 1) * (round + 3) * (1 + (seed % 11)) * 131) % 9_000);
          const { flags, error } = yield* run(process, new Agree(core.world, ~(1 << ((rank + round) % 20))));
          const known = core.failures.of(core.world).worldRanks();
          // Everybody acknowledges what is agreed on, so the error goes away.
          seen[rank]!.push({ flags, error, failed: "" });
          if (error !== 0) {
            failed++;
            assert.ok(known.length > 0, "an error means that somebody is known to be dead");
            core.failures.acknowledge(core.world, known.length);
          }
        }
      });
      const stuck = world.run();
      assert.deepEqual(stuck, [], `seed ${seed}`);
      checkSame(seen, `seed ${seed}`);
      const alive = world.processes.filter(({ state }) => state !== "dead");
      for (const { rank } of alive) assert.equal(seen[rank]!.length, 6);
    }
    assert.ok(failed > tries(60, 500), `${failed} agreements told of a death`);
  });

  it("the flags are those of the living at least, and of nobody who never came", () => {
    for (let seed = 1; seed <= tries(80, 200); seed++) {
      const world = new World({ ranks: 4, nodes: 2, seed });
      world.planCrash(0, seed % 4);
      const results: number[] = [];
      world.startAll(function* (process) {
        const { core, rank } = process;
        // The dead one would be late.
        yield process.compute(rank === seed % 4 ? 500_000 : 1);
        results.push((yield* run(process, new Agree(core.world, ~(1 << rank)))).flags);
      });
      assert.deepEqual(world.run(), []);
      const living = [0, 1, 2, 3].filter((rank) => rank !== seed % 4);
      assert.deepEqual(new Set(results), new Set([living.reduce((flags, rank) => flags & ~(1 << rank), -1)]));
    }
  });

  it("an error until everybody has acknowledged the dead", () => {
    const world = new World({ ranks: 4 });
    world.planCrash(0, 3);
    world.startAll(function* (process) {
      const { core, rank } = process;
      if (rank === 3) return;
      yield process.until("the death", () => core.failures.count !== 0);
      if (rank === 1) core.failures.acknowledge(core.world, 1);
      assert.equal((yield* run(process, new Agree(core.world, 1))).error, PROC_FAILED);
      assert.deepEqual(core.failures.acknowledgedOf(core.world).worldRanks(), rank === 1 ? [3] : []);
      core.failures.acknowledge(core.world, 9);
      assert.deepEqual(core.failures.acknowledgedOf(core.world).worldRanks(), [3]);
      assert.equal((yield* run(process, new Agree(core.world, 1))).error, 0);
    });
    assert.deepEqual(world.run(), []);
  });

  it("a member that has freed the communicator, or is in MPI_Finalize, gives its verdict to those that miss it", () => {
    let missed = 0;
    for (let crashNs = 33_500; crashNs < 36_500; crashNs += tries(125, 10)) {
      const world = new World({
        ranks: 5,
        nodes: 5,
        seed: crashNs,
        cost: { detectionNs: 90_000, inFlightAtCrash: "lost" },
      });
      world.planCrash(20_000 + crashNs, 0);
      const seen: Seen[][] = Array.from({ length: 5 }, () => []);
      const endsNs: number[] = [];
      world.startAll(function* (process) {
        const { core, rank } = process;
        const copy = (yield* run(process, new Duplicate(core.world))).result;
        // The death may come before.
        if (copy === null) return;
        const { flags, error } = yield* run(process, new Agree(copy, ~(1 << rank)));
        seen[rank]!.push({ flags, error, failed: "" });
        if (rank !== 0) endsNs.push(world.nowNs);
        core.freeCommunicator(copy);
        yield core.startFinalBarrier();
      });
      assert.deepEqual(world.run(), [], `crash at ${crashNs}`);
      if (seen.some((each) => each.length > 0)) checkSame(seen, `crash at ${crashNs}`);
      if (Math.max(...endsNs) - Math.min(...endsNs) > 45_000) missed++;
    }
    assert.ok(missed > 0, "nobody has missed a verdict that others had");
  });

  it("a revoked communicator agrees, and both sides of an inter-communicator", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World({ ranks: 5, nodes: 2, seed });
      world.startAll(function* (process) {
        const { core, rank } = process;
        const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result!;
        const inter = (yield* run(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), 1))).result!;
        if (rank === seed % 5) core.revocations.revoke(inter);
        const { flags, error } = yield* run(process, new Agree(inter, ~(1 << rank)));
        assert.deepEqual([flags, error], [-1 << 5, 0]);
        const smaller = (yield* run(process, new Shrink(inter))).result!;
        assert.deepEqual(smaller.group.worldRanks(), half.group.worldRanks());
        assert.deepEqual(smaller.remote!.worldRanks(), rank % 2 === 0 ? [1, 3] : [0, 2, 4]);
        assert.equal(yield* barrier(process, inter), REVOKED);
        assert.equal(yield* barrier(process, smaller), 0);
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
  });
});

describe("U2 ULFM shrink", () => {
  it("the survivors in their order, the same communicator for all, whoever dies when", () => {
    let smaller = 0;
    for (let seed = 1; seed <= tries(120, 2000); seed++) {
      const plan = planOf(seed);
      const world = worldOf(plan);
      const seen: Seen[][] = Array.from({ length: plan.ranks }, () => []);
      world.startAll(function* (process) {
        const { core, rank } = process;
        let comm = core.world;
        // What a program does that wants to go on: revoke, shrink, try again, until all have got through.
        for (let round = 0; round < 12; round++) {
          yield process.compute((rank * 977 + seed * 131) % 5_000);
          const error = yield* barrier(process, comm);
          if (error !== 0) core.revocations.revoke(comm);
          const { flags } = yield* run(process, new Agree(comm, error === 0 ? 1 : 0));
          if (flags === 1) {
            seen[rank]!.push({ flags: comm.context, error: 0, failed: comm.group.worldRanks().join() });
            continue;
          }
          const next = (yield* run(process, new Shrink(comm))).result!;
          smaller++;
          seen[rank]!.push({ flags: next.context, error: 1, failed: next.group.worldRanks().join() });
          assert.ok(next.group.has(rank as WorldRank));
          if (comm !== core.world) core.freeCommunicator(comm);
          comm = next;
        }
      });
      const stuck = world.run();
      assert.deepEqual(stuck, [], `seed ${seed}`);
      checkSame(seen, `seed ${seed}`);
      const alive = world.processes.filter(({ state }) => state !== "dead").map(({ rank }) => rank);
      const last = seen[alive[0]!]!.at(-1)!;
      const isEarly = plan.crashes.every(([timeNs]) => timeNs < 20_000);
      if (isEarly) assert.equal(last.failed, Group.of(alive).worldRanks().join(), `seed ${seed}`);
    }
    assert.ok(smaller > tries(60, 1000), `${smaller} communicators were made`);
  });
});
