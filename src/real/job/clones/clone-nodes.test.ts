import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "../../../core/service/placement.ts";
import { CloneNodes } from "./clone-nodes.ts";

interface Job {
  readonly cloneNodes: CloneNodes;
  /** What was done and said. */
  readonly lines: string[];
  readonly dead: Set<number>;
}

/** Two nodes, with two processes each. */
function jobWith(spares: number): Job {
  const lines: string[] = [];
  const dead = new Set<number>();
  const core = {
    outcome: undefined,
    state: { nodes: [{}, {}] },
    isNodeAlive: (node: number) => !dead.has(node),
    nodeAgain: (node: number) => dead.delete(node),
    openNode: () => true,
  };
  const nodes = {
    replace: (node: number, _ranks: readonly number[], spare: number) => lines.push(`node ${node}: ${spare}`),
    prepareSpare: () => lines.push("prepare"),
    startReserve: (count: number) => lines.push(`reserve ${count}`),
    reserveMemory: ({ usedMb }: { readonly usedMb: number }) => lines.push(`${usedMb} MB`),
  };
  const report = { note: (text: string) => lines.push(text) };
  const placement = placementOf([0, 0, 1, 1]);
  const parts = { core, nodes, report } as unknown as ConstructorParameters<typeof CloneNodes>[1];
  const cloneNodes = new CloneNodes({ placement, spares, areForMemories: true, memoryMb: 100, guests: 1 }, parts);
  return { cloneNodes, lines, dead };
}

test("D2 a lost node has a spare for successor, then processes that are started, and none when those never had their ranks back", () => {
  const { cloneNodes, lines, dead } = jobWith(1);
  cloneNodes.allBegan();
  for (let loss = 0; loss < 9; loss++) {
    dead.add(1);
    cloneNodes.replaceLost(1);
  }
  const started = new Array<string>(5).fill("node 1: 0");
  const given = "node 1 is not started again: it ended 5 times before its ranks were back";
  deepEqual(lines, ["reserve 1", "node 1: 1", ...started, given]);
});

test("D2 a node that was started again is there when it has said so, until it ends", () => {
  const { cloneNodes, dead } = jobWith(0);
  equal(cloneNodes.isThere(1), true, "it was there from the beginning");
  dead.add(1);
  equal(cloneNodes.isThere(1), false);
  cloneNodes.replaceLost(1);
  equal(cloneNodes.isThere(1), false, "it starts");
  equal(cloneNodes.starts(1), true, "empty");
  cloneNodes.ready(1);
  equal(cloneNodes.isThere(1), true);
  cloneNodes.ended(1);
  equal(cloneNodes.isThere(1), false);
});

test("D2 a node has room for its guests, and one that is opened for a replica is named by its spare", () => {
  const { cloneNodes } = jobWith(2);
  cloneNodes.allBegan();
  equal(cloneNodes.starts(0), false);
  equal(cloneNodes.places.roomOf(0), 1);
  cloneNodes.openFor({ processes: [0], from: 0, node: 3, spare: 2 });
  equal(cloneNodes.spareOf(3), 2);
  deepEqual(cloneNodes.places.sparesLeft, [1]);
  equal(cloneNodes.openFor({ processes: [0], from: 0, node: 1, spare: null }), true);
  equal(cloneNodes.spareOf(1), 0, "it was there");
});

test("D2 memory that gets ready is somewhat more than what is used, never more than a process may have", () => {
  const { cloneNodes, lines } = jobWith(0);
  for (const usedMb of [20, 22, 23, 99, 100]) cloneNodes.uses(usedMb);
  deepEqual(lines, ["22 MB", "26 MB", "100 MB"]);
});
