/** What a job under message logging tells of itself: volumes, checkpoints, losses. Rows L7 and L8, and the summary line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type LaunchOptions, launch } from "banyan";
import { loggingReport } from "../src/core/ft/logging/report.ts";
import { banyan, program, Run } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

/** A machine that compiles for the first time, and does other things as well. */
const timeoutMs = 120_000;
const limit = timeLimit(timeoutMs);

/** Each rank sends to its right neighbour: `rounds` times 1000 bytes. */
const ring = program(
  "ring.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  static char out[1000], in[1000];
  int rank, ranks, rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rounds; i++) {
    if (i == 100 && rank == 0) printf("under way\\n"), fflush(stdout);
    MPI_Sendrecv(out, 1000, MPI_BYTE, (rank + 1) % ranks, 0, in, 1000, MPI_BYTE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
`,
);

async function logged(sets: NonNullable<LaunchOptions["sets"]>) {
  const job = launch(ring, { ranks: 4, nodes: 2, protocol: "logging", sets, args: ["10"] });
  const { code, recovery, protocol } = await job.done;
  assert.equal(code, 0);
  assert(recovery !== null);
  return { ...recovery, ...loggingReport(protocol) };
}

test("L8: only what leaves a set is in the payload log, of each rank and of all", limit, async () => {
  const bySet = await logged("node");
  const bytes = bySet.perRank.map((rank) => rank!.bytesTo);
  assert.deepEqual(bytes, [
    [0, 0],
    [0, 10_000],
    [0, 0],
    [10_000, 0],
  ]);
  assert.equal(bySet.loggedBytes, 20_000);
  assert(bySet.loggedMessages >= 20);
  // The program makes no choice; its ranks read the clock once before it begins (ADR 88): an entry of six words.
  assert.deepEqual(
    bySet.perRank.map((rank) => rank!.determinantBytes),
    [24, 24, 24, 24],
  );
  const classical = await logged("rank");
  assert.deepEqual(classical.perRank[2]!.bytesTo, [0, 0, 0, 10_000]);
  assert.equal(classical.loggedBytes, 40_000);
  assert.equal(classical.restarts, 0);
  assert.deepEqual(classical.recoveries, []);
});

test("L8: without message logging there is nothing to tell", limit, async () => {
  const { recovery, summary } = await launch(ring, { ranks: 2, args: ["1"] }).done;
  assert.equal(recovery, null);
  assert.deepEqual(summary, []);
});

test("L3: who launched a job hears of its checkpoints, of a loss, and when that is made good", {
  ...limit,
  ...long,
}, async () => {
  const args = ["6000"];
  const job = launch(ring, { ranks: 4, nodes: 2, protocol: "logging", args });
  let pids: readonly number[] = [];
  const heard: string[] = [];
  for await (const event of job) {
    if (event.kind === "started") {
      pids = event.pids;
      // One of each set: more would only slow down what comes after the loss.
      job.checkpoint();
    }
    if (event.kind === "checkpoint" && event.set === 1 && !heard.includes("killed")) {
      assert(event.barrierMs <= event.settledMs && event.storedMs <= event.committedMs);
      process.kill(pids[1]!, "SIGKILL");
      heard.push("killed");
    }
    if (event.kind === "recovered") {
      assert.deepEqual(event.ranks, [2, 3]);
      assert(event.runningMs > 0 && event.runningMs <= event.caughtUpMs);
      heard.push("recovered");
    }
  }
  const { code, recovery } = await job.done;
  assert.equal(code, 0);
  assert.deepEqual(heard, ["killed", "recovered"]);
  assert.equal(recovery!.restarts, 1);
  assert.equal(recovery!.ranksRestarted, 2);
  assert.equal(recovery!.recoveries.length, 1);
  assert(recovery!.checkpoints >= 1 && recovery!.checkpointTimes.length === recovery!.checkpoints);
});

test("the summary line tells what was lost, restarted and logged", long, async () => {
  const words = ["run", "-n", "4", "--nodes", "2", "--protocol", "logging", ring, "6000"];
  const run = new Run(words, { stdin: "", timeoutMs });
  await run.printed("under way");
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /4 ranks on 2 nodes, [\d.]+ s, exit 0; 1 node lost, 2 ranks restarted in [\d.]+ s; 12 MB of messages and [\d.]+ K?B of choices logged\n$/,
  );
  const { stderr: quiet } = await banyan(["run", "--quiet", ...words.slice(1, -1), "2"], { timeoutMs });
  assert.equal(quiet, "");
});
