/** Row M4 on the real runtime: error handlers, codes; how errors end a job. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf, program, runMsMax } from "./harness.ts";
import { timeLimit } from "./patience.ts";
import { testProgram } from "./programs.ts";

testProgram("errors", "M4 errors", [2, 3], [1]);

const limit = timeLimit(runMsMax);

for (const handler of ["ERRORS_ARE_FATAL", "ERRORS_ABORT"]) {
  test(`M4 §9.3 ${handler}: the job ends with the error's code and says why; children inherit it`, limit, async () => {
    const path = program(
      `${handler}.ts`,
      `import { mpi } from "banyan";
      const { world } = mpi;
      world.setErrorHandler(mpi.${handler});
      const child = world.dup();
      child.name = "child";
      try { if (child.rank === 1) child.send(new Int32Array(1), { dest: 7 }); } catch { console.log("caught"); }
      child.barrier();`,
    );
    const ended = await banyan(["run", "-n", "2", path]);
    assert.equal(ended.code, 6, ended.stderr);
    assert.equal(ended.stdout, "");
    assert.match(ended.stderr, /Cannot send to rank 7: communicator "child" has ranks 0 to 1 \(MPI_ERR_RANK; /);
  });
}

test("M7 an error that nobody catches ends the job and names the program's line", limit, async () => {
  const path = program(
    "uncaught.ts",
    `import { mpi } from "banyan";
    mpi.world.barrier();
    if (mpi.world.rank === 0) mpi.world.reduce(new Float64Array(1), "sum", { root: 5 });
    mpi.world.barrier();`,
  );
  const ended = await banyan(["run", "-n", "2", path]);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /rank 0 on node 0 failed .*MpiError: Cannot reduce with root 5: .* \(.*uncaught\.ts:3:/);
});

test("M7 traces show blocking collectives, also those that failed", limit, async () => {
  const path = program(
    "traced.ts",
    `import { mpi } from "banyan";
    const { world } = mpi;
    for (let i = 0; i < 3; i++) try { world.bcast(new Float64Array(2), { root: 9 }); } catch {}
    world.allreduce(new Float64Array(2), "sum");
    world.barrier();`,
  );
  const trace = folderOf("trace.json");
  const ended = await banyan(["run", "-n", "2", "--trace", trace, path]);
  assert.equal(ended.code, 0, ended.stderr);
  const { traceEvents } = JSON.parse(readFileSync(trace, "utf8")) as { traceEvents: { name: string; ph: string }[] };
  const spans = traceEvents.filter((event) => event.ph === "X").map((event) => event.name);
  for (const [name, times] of [
    ["bcast", 6],
    ["allreduce", 2],
    ["barrier", 2],
  ] as const) {
    assert.equal(spans.filter((span) => span === name).length, times, name);
  }
});
