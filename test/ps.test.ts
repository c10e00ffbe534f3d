/** `banyan ps`. Row M7. */
import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newFolder, program, Run } from "./harness.ts";

const waiting = program(
  "ps.ts",
  `import { mpi } from "banyan";
  console.log("here");
  if (mpi.world.rank === 0) for (;;) ;
  mpi.world.recv(new Int32Array(1), { source: 0, tag: 3 });`,
);

test("M7: banyan ps lists the jobs of this user, and banyan ps JOB says where the ranks of one are", async () => {
  const cache = newFolder("cache-of-ps");
  const env = { BANYAN_CACHE: cache };
  const ps = (...words: string[]) => new Run(["ps", ...words], { stdin: "", env }).ended;
  assert.equal((await ps()).stdout, "no job is running\n");
  const job = new Run(["run", "-n", "2", "--nodes", "2", waiting], { env });
  await job.printed("here", 2);
  const { stdout, code } = await ps();
  assert.equal(code, 0);
  assert.match(
    stdout,
    new RegExp(`^job +ranks +nodes +protocol +since +command\\n${job.child.pid} +2 +2 +none +\\S+ s +run -n 2 `),
  );
  const of = await ps(`${job.child.pid}`);
  assert.match(of.stdout, /^ {2}0 +0 +computing/m);
  const jobs = join(cache, "jobs");
  assert.equal(statSync(jobs).mode & 0o777, 0o700);
  assert.equal(statSync(join(jobs, `${job.child.pid}.sock`)).mode & 0o777, 0o600);
  // A file that is no socket is not spoken to.
  writeFileSync(join(jobs, "1.sock"), "");
  const none = await ps("1");
  assert.equal(none.code, 1);
  assert.equal(none.stderr, "banyan: Cannot find job 1: banyan ps lists the jobs that are running\n");
  job.child.kill("SIGTERM");
  await job.ended;
  assert.deepEqual(readdirSync(jobs), ["1.sock"]);
  assert.equal((await ps()).stdout, "no job is running\n");
});

test("M7: the door of a job that was killed is removed by whoever looks", async () => {
  const cache = newFolder("cache-of-killed");
  const env = { BANYAN_CACHE: cache };
  const job = new Run(["run", waiting], { env });
  await job.printed("here");
  job.child.kill("SIGKILL");
  await job.ended;
  assert.equal((await new Run(["ps"], { stdin: "", env }).ended).stdout, "no job is running\n");
  assert.deepEqual(readdirSync(join(cache, "jobs")), []);
});
