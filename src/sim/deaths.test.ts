/**
 * Nobody waits for ever when a process dies: in collectives, in receives from anybody, while communicators are made, at the end of the program.
 * Rows U1 and U2; most cases were a hang once.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../test/long.ts";
import type { Pointer, RecordId, WorldRank } from "../core/base/brand.ts";
import { ANY_SOURCE } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { Group } from "../core/comm/group.ts";
import { Agree } from "../core/process/agree.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { CreateDistGraph } from "../core/process/communicators/create-dist-graph.ts";
import { CreateInterFromGroups } from "../core/process/communicators/create-inter-from-groups.ts";
import type { NewCommunicator } from "../core/process/communicators/new-communicator.ts";
import {
  Create,
  CreateGroup,
  CreateInter,
  Duplicate,
  MeetParents,
  Merge,
  Shrink,
  Spawn,
  Split,
  SplitInter,
} from "../core/process/new-communicators.ts";
import type { Task } from "../core/process/task.ts";
import { R_ERROR, R_STATUS_SOURCE, SendMode } from "../core/request/records.ts";
import type { SimProcess, Steps } from "./sim-process.ts";
import { World } from "./world.ts";

const { PROC_FAILED, PROC_FAILED_PENDING, REVOKED } = ErrorClass;
const nowhere = 0 as Pointer;

function* errorOf(process: SimProcess, request: RecordId): Steps<number> {
  yield request;
  const error = process.engine.records.get(request, R_ERROR);
  process.engine.giveBack(request);
  return error;
}

function* run<T extends Task>(process: SimProcess, task: T): Steps<T> {
  yield* errorOf(process, process.core.start(task));
  return task;
}

/** What programs do: some members may have a new communicator, and others an error. */
function* allHave(process: SimProcess, made: Communicator | null): Steps<boolean> {
  return (yield* run(process, new Agree(process.core.world, made === null ? 0 : 1))).flags === 1;
}

/** The even and the odd ranks, each side with itself and the leader of the other. */
function* sides(process: SimProcess): Steps<{ half: Communicator; inter: Communicator } | null> {
  const { core, rank } = process;
  const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result;
  if (!(yield* allHave(process, half)) || half === null) return null;
  const inter = (yield* run(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), 1))).result;
  return (yield* allHave(process, inter)) && inter !== null ? { half, inter } : null;
}

type Maker = (process: SimProcess) => Steps<NewCommunicator | null>;

const ofSides = (make: (process: SimProcess, half: Communicator, inter: Communicator) => NewCommunicator): Maker =>
  function* (process) {
    const both = yield* sides(process);
    return both === null ? null : yield* run(process, make(process, both.half, both.inter));
  };

const makers: Readonly<Record<string, Maker>> = {
  dup: (process) => run(process, new Duplicate(process.core.world)),
  split: (process) => run(process, new Split(process.core.world, process.rank % 2, 0)),
  create: (process) => run(process, new Create(process.core.world, Group.of([4, 1, 2, 0, 3]))),
  create_group: (process) =>
    run(process, new CreateGroup(process.core.world, Group.of([4, 1, 2, 0, 3, 5]), 7, process.core)),
  dist_graph_create: (process) => {
    const { rank } = process;
    return run(process, new CreateDistGraph(process.core.world, Int32Array.of(rank, (rank + 1) % 6, 1), true));
  },
  intercomm_create: ofSides(({ core, rank }, half) => new CreateInter(half, 1, core.world, 3 - (rank % 2), 5)),
  intercomm_create_from_groups: ({ core, rank, ...rest }) => {
    const group = Group.of([0, 1, 2].map((i) => 2 * i + (rank % 2)));
    const other = rank < 2 ? ({ kind: "leader", rank: 1 - rank } as const) : null;
    return run({ core, rank, ...rest } as SimProcess, new CreateInterFromGroups(group, 0, other, 3, core));
  },
  intercomm_merge: ofSides((process, _, inter) => new Merge(inter, process.rank % 2 === 0, process.core)),
  intercomm_dup: ofSides((_process, _half, inter) => new Duplicate(inter)),
  intercomm_split: ofSides((process, _, inter) => new SplitInter(inter, process.rank >> 2, 0, process.core)),
  shrink: (process) => run(process, new Shrink(process.core.world)),
  spawn: (process) => {
    const { core, rank } = process;
    return run(process, rank < 3 ? spawning(core.world, core, rank) : new MeetParents(origin));
  },
};

const children = [3, 4, 5];
const origin = { world: children, parents: [0, 1, 2], context: 64, count: 0, command: 0 };

function spawning(world: Communicator, core: SimProcess["core"], rank: number): Spawn {
  const local = core.communicators.get(64) ?? core.addCommunicator(64, Group.of([0, 1, 2]), null);
  assert.ok(world.group.has(rank as WorldRank));
  const outcome = { error: 0, why: "", wanted: 3, children };
  return new Spawn(local, 0, rank === 0 ? outcome : null);
}

interface Outcome {
  readonly stuck: readonly string[];
  readonly errors: readonly (number | undefined)[];
}

/** Six ranks make a communicator, use it, and come to their ends; one dies at some moment. */
function makeWithDeath(maker: Maker, seed: number, lifeNs: number, revokes: boolean): Outcome {
  const inFlightAtCrash = (["lost", "delivered", "either"] as const)[seed % 3]!;
  const cost = { detectionNs: 500 + (seed % 5) * 2_000, inFlightAtCrash };
  const world = new World({ ranks: 6, nodes: 1 + (seed % 3), seed, cost });
  const errors: (number | undefined)[] = [];
  world.planCrash(lifeNs, seed % 6);
  world.startAll(function* (process): Steps {
    const { core, rank } = process;
    yield process.compute(1 + ((rank * 977 + seed * 131) % 4_000));
    const task = yield* maker(process);
    errors[rank] = task?.error;
    const made = task?.result ?? null;
    if (revokes && task !== null && task.error !== 0) core.revocations.revoke(core.world);
    if ((yield* allHave(process, made)) && made !== null) {
      yield* errorOf(process, core.collectives.startEqual(made, "barrier", nowhere, nowhere, {}));
      yield* errorOf(process, core.collectives.startEqual(made, "barrier", nowhere, nowhere, {}));
      yield* run(process, new Agree(made, 1));
    }
    yield core.startFinalBarrier();
  });
  const stuck = world.run().map(({ rank, waitsFor }) => `rank ${rank} waits for ${waitsFor}`);
  return { stuck, errors };
}

describe("U2 ULFM a death while a communicator is made", () => {
  for (const [name, maker] of Object.entries(makers)) {
    it(`${name}: all others come to their ends, whenever it happens`, () => {
      let failed = 0;
      for (let seed = 1; seed <= tries(24, 120); seed++) {
        const { stuck, errors } = makeWithDeath(maker, seed, (seed * 6_607) % 40_000, seed % 4 === 0);
        assert.deepEqual(stuck, [], `seed ${seed}`);
        for (const error of errors) assert.ok([undefined, 0, PROC_FAILED, REVOKED].includes(error), `error ${error}`);
        if (errors.includes(PROC_FAILED) || errors.includes(REVOKED)) failed++;
      }
      if (name !== "shrink") assert.ok(failed > 0, `${failed}`);
    });
  }

  it("intercomm_create: a leader whose words are only announced does not wait for one that has refused them", () => {
    const world = new World({ ranks: 5, nodes: 2, seed: 1, cost: { eagerBytesMax: 0, detectionNs: 100 } });
    const errors: (number | undefined)[] = [];
    world.planCrash(150_000, 2);
    world.startAll(function* (process): Steps {
      const { core, rank } = process;
      const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result!;
      yield process.compute(200_000);
      errors[rank] = (yield* run(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), 1))).error;
    });
    assert.deepEqual(world.run(), []);
    assert.deepEqual(
      errors.filter((_, rank) => rank !== 2),
      [PROC_FAILED, PROC_FAILED, PROC_FAILED, PROC_FAILED],
    );
  });

  it("intercomm_create while one side is revoked: neither waits for the other", () => {
    let revoked = 0;
    for (let seed = 1; seed <= tries(8, 100); seed++) {
      const world = new World({ ranks: 6, nodes: 2, seed });
      world.startAll(function* (process): Steps {
        const { core, rank } = process;
        const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result!;
        if (rank === 2) {
          yield process.compute(seed * 300);
          core.revocations.revoke(half);
        }
        const { error } = yield* run(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), 1));
        if (error !== 0) revoked++;
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
    assert.ok(revoked > 3, `${revoked}`);
  });
});

describe("U2 ULFM a death in a collective", () => {
  const kinds = ["barrier", "bcast", "gather", "scatter", "allgather", "alltoall"] as const;
  it("ends it at all others, well or with PROC_FAILED, and all later ones", () => {
    let failed = 0;
    for (let seed = 1; seed <= tries(8, 150); seed++) {
      const world = new World({ ranks: 7, nodes: 1 + (seed % 3), seed, cost: { detectionNs: 3_000 } });
      const bytes = [4, 3_000, 60_000][seed % 3]!;
      world.planCrash((seed * 613) % 50_000, seed % 7);
      world.startAll(function* (process): Steps {
        const { core, rank } = process;
        let wasFailed = false;
        for (let round = 0; round < 6; round++) {
          const [send, receive] = [core.memory.allocate(7 * bytes), core.memory.allocate(7 * bytes)];
          const kind = kinds[(seed + round) % kinds.length]!;
          yield process.compute(1 + ((rank * 977 + seed * 131) % 3_000));
          const request = core.collectives.startEqual(core.world, kind, send, receive, { bytes, root: seed % 3 });
          const error = yield* errorOf(process, request);
          assert.ok(error === 0 || error === PROC_FAILED, `error ${error}`);
          if (wasFailed) assert.equal(error, PROC_FAILED);
          wasFailed ||= error !== 0;
        }
        if (wasFailed) failed++;
        yield core.startFinalBarrier();
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
    assert.ok(failed > 20, `${failed}`);
  });
});

describe("U1 ULFM receives from anybody", () => {
  const messages = 5;

  it("go on when each death is acknowledged: the manager gets all messages of all workers that live, in order", () => {
    let pending = 0;
    for (let seed = 1; seed <= tries(10, 100); seed++) {
      const ranks = 3 + (seed % 6);
      const inFlightAtCrash = (["lost", "delivered", "either"] as const)[seed % 3]!;
      const world = new World({ ranks, nodes: 1 + (seed % 3), seed, cost: { detectionNs: 2_000, inFlightAtCrash } });
      const deaths = 1 + (seed % (ranks - 1));
      for (let i = 0; i < deaths; i++)
        world.planCrash((seed * 379 * (i + 1)) % 30_000, 1 + ((seed + 2 * i) % (ranks - 1)));
      const received = Array.from({ length: ranks }, (): number[] => []);
      const manage = function* ({ core, engine, memory }: SimProcess): Steps {
        const word = memory.allocate(4);
        const receive = (): RecordId => core.startReceive(core.world, word, 4, ANY_SOURCE, 6);
        const isWaitedFor = (rank: number): boolean =>
          received[rank]!.length < messages && !core.failures.acknowledgedOf(core.world).has(rank as WorldRank);
        let request = receive();
        while (world.processes.some(({ rank }) => rank > 0 && isWaitedFor(rank))) {
          yield request;
          const error = engine.records.get(request, R_ERROR);
          if (error === PROC_FAILED_PENDING) {
            pending++;
            core.failures.acknowledge(core.world, ranks);
            continue;
          }
          assert.equal(error, 0);
          const source = engine.records.get(request, R_STATUS_SOURCE);
          received[source]!.push(new Int32Array(memory.bytes.buffer, word, 1)[0]!);
          engine.giveBack(request);
          request = receive();
        }
        engine.cancel(request);
        yield* errorOf(world.processes[0]!, request);
      };
      const work = function* (process: SimProcess): Steps {
        const { core, rank, memory } = process;
        const word = memory.allocate(4);
        for (let i = 0; i < messages; i++) {
          yield process.compute(1 + ((rank * 977 + seed * 131 * i) % 6_000));
          new Int32Array(memory.bytes.buffer, word, 1)[0] = i;
          const request = core.startSend(core.world, word, 4, 0, 6, SendMode.STANDARD);
          assert.equal(yield* errorOf(process, request), 0);
        }
      };
      world.startAll(function* (process): Steps {
        yield* process.rank === 0 ? manage(process) : work(process);
        yield process.core.startFinalBarrier();
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
      const all = Array.from({ length: messages }, (_, i) => i);
      for (const { rank, state } of world.processes.slice(1)) {
        const expected = state === "dead" ? all.slice(0, received[rank]!.length) : all;
        assert.deepEqual(received[rank], expected, `seed ${seed}: of rank ${rank}`);
      }
    }
    assert.ok(pending > 20, `${pending}`);
  });
});

describe("U2 ULFM the end", () => {
  it("comes for all that live, whoever dies in MPI_Finalize or before", () => {
    for (let seed = 1; seed <= tries(8, 80); seed++) {
      const ranks = 2 + (seed % 9);
      const inFlightAtCrash = (["lost", "delivered", "either"] as const)[seed % 3]!;
      const world = new World({ ranks, nodes: 1 + (seed % 2), seed, cost: { detectionNs: 2_000, inFlightAtCrash } });
      const deaths = 1 + (seed % Math.min(3, ranks - 1));
      for (let i = 0; i < deaths; i++) world.planCrash((seed * 211 * (i + 1)) % 20_000, (seed + i * 2) % ranks);
      world.startAll(function* (process): Steps {
        yield process.compute(1 + ((process.rank * 577 + seed * 31) % 9_000));
        yield process.core.startFinalBarrier();
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
  });

  it("waits for all that live, also after a death", () => {
    const world = new World({ ranks: 5, nodes: 2, seed: 3 });
    const ended: number[] = [];
    world.planCrash(100, 2);
    world.startAll(function* (process): Steps {
      if (process.rank === 4) yield process.compute(500_000);
      yield process.core.startFinalBarrier();
      ended.push(world.nowNs);
    });
    assert.deepEqual(world.run(), []);
    assert.equal(ended.length, 4);
    assert.ok(ended.every((timeNs) => timeNs >= 500_000));
  });

  it("a process in it answers agreements that others are still in", () => {
    for (let seed = 1; seed <= tries(10, 80); seed++) {
      const world = new World({ ranks: 6, nodes: 2, seed, cost: { detectionNs: 1_000, inFlightAtCrash: "lost" } });
      // It may have decided, and told some.
      world.planCrash(2_000 + seed * 60, 0);
      world.startAll(function* (process): Steps {
        const { core } = process;
        yield* run(process, new Agree(core.world, 1));
        yield core.startFinalBarrier();
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
  });

  it("a process that was left behind ends when it hears that another has left", () => {
    const world = new World({ ranks: 3, seed: 1, cost: { detectionNs: 1_000 } });
    world.planCrash(10_000, 1);
    // Rank 0 has left, and nobody hears anything of it: it stands for one whose thread is gone.
    world.start(2, function* (process): Steps {
      yield process.core.startFinalBarrier();
    });
    world.plan(50_000, () => {
      world.processes[2]!.core.peerLeft(0);
      world.wake(2);
    });
    assert.deepEqual(world.run(), []);
  });
});
