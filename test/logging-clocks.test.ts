/**
 * Programs that read the clock all the time, under message logging, with real kills: megabytes of choices in a second, through rings that are full.
 * Their communicators have boards in every life (ADR 83), or messages would have other numbers than those that choices name; and ranks of a set take turns in one
 * thread (ADR 84). With a fault plan each rank has a thread of its own unless told otherwise; the runs of scripts/kills.mjs, whose signals come from outside, find
 * sets that share threads.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const program = resolve("test/programs/c/clock-watching.c");
const limit = timeLimit(120_000);

interface Run {
  readonly ranks: number;
  readonly nodes: number;
  readonly sets?: "node" | "rank";
  /** How many ranks share a thread. */
  readonly perThread?: number;
  readonly steps: number;
  readonly stepUs: number;
  readonly checkpointEveryMs?: number;
  /** Empty: nobody is lost. */
  readonly faults: string;
}

interface Case extends Run {
  /** How many ranks begin again. */
  readonly restarted: number;
  readonly isLong?: boolean;
}

/** A thread for each rank. */
const apart: readonly Case[] = [
  {
    ...{ ranks: 3, nodes: 1, steps: 200, stepUs: 2000, checkpointEveryMs: 150, restarted: 3 },
    faults: "kill node 0 at 400ms",
  },
  { ranks: 4, nodes: 2, steps: 150, stepUs: 500, restarted: 2, faults: "kill node 1 at 300ms" },
  { ranks: 3, nodes: 1, steps: 600, stepUs: 2000, restarted: 3, faults: "kill node 0 at 1500ms", isLong: true },
  {
    ...{ ranks: 5, nodes: 2, steps: 400, stepUs: 2000, checkpointEveryMs: 200, restarted: 5, isLong: true },
    faults: "kill node 1 at 500ms; kill node 0 at 1200ms; kill service event-logger at 800ms",
  },
];

const steps = { steps: 200, stepUs: 1500 };
const pairs = { ranks: 4, nodes: 2, perThread: 2 };
const inTurns: readonly Case[] = [
  // All of the node are one set: its data planes, which record, take turns in WebAssembly.
  {
    ...{ ranks: 3, nodes: 1, perThread: 3, ...steps, checkpointEveryMs: 100, restarted: 3 },
    faults: "kill node 0 at 300ms",
  },
  // Sets on several nodes; the second loss is of a life that has no planes.
  {
    ...{ ranks: 6, nodes: 2, perThread: 3, ...steps, checkpointEveryMs: 150, restarted: 9, isLong: true },
    faults: "kill node 1 at 300ms; kill node 1 at 900ms; kill node 0 at 1200ms",
  },
  { ...pairs, ...steps, restarted: 2, faults: "kill rank 3 at 300ms" },
  // Each rank is a set: none may share a thread, and one falls alone.
  { ...pairs, ...steps, sets: "rank", restarted: 1, faults: "kill rank 1 at 300ms" },
  // While they are captured, and while some have come to their end.
  {
    ...{ ...pairs, ...steps, checkpointEveryMs: 100, restarted: 2, isLong: true },
    faults: "kill node 0 at checkpoint 2 while",
  },
  { ...pairs, steps: 60, stepUs: 200, checkpointEveryMs: 20, restarted: 0, isLong: true, faults: "" },
];

async function run(given: Run): Promise<{ lines: string[]; restarted: number }> {
  const { ranks, nodes, sets = "node", perThread = 1, steps, stepUs, checkpointEveryMs, faults } = given;
  const job = launch(program, {
    ...{ args: [`${steps}`, `${stepUs}`], ranks, nodes, sets, protocol: "logging", ranksPerThread: perThread },
    ...(faults === "" ? {} : { faults }),
    ...(checkpointEveryMs === undefined ? {} : { checkpointEveryMs }),
  });
  const lines: string[] = [];
  for await (const event of job) if (event.kind === "line") lines.push(event.text);
  const { code, summary, recovery } = await job.done;
  assert.equal(code, 0, summary.join("; "));
  return { lines, restarted: recovery!.ranksRestarted };
}

/** What ranks print who take no time over it, and of whom none is lost, by how many they are. */
const undisturbed = new Map<string, Promise<readonly string[]>>();

function linesOf({ ranks, nodes, steps }: Run): Promise<readonly string[]> {
  const shape = `${ranks} ranks on ${nodes} nodes, ${steps} steps`;
  const known = undisturbed.get(shape) ?? run({ ranks, nodes, steps, stepUs: 0, faults: "" }).then((it) => it.lines);
  undisturbed.set(shape, known);
  return known;
}

function testOf(rows: string, { restarted, isLong = false, ...given }: Case): void {
  const { ranks, nodes, sets = "node", perThread = 1, checkpointEveryMs, faults } = given;
  const how = `${perThread} in a thread, ${checkpointEveryMs === undefined ? "no" : "with"} checkpoints, sets of a ${sets}`;
  const what = `${rows}: ${ranks} ranks on ${nodes} nodes, ${how}: ${faults || "nobody is lost"}`;
  test(what, { ...limit, ...longUnless(!isLong) }, async () => {
    const disturbed = await run(given);
    assert.deepEqual(disturbed.lines, await linesOf(given));
    assert.equal(disturbed.restarted, restarted);
  });
}

for (const given of apart) testOf("L5 clocks that are watched", given);
for (const given of inTurns) testOf("L5 M2 ADR 84", given);
