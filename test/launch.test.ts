/** `launch`: jobs started by a Node program. Row M7. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch } from "banyan";
import { program, runMsMax } from "./harness.ts";
import { timeLimit } from "./patience.ts";

const who = `import { mpi } from "banyan"; const { rank } = mpi.world;`;
const limit = timeLimit(runMsMax);

test("M7: a job's events, its code and rank 0's result", limit, async () => {
  const path = program(
    "result.ts",
    `${who}
    console.log("line of", rank, process.argv[2]);
    if (rank === 0) mpi.result({ when: new Map([["a", Float64Array.of(1, 2)]]) });`,
  );
  const job = launch(path, { ranks: 3, nodes: 2, args: ["x"] });
  const kinds: string[] = [];
  const lines: string[] = [];
  for await (const event of job) {
    kinds.push(event.kind);
    if (event.kind === "line") lines.push(`${event.rank}.${event.number} ${event.stream} ${event.text}`);
    if (event.kind === "started") assert.equal(event.pids.length, 2);
  }
  assert.deepEqual(
    lines.sort(),
    [0, 1, 2].map((rank) => `${rank}.0 stdout line of ${rank} x`),
  );
  assert.deepEqual([...new Set(kinds)].sort(), ["ended", "line", "rank-ended", "started"]);
  assert.equal(kinds.at(-1), "ended");
  const { code, result, reason } = await job.done;
  assert.equal(code, 0);
  assert.equal(reason.kind, "finished");
  assert.deepEqual(result, { when: new Map([["a", Float64Array.of(1, 2)]]) });
});

test("M7: a failure is an event and a code, never an exception", limit, async () => {
  const job = launch(program("fails.ts", `${who} if (rank === 1) throw new Error("no");`), { ranks: 2 });
  const failed = [];
  for await (const event of job) if (event.kind === "failed") failed.push(event);
  assert.equal(failed.length, 1);
  assert.match(failed[0]!.message, /^rank 1 on node 0 failed after .* s: Error: no/);
  assert.equal((await job.done).code, 1);
});

test("M7: a result that cannot be cloned is the program's mistake, at its line", limit, async () => {
  const job = launch(program("function.ts", `${who}\nmpi.result({ solve() {} });`));
  const failed = [];
  for await (const event of job) if (event.kind === "failed") failed.push(event.message);
  assert.match(
    failed.join("\n"),
    /^rank 0 .*: MpiError: Cannot give the result: solve\(\) \{ \} could not be cloned; it may hold .* \(.*function\.ts:2:\d+\)$/,
  );
  assert.equal((await job.done).code, 1);
});

test(
  "M7: nobody has to listen: a job that prints much ends, whether its events are read, left or ignored",
  limit,
  async () => {
    const path = program("much.ts", `for (let i = 0; i < 5000; i++) console.log("x".repeat(999));`);
    assert.equal((await launch(path).done).code, 0);
    const left = launch(path);
    for await (const event of left) if (event.kind === "line") break;
    assert.equal((await left.done).code, 0);
    let lines = 0;
    for await (const event of launch(path)) if (event.kind === "line") lines++;
    assert.equal(lines, 5000);
  },
);

test("M7: kill ends a job, as a signal would", limit, async () => {
  const job = launch(program("spin.ts", "for (;;);"), { ranks: 2, nodes: 2 });
  for await (const event of job) if (event.kind === "started") job.kill();
  const { code, reason } = await job.done;
  assert.equal(code, 143);
  assert.equal(reason.kind, "interrupted");
});

test("M7: several jobs at once do not know of each other", limit, async () => {
  const path = program("alone.ts", `${who} if (rank === 0) mpi.result(process.argv[2]);`);
  const results = await Promise.all(["a", "b", "c"].map((arg) => launch(path, { ranks: 2, args: [arg] }).done));
  assert.deepEqual(
    results.map(({ result }) => result),
    ["a", "b", "c"],
  );
});

test("X7: options that make no sense are refused before anything starts", () => {
  assert.throws(() => launch("nowhere.ts"), /Cannot run nowhere\.ts: there is no such file/);
  assert.throws(() => launch(program("ok.ts", ""), { ranks: 0 }), /Cannot start 0 ranks/);
});
