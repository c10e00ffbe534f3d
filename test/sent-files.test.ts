/** Nodes that are sent all files of their job, and send theirs, although they could see them: on this machine, without namespaces. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { type JobEvent, type LaunchOptions, launch, type RunningJob, thaw } from "banyan";
import { folderOf, inFolder, newFolder, program } from "./harness.ts";
import { longUnless } from "./long.ts";
import { namespacesRefusal } from "./namespaces.ts";
import { patientMs, timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
/** Before anybody changes the current folder. */
const frozenProgram = resolve("test/programs/c/frozen.c");
const sent: LaunchOptions = { sendFiles: true, timeoutMs: patientMs(100_000) };

/** What nodes of a job have of it, in their own folders in the job's temporary one. */
const filesOfNodes = (temporary: string): string[] =>
  readdirSync(temporary, { recursive: true })
    .map(String)
    .flatMap((name) => /node-[^/]*\/(.*)$/.exec(name)?.[1] ?? []);

/** As if the system's folder for temporary files were that one. */
function launchIn(temporary: string, path: string, options: LaunchOptions): RunningJob {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = temporary;
  try {
    return launch(path, { ...sent, ...options });
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

async function eventsOf(job: RunningJob, onEvent: (event: JobEvent) => void = () => {}): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of job) {
    events.push(event);
    onEvent(event);
  }
  return events;
}

const linesOf = (events: readonly JobEvent[]): string[] =>
  events.flatMap((event) => (event.kind === "line" ? [`${event.rank} ${event.text}`] : [])).sort();

test("M8: programs reach nodes and traces come from them over connections", limit, async () => {
  const temporary = mkdtempSync(join(newFolder("sent-program"), "tmp-"));
  const trace = folderOf("sent-trace.json");
  const text = `import { mpi } from "banyan"; console.log(mpi.world.allreduce(Int32Array.of(mpi.world.rank), "sum")[0]);`;
  let seen: string[] = [];
  const job = launchIn(temporary, program("sent-sum.ts", text), { ranks: 4, nodes: 2, trace });
  const events = await eventsOf(job, ({ kind }) => {
    if (kind === "line") seen = filesOfNodes(temporary);
  });
  assert.equal((await job.done).code, 0);
  assert.deepEqual(linesOf(events), ["0 6", "1 6", "2 6", "3 6"]);
  assert.equal(seen.filter((name) => name === "program.cjs").length, 2, `${seen}`);
  const { traceEvents } = JSON.parse(readFileSync(trace, "utf8")) as { traceEvents: { tid: number; name: string }[] };
  for (const rank of [0, 1, 2, 3]) {
    assert(
      traceEvents.some(({ tid, name }) => tid === rank && name === "allreduce"),
      `rank ${rank} is traced`,
    );
  }
  assert.deepEqual(readdirSync(temporary), []);
});

// In namespaces (namespaces.test.ts) the same always runs.
const thawLimit = { ...limit, ...longUnless(namespacesRefusal() !== null) };
test(
  "M6 images: a job is frozen and thawed over connections, with the output of a run at one go",
  thawLimit,
  async () => {
    await inFolder(newFolder("sent-frozen"), async () => {
      const options = { ...sent, ranks: 4, nodes: 2, args: ["30"] };
      const whole = linesOf(await eventsOf(launch(frozenProgram, options)));
      const first = launch(frozenProgram, { ...options, jobFolder: "job" });
      const before = await eventsOf(first, (event) => {
        if (event.kind === "line" && event.text === "step 10") first.freeze();
      });
      assert.equal((await first.done).reason.kind, "frozen");
      const second = thaw("job", sent);
      const after = await eventsOf(second);
      assert.equal((await second.done).code, 0);
      assert.deepEqual([...linesOf(before), ...linesOf(after)].sort(), whole);
    });
  },
);

test("M6 §11.8.2 the program of a spawned process is sent as well", limit, async () => {
  const job = launch(resolve("test/programs/c/spawn.c"), { ...sent, ranks: 4, nodes: 2, args: ["talk"] });
  assert.deepEqual(linesOf(await eventsOf(job)), ["0 good"]);
  assert.equal((await job.done).code, 0);
});

test(
  "V4: killed nodes go on from images that were sent to the dispatcher, and the job's folder has them",
  thawLimit,
  async () => {
    const temporary = mkdtempSync(join(newFolder("sent-images"), "tmp-"));
    const jobFolder = folderOf("sent-job");
    const kept: string[] = [];
    const job = launchIn(temporary, resolve("test/programs/c/orders.c"), {
      ranks: 4,
      nodes: 2,
      protocol: "logging",
      args: ["100", "20000"],
      jobFolder,
      checkpointEveryMs: 100,
      faults: "kill node 1 at checkpoint 1 after; kill node 0 at checkpoint 2 while",
    });
    const events = await eventsOf(job, (event) => {
      if (event.kind === "checkpoint") kept.push(...readdirSync(join(jobFolder, "checkpoints", `set-${event.set}`)));
    });
    const { code, recovery } = await job.done;
    const said = events.flatMap((event) => ("message" in event ? [event.message] : []));
    assert.equal(code, 0, said.join("; "));
    assert.equal(recovery!.restarts, 2);
    assert(kept.length > 0);
    assert.deepEqual([readdirSync(temporary), readdirSync(jobFolder)], [[], []]);
  },
);
