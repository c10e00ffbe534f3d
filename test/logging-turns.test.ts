/**
 * Ranks of a correlated set that take turns in one thread under message logging (ADR 84), with real kills. With a fault plan each rank has a thread of its own
 * unless told otherwise; the runs of scripts/kills.mjs, whose signals come from outside, find sets that share threads.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);

interface Case {
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  readonly perThread: number;
  readonly faults: string;
  /** How many ranks begin again. */
  readonly restarted: number;
  readonly sets?: "node" | "rank";
  readonly checkpointEveryMs?: number;
  readonly isLong?: boolean;
}

const clocks = { program: "clock-watching", args: ["200", "1500"] };
const cases: readonly Case[] = [
  // All of the node are one set: its data planes, which record, take turns in WebAssembly.
  { ...clocks, ranks: 3, nodes: 1, perThread: 3, faults: "kill node 0 at 300ms", restarted: 3, checkpointEveryMs: 100 },
  // Sets on several nodes; the second loss is of a life that has no planes.
  {
    ...clocks,
    ...{ ranks: 6, nodes: 2, perThread: 3, restarted: 9, checkpointEveryMs: 150, isLong: true },
    faults: "kill node 1 at 300ms; kill node 1 at 900ms; kill node 0 at 1200ms",
  },
  { ...clocks, ranks: 4, nodes: 2, perThread: 2, faults: "kill rank 3 at 300ms", restarted: 2 },
  // Each rank is a set: none may share a thread, and one falls alone.
  { ...clocks, ranks: 4, nodes: 2, perThread: 2, sets: "rank", faults: "kill rank 1 at 300ms", restarted: 1 },
  // While they are captured, and while some have come to their end.
  {
    ...clocks,
    ...{ ranks: 4, nodes: 2, perThread: 2, restarted: 2, checkpointEveryMs: 100, isLong: true },
    faults: "kill node 0 at checkpoint 2 while",
  },
  {
    ...clocks,
    args: ["60", "200"],
    ranks: 4,
    nodes: 2,
    perThread: 2,
    faults: "",
    restarted: 0,
    checkpointEveryMs: 20,
    isLong: true,
  },
];

async function run(given: Omit<Case, "restarted" | "isLong">): Promise<{ lines: string[]; restarted: number }> {
  const { program, args, ranks, nodes, perThread, faults, sets = "node", checkpointEveryMs } = given;
  const job = launch(resolve(`test/programs/c/${program}.c`), {
    ...{ args, ranks, nodes, sets, protocol: "logging", ranksPerThread: perThread },
    ...(faults === "" ? {} : { faults }),
    ...(checkpointEveryMs === undefined ? {} : { checkpointEveryMs }),
  });
  const lines: string[] = [];
  for await (const event of job) if (event.kind === "line") lines.push(event.text);
  const { code, summary, recovery } = await job.done;
  assert.equal(code, 0, summary.join("; "));
  return { lines, restarted: recovery!.ranksRestarted };
}

for (const { restarted, isLong = false, ...given } of cases) {
  const { ranks, nodes, perThread, sets = "node", faults, checkpointEveryMs } = given;
  const how = `${checkpointEveryMs === undefined ? "no" : "with"} checkpoints, sets of a ${sets}`;
  const what = `${ranks} ranks on ${nodes} nodes, ${perThread} in a thread, ${how}: ${faults || "nobody is lost"}`;
  test(`L5 M2 ADR 84: ${what}`, { ...limit, ...longUnless(!isLong) }, async () => {
    const undisturbed = await run({ ...given, args: [given.args[0]!, "0"], perThread: 1, faults: "" });
    const disturbed = await run(given);
    assert.deepEqual(disturbed.lines, undisturbed.lines);
    assert.equal(disturbed.restarted, restarted);
  });
}
