import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parsePlan } from "../../../core/fault/parse.ts";
import type { FaultPlan } from "../../../core/fault/plan.ts";
import { FaultScheduleHost } from "./fault-schedule-host.ts";

/** Four ranks on two nodes, and everything that is asked of them. */
function faultsOf(text: string) {
  const asked: string[] = [];
  const ask = (what: string) => () => asked.push(what);
  const faults = new FaultScheduleHost(
    {
      plan: parsePlan(text) as FaultPlan,
      seed: 1,
      layout: { nodes: 2, placement: [0, 0, 1, 1], setOf: [0, 0, 1, 1] },
      living: { isRankAlive: () => true, isNodeAlive: () => true },
    },
    {
      killNode: (node) => asked.push(`kill ${node}`) > 0,
      killRanks: (ranks) => ask(`kill ranks ${ranks}`)(),
      stopNode: (node) => asked.push(`stop ${node}`) < 0,
      continueNode: (node) => asked.push(`continue ${node}`) > 0,
      cutLink: (link) => ask(`cut ${link}`)(),
      delayLink: (link, byMs) => ask(`delay ${link} by ${byMs}`)(),
      restoreLink: (link) => ask(`restore ${link}`)(),
      killService: (service) => service !== "dispatcher" && asked.push(`kill ${service}`) > 0,
      flipBits: (rank, bits) => ask(`flip ${bits} in ${rank}`)(),
      nameOf: (rank) => `rank ${rank}`,
      goOn: (rank, call) => ask(`${rank} goes on to ${call}`)(),
      note: (message) => asked.push(message),
    },
  );
  return { faults, asked };
}

test("X3: bits are flipped before the rank goes on", () => {
  const { faults, asked } = faultsOf("flip 3 bits in rank 2 at call 5");
  deepEqual(faults.watchOf(2), { rank: 2, call: 5, init: false });
  faults.call(2, 5);
  deepEqual(asked.slice(1), ["flip 3 in 2", "2 goes on to 0"]);
});

test("X3: who reports a call goes on when the deed is done, unless it was its own death", () => {
  const { faults, asked } = faultsOf(
    "kill rank 1 at call 7; kill node 0 at call 5 of rank 2; kill set 1 at call 9 of rank 2",
  );
  deepEqual(faults.watchOf(1), { rank: 1, call: 7, init: false });
  faults.call(2, 5);
  faults.call(1, 7);
  faults.call(2, 9);
  deepEqual(asked, [
    ...["kill 0", "fault plan: killed node 0, 0.00 s after the ranks began", "2 goes on to 9"],
    ...["fault plan: killed rank 1, 0.00 s after the ranks began", "kill ranks 1"],
    ...["fault plan: killed ranks 2, 3, 0.00 s after the ranks began", "kill ranks 2,3"],
  ]);
  deepEqual(faults.watchOf(1), { rank: 1, call: 0, init: false }, "an entry fires once per job");
});

test("X3: what cannot be done is said, and the job goes on", () => {
  const { faults, asked } = faultsOf("stop node 1 at init of rank 0; delay link 0-1 by 5ms at init of rank 0");
  deepEqual(faults.watchOf(0), { rank: 0, call: 0, init: true });
  faults.init(0);
  deepEqual(asked, [
    "stop 1",
    "fault plan: would have stopped node 1, which is gone, 0.00 s after the ranks began",
    "fault plan: delayed link 0-1 by 5 ms, 0.00 s after the ranks began",
    "delay 0,1 by 5",
    "0 goes on to 0",
  ]);
});

test("X3: services that are processes are killed; of the others it is said that they are none", () => {
  const { faults, asked } = faultsOf(
    "kill service checkpoint-server at init of rank 0; kill service dispatcher at init of rank 0",
  );
  faults.init(0);
  deepEqual(asked, [
    "kill checkpoint-server",
    "fault plan: killed the checkpoint-server, 0.00 s after the ranks began",
    "the fault plan's entry 2 was left out: the dispatcher is part of this process",
    "0 goes on to 0",
  ]);
});

test("X3: nothing happens any more when the job is over", () => {
  const { faults, asked } = faultsOf("kill node 1 in recovery of set 0");
  faults.end();
  faults.happened({ kind: "recovery", set: 0 });
  deepEqual(asked, []);
});
