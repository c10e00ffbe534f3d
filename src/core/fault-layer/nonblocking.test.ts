/** Non-blocking collectives and the ends of communicators under the layer. Row U6: sections 5.3.4 and 5.3.10 of the thesis. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { LayeredRank } from "../../sim/fault-layer/layered-rank.ts";
import { runLayered } from "../../sim/fault-layer/layered-world.ts";
import { exactReductions } from "../../sim/script/reductions.ts";
import type { Steps } from "../../sim/sim-process.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import type { Communicator } from "../process/communicator.ts";
import { inManyWorlds } from "./testing/many-worlds.ts";

const { PROC_FAILED, REVOKED } = ErrorClass;
const nowhere = 0 as Pointer;

const ibarrier = (rank: LayeredRank, comm: Communicator): RecordId => rank.equal(comm, "barrier", nowhere, nowhere, {});
const ibcast = (rank: LayeredRank, comm: Communicator, at: Pointer, count: number, root: number): RecordId =>
  rank.equal(comm, "bcast", nowhere, at, { bytes: 4 * count, root });

test("U6 §5.3.4 case 1: with everybody alive they are what they are without the layer", () => {
  inManyWorlds(5, function* (rank) {
    const { world, operations } = rank;
    const at = rank.put(rank.rank === 3 ? [4, 5] : [0, 0]);
    const [send, sums] = [rank.put([rank.rank, 1]), rank.put([0, 0])];
    const all = rank.put([0, 0, 0, 0, 0]);
    const requests = [
      ibarrier(rank, world),
      ibcast(rank, world, at, 2, 3),
      operations.startReduction(world, "allreduce", send, sums, { bytes: 8 }, exactReductions.sum),
      rank.equal(world, "allgather", send, all, { bytes: 4 }),
    ];
    for (const request of requests.reverse()) equal(yield* rank.end(request), 0);
    deepEqual(rank.take(at, 2), [4, 5]);
    deepEqual(rank.take(sums, 2), [10, 5]);
    deepEqual(rank.take(all, 5), [0, 1, 2, 3, 4]);
    rank.take(send, 2);
    yield* rank.finalize();
  });
});

test("U6 §5.3.4 case 2: one that a dead member has not started fails; one that all dead had started is completed", () => {
  inManyWorlds(5, function* (rank) {
    const { world } = rank;
    const at = rank.put(rank.rank === 1 ? [9] : [0]);
    const early = ibcast(rank, world, at, 1, 1);
    if (rank.rank === 4) {
      rank.operations.layer.die();
      const { layer } = rank.operations;
      yield rank.process.until("the end of all, dead", () => layer.isOver);
      rank.operations.end(early);
      rank.take(at, 1);
      return;
    }
    // Nobody can be through a barrier that rank 4 never comes to.
    const late = ibarrier(rank, world);
    equal(yield* rank.end(late), PROC_FAILED);
    equal(yield* rank.end(early), 0);
    deepEqual(rank.take(at, 1), [9]);
    equal(yield* rank.end(ibarrier(rank, world)), PROC_FAILED, "and new ones are refused");
    yield* rank.finalize();
  });
});

test("U6 §5.3.4 case 3: on a revoked communicator they end with REVOKED, and members that lack some complete them", () => {
  inManyWorlds(4, function* (rank) {
    const comm = (yield* rank.split(rank.world, 0))!;
    const requests = rank.rank < 2 ? [ibarrier(rank, comm), ibarrier(rank, comm)] : [];
    if (rank.rank === 3) rank.operations.revoke(comm);
    for (const request of requests) equal(yield* rank.end(request), REVOKED);
    rank.operations.freeCommunicator(comm);
    yield* rank.finalize();
  });
});

describe("U6 §5.3.10: the end of a communicator", () => {
  /** Algorithm 2 of the thesis (its steps: test/scenarios/fault-layer/ten-steps.txt), with what each process heard. */
  function* algorithm2(rank: LayeredRank, heard: Map<string, number>): Steps {
    const comm = (yield* rank.split(rank.world, 0))!;
    const note = (line: string, error: number): void => void heard.set(`${rank.rank} ${line}`, error);
    note("ibarrier", yield* rank.end(ibarrier(rank, comm)));
    if (rank.rank === 2) return yield* rank.die();
    const at = rank.put([rank.rank]);
    note("ibcast", yield* rank.end(ibcast(rank, comm, at, 1, 1)));
    note("ibarrier again", yield* rank.end(ibarrier(rank, comm)));
    rank.take(at, 1);
    rank.operations.freeCommunicator(comm);
    return yield* rank.finalize();
  }

  test("what the program hears in the ten steps of the example, Figures 5.12 to 5.21", () => {
    const heard = new Map<string, number>();
    const { stuck, left } = runLayered({ ranks: 4, cost: { jitterNs: 0 } }, (rank) => algorithm2(rank, heard));
    deepEqual({ stuck, left }, { stuck: [], left: [] });
    // (1, 2) the first barrier is completed; (3, 4) process 2 is dead, and the broadcast of process 1 is over there all the same;
    // (5) all others hear of the death, and return from what they wait for.
    const others = [0, 1, 3].flatMap((rank) => [
      [`${rank} ibarrier`, 0],
      // Process 3 has it from process 1, process 0 would have it from process 2.
      [`${rank} ibcast`, rank === 0 ? PROC_FAILED : 0],
      [`${rank} ibarrier again`, PROC_FAILED],
    ]);
    deepEqual([...heard].sort(), [["2 ibarrier", 0], ...others].sort());
  });

  test("in any world", () => {
    inManyWorlds(4, (rank) => algorithm2(rank, new Map()));
  });

  test("of kinds with every shape of buffers, members lack any number of the last ones", () => {
    inManyWorlds(5, function* (rank) {
      const { operations } = rank;
      const comm = (yield* rank.split(rank.world, 0))!;
      const buffer = rank.put(new Array<number>(40).fill(rank.rank));
      const other = (buffer + 80) as Pointer;
      const kinds = ["barrier", "bcast", "gather", "scatter", "allgather", "alltoall"] as const;
      const reductions = ["reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"] as const;
      const starts = [
        ...kinds.map((kind) => () => rank.equal(comm, kind, buffer, other, { bytes: 8, root: 2 })),
        ...reductions.map((kind) => () => {
          const call = { bytes: 8, root: 2 };
          return operations.startReduction(comm, kind, buffer, other, call, exactReductions.sum);
        }),
      ];
      const requests = starts.slice(0, 2 * rank.rank + 3).map((start) => start());
      // The first two die; what they lack is completed with their help.
      if (rank.rank < 2) {
        operations.layer.die();
        const { layer } = operations;
        yield rank.process.until("the end of all, dead", () => layer.isOver);
        for (const request of requests) operations.end(request);
        rank.take(buffer, 40);
        return;
      }
      for (const request of requests) yield* rank.end(request);
      operations.freeCommunicator(comm);
      yield* rank.finalize();
      rank.take(buffer, 40);
    });
  });

  test("Test 8: made and freed again and again, nothing grows", () => {
    inManyWorlds(4, function* (rank) {
      for (let round = 0; round < 10; round++) {
        const comm = (yield* rank.split(rank.world, rank.rank % 2))!;
        equal(yield* rank.barrier(comm), 0);
        rank.operations.freeCommunicator(comm);
      }
      yield rank.process.until("their ends", () => rank.operations.layer.endings === 0);
      equal(rank.process.core.communicators.size, 2, "the world and the process alone");
      yield* rank.finalize();
    });
  });
});
