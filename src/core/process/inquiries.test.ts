/** Ranks that wait long ask each other, and end a collective only when an answer proves that a message never comes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SimProcess, Steps } from "../../sim/sim-process.ts";
import { World, type WorldOptions } from "../../sim/world.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { Group } from "../comm/group.ts";
import { PassThrough } from "../ft/pass-through.ts";
import { R_ERROR } from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import type { CollectiveForm } from "./collective-form.ts";
import { CreateGroup, Duplicate } from "./new-communicators.ts";

const { OTHER, ROOT, TRUNCATE, PROC_FAILED } = ErrorClass;
const nowhere = 0 as Pointer;
const secondNs = 1e9;

function* errorOf(process: SimProcess, request: RecordId): Steps<number> {
  yield request;
  const error = process.engine.records.get(request, R_ERROR);
  process.engine.giveBack(request);
  return error;
}

const barrier = (process: SimProcess, form: CollectiveForm = "nonblocking"): Steps<number> =>
  errorOf(process, process.core.collectives.startEqual(process.core.world, "barrier", nowhere, nowhere, { form }));

interface BcastCall {
  readonly bytes: number;
  readonly root?: number;
  readonly form?: CollectiveForm;
}

function* bcast(process: SimProcess, { bytes, root = 0, form = "nonblocking" }: BcastCall): Steps<number> {
  const at = process.memory.allocate(bytes);
  const { collectives, world } = process.core;
  const error = yield* errorOf(process, collectives.startEqual(world, "bcast", nowhere, at, { bytes, root, form }));
  process.memory.free(at);
  return error;
}

/** A communicator of some ranks, for which the program waits and does nothing else. */
function* createGroup(process: SimProcess, ranks: readonly number[], tag: number): Steps<number> {
  const { core } = process;
  const request = core.start(new CreateGroup(core.world, Group.of(ranks), tag, core));
  core.inquiries.block(request);
  const error = yield* errorOf(process, request);
  core.inquiries.unblock();
  return error;
}

interface Ended {
  /** By rank; undefined: the rank waits. */
  readonly errors: readonly (number | undefined)[];
  readonly texts: readonly string[];
  readonly verdicts: number;
}

type Act = (process: SimProcess) => Steps<number>;

/** What each rank's program returns, in a world of these. */
function run(options: WorldOptions, act: Act, also: (world: World) => void = () => {}): Ended {
  const world = new World(options);
  const errors: (number | undefined)[] = world.processes.map(() => undefined);
  world.startAll(function* (process) {
    errors[process.rank] = yield* act(process);
  });
  also(world);
  world.run();
  return {
    errors,
    texts: world.processes.map(({ core }) => core.world.disagreement?.message ?? ""),
    verdicts: world.processes.reduce((sum, { core }) => sum + core.inquiries.verdicts, 0),
  };
}

describe("M4 §6 a collective whose ranks disagree ends", () => {
  it("and says which rank called what", () => {
    const { errors, texts } = run({ ranks: 4, nodes: 2 }, (process) =>
      process.rank === 2 ? barrier(process) : bcast(process, { bytes: 200_000, root: 1 }),
    );
    assert.ok(
      errors.every((error) => error === OTHER),
      `${errors}`,
    );
    assert.ok(
      texts.includes("Cannot complete MPI_Bcast of 200000 bytes with root 1: rank 2 called MPI_Barrier"),
      texts.join("\n"),
    );
  });

  it("with the error that fits: roots, lengths", () => {
    const roots = run({ ranks: 2 }, (process) => bcast(process, { bytes: 8, root: 1 - process.rank }));
    assert.deepEqual(roots.errors, [ROOT, ROOT]);
    // A sender that nobody receives from, with bytes that nobody takes.
    const [above, below] = [300_000, 100_000];
    const lengths = run({ ranks: 4, cost: { eagerBytesMax: 64 } }, (process) =>
      bcast(process, { bytes: process.rank === 3 ? below : above }),
    );
    assert.ok(
      lengths.errors.every((error) => error === TRUNCATE),
      `${lengths.errors}`,
    );
  });

  it("when a rank has come to the end of its program instead", () => {
    const { errors, texts } = run({ ranks: 3 }, (process) =>
      process.rank === 1 ? errorOf(process, process.core.startFinalBarrier()) : barrier(process),
    );
    assert.deepEqual(errors, [OTHER, undefined, OTHER], "the end itself is waited for");
    assert.match(texts.join("\n"), /rank 1 has come to the end of its program without it/);
  });

  it("when a rank has freed the communicator instead, by messages and at a board", () => {
    for (const options of [
      { ranks: 3, nodes: 2 },
      { ranks: 3, boards: { count: 4, bytesMax: 64 } },
    ]) {
      const texts: string[] = [];
      const { errors } = run(options, function* (process) {
        const { core, rank } = process;
        const made = new Duplicate(core.world);
        const error = yield* errorOf(process, core.start(made));
        if (error !== 0) return error;
        const comm = made.result!;
        const form = "blocking";
        const meet = () => core.collectives.startEqual(comm, "barrier", nowhere, nowhere, { form });
        const code = rank === 1 ? OTHER : yield* errorOf(process, meet());
        texts.push(comm.disagreement?.message ?? "");
        core.freeCommunicator(comm);
        return code === OTHER ? yield* barrier(process) : 1000 + code;
      });
      assert.deepEqual(errors, [0, 0, 0]);
      assert.match(texts.join("\n"), /Cannot complete MPI_Barrier: rank 1 has freed the communicator without it/);
    }
  });

  it("also where a communicator was being made", () => {
    const { errors } = run({ ranks: 3 }, (process) => {
      const { core } = process;
      return errorOf(process, process.rank === 1 ? core.startFinalBarrier() : core.start(new Duplicate(core.world)));
    });
    assert.deepEqual(errors, [OTHER, undefined, OTHER]);
  });

  it("also at a board, and the next ones are met by all in the same place", () => {
    const boards = { count: 1, bytesMax: 64 };
    const seen: number[][] = [];
    const { errors } = run({ ranks: 3, boards }, function* (process) {
      const first = yield* process.rank === 2 ? bcast(process, { bytes: 8 }) : barrier(process, "blocking");
      const second = yield* barrier(process, "blocking");
      const third = yield* barrier(process, "blocking");
      seen.push([process.rank, first, second, third]);
      return third;
    });
    assert.deepEqual(errors, [0, 0, 0], JSON.stringify(seen));
    assert.ok(
      seen.every(([rank, first]) => first === (rank === 2 ? first : OTHER)),
      JSON.stringify(seen),
    );
    assert.ok(
      seen.every(([, , second]) => second === 0),
      JSON.stringify(seen),
    );
  });

  it("a persistent collective too, in the start that is missing", () => {
    const { errors } = run({ ranks: 2 }, function* (process) {
      const tag = process.core.world.nextPersistent();
      let error = 0;
      for (let start = 0; start < 3 && error === 0; start++)
        error = yield* bcast(process, { bytes: 8, root: 1, form: tag });
      if (process.rank === 0) error = yield* bcast(process, { bytes: 8, root: 1, form: tag });
      else yield process.core.startFinalBarrier();
      return error;
    });
    assert.deepEqual(errors, [OTHER, undefined]);
  });
});

describe("M4 §7.4.2 groups whose members wait for each other in a circle", () => {
  for (const ranks of [3, 4, 7]) {
    it(`${ranks} ranks: all of them end, and make the same communicators afterwards`, () => {
      const { errors, texts } = run({ ranks, nodes: 2 }, function* (process) {
        const { rank } = process;
        const pair = [rank, (rank + 1) % ranks];
        const first = yield* createGroup(process, pair, 5);
        // Every other pair at a time.
        let error = first === OTHER ? 0 : 1000 + first;
        for (let begin = 0; begin < ranks; begin++) {
          if (rank === begin || rank === (begin + 1) % ranks)
            error ||= yield* createGroup(process, [begin, (begin + 1) % ranks], 5);
          error ||= yield* barrier(process);
        }
        return error;
      });
      assert.deepEqual(errors, new Array(ranks).fill(0));
      assert.match(
        texts.join("\n"),
        /Cannot complete MPI_Comm_create_group: ranks wait for each other in a circle, process \d for this one in MPI_Comm_create_group/,
      );
    });
  }

  it("also when one of them waits in a collective of another communicator", () => {
    const { errors } = run({ ranks: 3 }, function* (process) {
      const { rank, core } = process;
      const half = rank === 0 ? 0 : yield* createGroup(process, [1, 2], 1);
      if (half !== 0) return half;
      if (rank === 0) return yield* createGroup(process, [0, 1], 5);
      if (rank === 2) return yield* createGroup(process, [2, 0], 5);
      const comm = [...core.communicators.values()].at(-1)!;
      const request = core.collectives.startEqual(comm, "barrier", nowhere, nowhere, { form: "nonblocking" });
      core.inquiries.block(request);
      const error = yield* errorOf(process, request);
      core.inquiries.unblock();
      return error;
    });
    assert.deepEqual(errors, [OTHER, OTHER, OTHER]);
  });
});

describe("M4 §6 a collective that is merely slow is waited for", () => {
  const asking = { inquiryNs: secondNs };

  it("also one of a group that another member has passed, and waits for this one in the next", () => {
    const slow = (world: World): void => {
      world.delayLink(1, 2, 100 * secondNs);
      // The simulated world asks when something happens.
      for (let second = 1; second < 500; second++) world.plan(second * secondNs, () => {});
    };
    const both = [0, 1];
    const { errors, verdicts } = run(
      { ranks: 3, nodes: 3, ...asking },
      function* (process) {
        const all = yield* createGroup(process, [0, 1, 2], 6);
        return all || (process.rank === 2 ? 0 : yield* createGroup(process, both, 5));
      },
      slow,
    );
    assert.deepEqual([errors, verdicts], [[0, 0, 0], 0]);
  });

  it("whatever a rank does meanwhile, and however often it is asked", () => {
    for (const options of [{ ranks: 5, nodes: 2 }, { ranks: 4, boards: { count: 1, bytesMax: 64 } }, { ranks: 2 }]) {
      const { errors, verdicts } = run({ ...options, ...asking }, function* (process) {
        let error = 0;
        for (const bytes of [8, 3_000, 200_000]) {
          if (process.rank === 1) yield process.compute(100 * secondNs);
          error ||= yield* bcast(process, { bytes, form: bytes === 8 ? "blocking" : "nonblocking" });
          if (process.rank === 0) yield process.compute(100 * secondNs);
          error ||= yield* barrier(process, "blocking");
        }
        return error;
      });
      assert.ok(
        errors.every((error) => error === 0),
        `${errors}`,
      );
      assert.equal(verdicts, 0);
    }
  });

  it("also of a process that stands still", () => {
    const { errors } = run({ ranks: 2, nodes: 2, ...asking }, barrier2, (world) => {
      world.stopNode(1);
      world.plan(100 * secondNs, () => world.continueNode(1));
    });
    assert.deepEqual(errors, [0, 0]);
  });

  it("also when it depends on a process that has failed: ULFM has other means", () => {
    const { errors, verdicts } = run(
      { ranks: 4, ...asking },
      function* (process) {
        if (process.rank === 3) yield process.compute(secondNs);
        return yield* barrier(process);
      },
      (world) => world.planCrash(1_000, 3),
    );
    assert.equal(verdicts, 0);
    assert.ok(
      errors.every((error) => error === undefined || error === PROC_FAILED),
      `${errors}`,
    );
  });

  it("also under a protocol that says so", () => {
    class Patient extends PassThrough {
      override readonly mayJudgeCollectives = false;
    }
    const protocol = () => () => new Patient();
    const { errors, verdicts } = run({ ranks: 2, protocol }, (process) =>
      process.rank === 0 ? barrier(process) : errorOf(process, process.core.startFinalBarrier()),
    );
    assert.deepEqual([errors, verdicts], [[undefined, undefined], 0]);
  });

  it("strangers are not believed", () => {
    const { errors, verdicts } = run({ ranks: 3 }, barrier2, ({ processes }) => {
      const { engine, core } = processes[2]!;
      for (const step of [-1, 1, 2, 3, 4, 5, 0x7fffffff]) {
        for (const context of [core.self.collectiveContext, 0, -1, 0x3fffffff]) {
          engine.outbox.announce(0, PacketKind.INQUIRY, [context, 0, 0, step, 99, 7, -1, -5, 3, 3, 0]);
        }
      }
    });
    assert.deepEqual([errors, verdicts], [[0, 0, 0], 0]);
  });
});

function* barrier2(process: SimProcess): Steps<number> {
  return (yield* barrier(process)) || (yield* barrier(process));
}
