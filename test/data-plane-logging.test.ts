/**
 * Data planes under message logging (ADR 75), with real processes and real kills: ranks of one set receive from any source, their node is lost, and
 * the next life sees the order that the first one has printed. The calls themselves are in src/real/c-rank/data-plane.test.ts.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const program = resolve("test/programs/c/orders-inside.c");
const limit = timeLimit(120_000);
const lines = 60;

interface Case {
  readonly ranks: number;
  /** Some seconds of them. */
  readonly rounds: number;
  /** Ranks send to themselves too: a communicator of two has choices then. */
  readonly own: 0 | 1;
  readonly restUs?: number;
  readonly faults: string;
  readonly kills: number;
  readonly checkpointEveryMs?: number;
  readonly isLong?: boolean;
}

const cases: readonly Case[] = [
  // It rests, and has a second to be killed in without millions of messages that its next life must see again.
  { ranks: 3, rounds: 24_000, own: 0, restUs: 5000, faults: "kill node 0 at 500ms", kills: 1, checkpointEveryMs: 200 },
  { ranks: 2, rounds: 24_000, own: 0, restUs: 5000, faults: "kill node 0 at 400ms", kills: 1 },
  {
    ranks: 2,
    rounds: 1_800_000,
    own: 0,
    faults: "kill node 0 at 700ms",
    kills: 1,
    checkpointEveryMs: 200,
    isLong: true,
  },
  { ranks: 3, rounds: 240_000, own: 0, faults: "kill node 0 at 900ms", kills: 1, checkpointEveryMs: 200, isLong: true },
  { ranks: 2, rounds: 300_000, own: 1, faults: "kill node 0 at 600ms", kills: 1, isLong: true },
  {
    ranks: 2,
    rounds: 1_200_000,
    own: 0,
    faults: "kill node 0 at 600ms; kill node 0 in recovery",
    kills: 2,
    isLong: true,
  },
  {
    ranks: 4,
    rounds: 180_000,
    own: 1,
    faults: "kill node 0 at commit 2",
    kills: 1,
    checkpointEveryMs: 150,
    isLong: true,
  },
  {
    ranks: 3,
    rounds: 180_000,
    own: 1,
    faults: "kill node 0 at checkpoint 2 while",
    kills: 1,
    checkpointEveryMs: 150,
    isLong: true,
  },
];

for (const { ranks, rounds, own, restUs = 0, faults, kills, checkpointEveryMs, isLong = false } of cases) {
  const how = `${own === 1 ? "who send to themselves, " : ""}${checkpointEveryMs === undefined ? "no" : "with"} checkpoints`;
  test(`L5 ADR 75: ${ranks} ranks of a set, ${how}: ${faults}`, { ...limit, ...longUnless(!isLong) }, async () => {
    const checkpoints = checkpointEveryMs === undefined ? {} : { checkpointEveryMs };
    const args = [`${rounds}`, `${rounds / lines}`, `${own}`, `${restUs}`];
    const job = launch(program, { ranks, nodes: 1, protocol: "logging", args, faults, ...checkpoints });
    const said: string[] = [];
    let lost = 0;
    for await (const event of job) {
      if (event.kind === "line") said.push(event.text);
      if (event.kind === "node-lost") lost++;
    }
    const { code, summary } = await job.done;
    assert.equal(code, 0, summary.join("; "));
    assert.equal(lost, kills, summary.join("; "));
    const [told, was] = ["line", "was"].map((word) => said.filter((text) => text.startsWith(`${word} `)));
    assert.equal(told!.length, lines);
    assert.deepEqual(
      was!.map((text) => text.replace("was", "line")),
      told,
    );
  });
}
