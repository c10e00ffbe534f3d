/**
 * Notices from a node to its rank: deaths and returns, in one order, the connections before the protocol where that matters.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeMapOf } from "../../core/process/node-map.ts";
import { noSpawner } from "../../core/process/spawner.ts";
import { placementOf } from "../../core/service/placement.ts";
import { createPlaceWords } from "../messages/whereabouts.ts";
import { AgentMemory } from "../node/agent-memory.ts";
import { newHandover } from "../transport/tcp/handover.ts";
import { openProcess } from "./open-process.ts";

test("L5: a rank hears of deaths and returns in the node's order, also when the log was full for a while", async () => {
  const placement = placementOf([0, 1]);
  const nodeMap = nodeMapOf(placement);
  const memory = new AgentMemory({ node: 0, ranks: 2, placement, memoryMb: 16, wakeElsewhere() {} });
  memory.born(0, 0);
  const heard: string[] = [];
  const { host } = openProcess({
    rank: 0,
    ranks: 2,
    replicas: null,
    hostName: null,
    placement,
    places: memory.placesOf(2),
    nodeMap,
    incarnation: 0,
    incarnations: [],
    protocol: null,
    set: -1,
    mayUseBoards: false,
    survivesDeaths: false,
    napper: null,
    memory: memory.shared,
    whereabouts: createPlaceWords(),
    traceFile: "",
    spawner: noSpawner(2, "a test"),
    handover: newHandover({ processes: 1, ranks: 2 }),
    tell: ({ kind, life }) => heard.push(`${kind} ${life}`),
    abort: () => assert.fail(),
    result() {},
    checkpoint() {},
    restored: () => null,
  });
  host.process.peerFailed = ({ rank }, incarnation) => heard.push(`died ${rank} ${incarnation}`);
  host.process.peerReturned = ({ rank }, incarnation) => heard.push(`returned ${rank} ${incarnation}`);
  // A notice about the rank itself, if its node should get one, is not passed on.
  memory.returned({ rank: 0, incarnation: 1 });
  const lives = memory.shared.layout.noticeCount;
  const expected: string[] = [];
  for (let incarnation = 0; incarnation < lives; incarnation++) {
    memory.death({ kind: "death", order: 2 * incarnation, rank: 1, incarnation });
    memory.returned({ rank: 1, incarnation: incarnation + 1 });
    expected.push(`died 1 ${incarnation}`, `tcp-holds ${incarnation + 1}`, `returned 1 ${incarnation + 1}`);
  }
  while (heard.length < expected.length) {
    host.listen();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.deepEqual(heard, expected);
  assert.ok(!host.listen());
});
