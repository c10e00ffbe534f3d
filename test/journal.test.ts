/** The journal of a job on real processes: it tells the same story as the events. */
import assert from "node:assert/strict";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type JobEvent, launch } from "banyan";
import { jobStateFrom } from "../src/core/service/job-state.ts";
import { decodeJournal } from "../src/core/service/journal.ts";
import { newFolder, program } from "./harness.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(60_000);

/** A value goes round, long enough for a node to be lost and to come back meanwhile. */
const ring = program(
  "journal-ring.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const value = new Int32Array(1);
  const next = (world.rank + 1) % world.size;
  for (let round = 0; round < 3000; round++) {
    if (world.rank === 0) {
      world.send(Int32Array.of(round), { dest: next });
      world.recv(value, { source: world.size - 1 });
      if (round === 100) console.log("under way");
    } else {
      world.recv(value, { source: world.rank - 1 });
      world.send(value, { dest: next });
    }
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

test("V1: the journal of a job with a killed node tells the story of its events", limit, async () => {
  const folder = newFolder("journal-story");
  const job = launchIn(folder, { ranks: 4, nodes: 2, protocol: "logging" });
  // The job removes its folder: what is open can be read all the same.
  const journal = openSync(join(folderOfJob(folder), "journal"), "r");
  const events: JobEvent[] = [];
  for await (const event of job) {
    events.push(event);
    const isUnderWay = event.kind === "line" && event.text === "under way";
    if (isUnderWay) process.kill(ofKind(events, "started")[0]!.pids[1]!, "SIGKILL");
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

  const { outcome, ranks, nodes, deaths } = jobStateFrom(records).dispatcher;
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
  assert.equal(existsSync(folderOfJob(folder)), false, "nothing is left of the job");
});
