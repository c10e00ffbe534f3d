/** The journal of a job on real processes: it tells the same story as the events. */
import assert from "node:assert/strict";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type JobEvent, launch } from "banyan";
import { jobStateFrom } from "../src/core/service/job-state.ts";
import { decodeJournal } from "../src/core/service/journal.ts";
import { newFolder, program } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

/** A machine that compiles for the first time, and does other things as well. */
const limit = timeLimit(120_000);

/** A value goes round, long enough for a node to be lost and to come back meanwhile. */
const ring = program(
  "journal-ring.c",
  `#include <mpi.h>
int main(int argc, char **argv) {
  int rank, ranks, in, out = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 20000; i++)
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 0, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
`,
);

/** As if the system's folder for temporary files were that one: the job's own folder is made there. */
function launchIn(folder: string, options: Parameters<typeof launch>[1]): ReturnType<typeof launch> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    return launch(ring, options);
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

const folderOfJob = (folder: string): string =>
  join(folder, readdirSync(folder).find((name) => name.startsWith("banyan-")) ?? "none");

const ofKind = <Kind extends JobEvent["kind"]>(events: readonly JobEvent[], kind: Kind) =>
  events.filter((event): event is Extract<JobEvent, { kind: Kind }> => event.kind === kind);

test("V1: the journal of a job with a killed node tells the story of its events", { ...limit, ...long }, async () => {
  const folder = newFolder("journal-story");
  const job = launchIn(folder, { ranks: 4, nodes: 2, protocol: "logging" });
  // The job removes its folder: what is open can be read all the same.
  const journal = openSync(join(folderOfJob(folder), "journal"), "r");
  const events: JobEvent[] = [];
  let isKilled = false;
  for await (const event of job) {
    events.push(event);
    if (event.kind === "started") job.checkpoint();
    if (event.kind === "checkpoint" && event.set === 1 && !isKilled) {
      isKilled = true;
      process.kill(ofKind(events, "started")[0]!.pids[1]!, "SIGKILL");
    }
  }
  const { code, afterMs } = await job.done;
  const read = decodeJournal(readFileSync(journal));
  assert(read.kind === "read", "problem" in read ? read.problem : "");
  const { records } = read;
  assert(records[0]?.kind === "began" && records[0].nodes === 2 && records[0].ranks === 4);
  assert(Math.abs(Date.now() - afterMs - records[0].calendarMs) < 3_600_000);

  const falls = records.flatMap((record) => (record.kind === "fall" ? [record] : []));
  const lost = ofKind(events, "node-lost");
  assert.equal(lost.length, 1);
  assert.deepEqual(
    falls.map(({ node, deaths, afterMs }) => ({ node, ranks: deaths.map(({ rank }) => rank), afterMs })),
    lost.map(({ node, ranks, afterMs }) => ({ node, ranks, afterMs })),
  );
  const recovered = ofKind(events, "recovered").flatMap(({ ranks }) => ranks);
  assert.deepEqual(
    records.flatMap((record) => (record.kind === "caught-up" ? [record.rank] : [])).toSorted(),
    recovered.toSorted(),
  );

  const committed = records.flatMap((record) => (record.kind === "checkpoint-committed" ? [record] : []));
  const checkpoints = ofKind(events, "checkpoint");
  assert(checkpoints.length >= 2);
  assert.deepEqual(
    committed.map(({ set, checkpoint }) => ({ set, number: checkpoint.number })),
    checkpoints.map(({ set, number }) => ({ set, number })),
  );

  const { dispatcher, recovery } = jobStateFrom(records);
  const { outcome, ranks, nodes, deaths } = dispatcher;
  assert.equal(outcome?.code, code);
  assert.deepEqual(outcome?.reason, { kind: "finished" });
  assert.deepEqual(
    ranks.slice(0, 4).map(({ state, incarnation }) => `${state} ${incarnation}`),
    ["done 0", "done 0", "done 1", "done 1"],
  );
  assert.deepEqual(nodes, [
    { gone: true, life: 0 },
    { gone: true, life: 1 },
  ]);
  assert.equal(deaths.length, 2);
  assert.deepEqual(recovery.incarnations, [0, 1]);
  assert.equal(existsSync(folderOfJob(folder)), false, "nothing is left of the job");
});
