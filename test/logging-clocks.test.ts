/**
 * Programs that read the clock all the time, under message logging, with real kills: megabytes of choices in a second, through rings that are full. Their
 * communicators have boards in every life (core/process/kept-boards.ts), or messages would have other numbers than those that choices name.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const program = resolve("test/programs/c/clock-watching.c");
const limit = timeLimit(120_000);

interface Case {
  readonly ranks: number;
  readonly nodes: number;
  readonly steps: number;
  readonly stepUs: number;
  readonly faults: string;
  readonly losses: number;
  readonly checkpointEveryMs?: number;
  readonly isLong?: boolean;
}

const cases: readonly Case[] = [
  { ranks: 3, nodes: 1, steps: 200, stepUs: 2000, faults: "kill node 0 at 400ms", losses: 1, checkpointEveryMs: 150 },
  { ranks: 4, nodes: 2, steps: 150, stepUs: 500, faults: "kill node 1 at 300ms", losses: 1 },
  { ranks: 3, nodes: 1, steps: 600, stepUs: 2000, faults: "kill node 0 at 1500ms", losses: 1, isLong: true },
  {
    ranks: 5,
    nodes: 2,
    steps: 400,
    stepUs: 2000,
    faults: "kill node 1 at 500ms; kill node 0 at 1200ms; kill service event-logger at 800ms",
    losses: 2,
    checkpointEveryMs: 200,
    isLong: true,
  },
];

async function linesOf(options: Omit<Case, "losses" | "isLong">): Promise<{ lines: string[]; losses: number }> {
  const { steps, stepUs, ranks, nodes, faults, checkpointEveryMs } = options;
  const checkpoints = checkpointEveryMs === undefined ? {} : { checkpointEveryMs };
  const args = [`${steps}`, `${stepUs}`];
  const job = launch(program, {
    ranks,
    nodes,
    protocol: "logging",
    args,
    ...(faults === "" ? {} : { faults }),
    ...checkpoints,
  });
  const lines: string[] = [];
  let losses = 0;
  for await (const event of job) {
    if (event.kind === "line") lines.push(event.text);
    if (event.kind === "node-lost") losses++;
  }
  const { code, summary } = await job.done;
  assert.equal(code, 0, summary.join("; "));
  return { lines, losses };
}

for (const { losses, isLong = false, ...options } of cases) {
  const { ranks, nodes, faults, checkpointEveryMs } = options;
  const how = `${checkpointEveryMs === undefined ? "no" : "with"} checkpoints`;
  test(`L5 clocks that are watched: ${ranks} ranks on ${nodes} nodes, ${how}: ${faults}`, {
    ...limit,
    ...longUnless(!isLong),
  }, async () => {
    const undisturbed = await linesOf({ ...options, stepUs: 0, faults: "" });
    const disturbed = await linesOf(options);
    assert.deepEqual(disturbed.lines, undisturbed.lines);
    assert.equal(disturbed.losses, losses);
  });
}
