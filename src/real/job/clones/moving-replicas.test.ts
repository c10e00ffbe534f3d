import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "../../../core/service/placement.ts";
import type { ToNode } from "../../messages/node-messages.ts";
import { MovingReplicas } from "./moving-replicas.ts";

interface Job {
  readonly moving: MovingReplicas;
  /** What nodes were told, and what was noted. */
  readonly lines: string[];
  die(process: number): void;
}

/** Two ranks twice, on two nodes; the first node's processes shall go to a third one. */
function movingJob(): Job {
  const lines: string[] = [];
  const placement = placementOf([0, 0, 1, 1]);
  const players = [0, 1, 2, 3].map((process) => ({ rank: process % 2, replica: process >> 1 }));
  const ranks = players.map(() => ({ state: "running", incarnation: 7 }));
  const places = { placement, spares: 0, nodesFirst: 2, nodes: 3, sparesLeft: [], roomOf: () => 2, roomOfNew: 2 };
  const parts = {
    core: { state: { ranks, placement }, isNodeAlive: () => true, outcome: undefined },
    nodes: {
      send: (node: number, message: ToNode) => lines.push(`node ${node}: ${message.kind}`),
      processOf: (node: number) => ({ letGo: () => lines.push(`node ${node} goes`) }),
      pids: [],
    },
    cloneNodes: { places: { ...places, isNodeAlive: () => true }, openFor: () => true },
    report: {
      note: (text: string) => lines.push(text),
      names: { nameOf: (process: number) => `process ${process}`, listed: () => "both" },
      movedAlone: () => lines.push("moved"),
    },
  } as unknown as ConstructorParameters<typeof MovingReplicas>[1];
  const options = { plan: [2, 2], players, placement, isJoined: false, areLinksAlike: () => true };
  const moving = new MovingReplicas(options, parts);
  const begun = moving.begin({ moved: { kind: "node", node: 0 }, onto: 2 }, false);
  equal(typeof begun === "string" ? begun : begun.node, 2);
  lines.length = 0;
  return {
    moving,
    lines,
    die: (process) => {
      ranks[process]!.state = "dead";
    },
  };
}

test("D5 the node that a replica was to go to is told that it will not come, whether it lives or was lost meanwhile", () => {
  const lives = movingJob();
  lives.moving.why = "its memory is too large";
  lives.moving.stays(0, 9);
  deepEqual(lives.lines, [
    "node 2: release-rank",
    "node 0: stay-rank",
    "Cannot move process 0 to node 2: its memory is too large; it stays on node 0",
  ]);

  const dies = movingJob();
  dies.die(0);
  dies.moving.stays(0, 9);
  dies.moving.lost(0);
  deepEqual(dies.lines, ["node 2: release-rank", "Cannot move process 0 to node 2: it was lost meanwhile"]);
  equal(dies.moving.targetOf(0), null);
  equal(dies.moving.targetOf(1), 2, "its turn may still come");
});

test("D5 one that was lost before its turn was never expected elsewhere; with the last of them the node that nobody came to goes", () => {
  const { moving, lines, die } = movingJob();
  die(1);
  moving.lost(1);
  die(0);
  moving.stays(0, 9);
  moving.lost(0);
  deepEqual(lines, [
    "Cannot move process 1 to node 2: it was lost meanwhile",
    "node 2: release-rank",
    "Cannot move process 0 to node 2: it was lost meanwhile",
    "node 2 goes",
  ]);
});
