/** Worlds whose processes are placed otherwise than the program's node map says. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../test/long.ts";
import type { Pointer } from "../core/base/brand.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { Split } from "../core/process/new-communicators.ts";
import { failureText } from "./failure-text.ts";
import { runLogging } from "./logging/run-logging.ts";
import { setupOf } from "./logging/run-logging-seed.ts";
import type { SimProcess, Steps } from "./sim-process.ts";
import { World } from "./world.ts";

const inTurn = [0, 1, 0, 1, 0, 1];

/** The communicator of those on the same node, as MPI_Comm_split_type makes it. */
function* splitByNode({ core, engine }: SimProcess): Steps<Communicator> {
  const task = new Split(core.world, core.nodeMap[core.rank]!, 0);
  const request = core.start(task);
  yield request;
  engine.giveBack(request);
  ok(task.error === 0 && task.result !== null);
  return task.result;
}

function* barrier({ core, engine }: SimProcess, comm: Communicator): Steps {
  const nothing = 0 as Pointer;
  const request = core.collectives.startEqual(comm, "barrier", nothing, nothing, { form: "blocking" });
  yield request;
  engine.giveBack(request);
}

describe("a program sees the node map, wherever its processes are", () => {
  it("rule 6: splits by node and hierarchies follow the map, memory is shared by the placement", () => {
    const world = new World({ ranks: 6, nodes: 3, nodeMap: inTurn, sharesInside: true });
    const seen: string[] = [];
    world.startAll(function* (process) {
      const comm = yield* splitByNode(process);
      yield* barrier(process, process.core.world);
      const neighbours = [0, 1, 2, 3, 4, 5].filter((rank) => process.transport.shares(rank));
      seen[process.rank] = `${comm.group.worldRanks().join()} beside ${neighbours.join()}`;
      deepEqual(process.core.world.memberNodes, inTurn);
    });
    deepEqual(world.run(), []);
    deepEqual(
      seen,
      [0, 1, 2, 3, 4, 5].map((rank) => {
        const beside = rank - (rank % 2);
        return `${rank % 2 === 0 ? "0,2,4" : "1,3,5"} beside ${beside},${beside + 1}`;
      }),
    );
  });

  it("rule 6: everything is as if nobody had died, under seeds with deaths and images", () => {
    let restarts = 0;
    for (let seed = 4001; seed < 4001 + tries(4, 100); seed++) {
      const often = ["blocking collectives", "communicators"];
      const options = { seed, ranks: 6, nodes: 3, sets: "node", events: 10, often } as const;
      const { world, ...setup } = setupOf(options);
      const outcome = runLogging({ ...setup, world: { ...world, nodeMap: inTurn } });
      equal(outcome.violations.length, 0, failureText({ ...options, protocol: "logging" }, outcome));
      restarts += outcome.restarts;
    }
    ok(restarts > 0, "nobody has begun again");
  });
});

describe("boards are where node map and placement agree", () => {
  interface Case {
    readonly nodes: number;
    readonly nodeMap: readonly number[];
    /** Has the world a board, and each communicator of a node of the map? */
    readonly boards: readonly [world: boolean, ofNode: boolean];
  }
  const one = [0, 0, 0, 0];
  const cases: readonly (Case & { readonly name: string })[] = [
    { name: "one node in both", nodes: 1, nodeMap: one, boards: [true, true] },
    { name: "one node that two of the map share", nodes: 1, nodeMap: [0, 0, 1, 1], boards: [false, true] },
    { name: "one node of the map on two", nodes: 2, nodeMap: one, boards: [false, false] },
    { name: "two nodes in both", nodes: 2, nodeMap: [0, 0, 1, 1], boards: [false, true] },
    { name: "two nodes of the map, each on both", nodes: 2, nodeMap: [0, 1, 0, 1], boards: [false, false] },
  ];
  for (const { name, nodes, nodeMap, boards } of cases) {
    it(`rule 12: ${name}`, () => {
      const world = new World({ ranks: 4, nodes, nodeMap, boards: { count: 8, bytesMax: 64 } });
      world.startAll(function* (process) {
        const comm = yield* splitByNode(process);
        deepEqual([process.core.world.board !== null, comm.board !== null], boards);
        yield* barrier(process, process.core.world);
        yield* barrier(process, comm);
      });
      deepEqual(world.run(), []);
      const communicators = new Set(nodeMap).size;
      equal(world.boardCounts.meetings, Number(boards[0]) + (boards[1] ? communicators : 0));
    });
  }
});
