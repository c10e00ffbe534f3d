/** How ranks and nodes fail, and what the user hears: which rank, on which node, why, after how long. Rows M8, X7. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { banyan, folderOf, messages, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { quietNow } from "./patience.ts";

const who = `import { mpi } from "banyan"; const { rank } = mpi.world;`;
/** Rank 1 fails in some way while the others are busy for ever. */
const others = (failure: string): string => `${who}\nif (rank !== 1) for (;;);\n${failure}`;

test("M8: a rank that throws ends the job; the message names the user's file and line", async () => {
  const path = program(
    "throws.ts",
    `interface Point { x: number }
${who}
import { lengthOf } from "./lib/vector.ts";

if (rank === 1) console.log(lengthOf(undefined as unknown as Point));
for (;;);
`,
  );
  program(
    "lib/vector.ts",
    `type Named = { x: number };\n\nexport function lengthOf(point: Named): number {\n  return Math.abs(point.x);\n}\n`,
  );
  const { code, stderr } = await banyan(["run", "-n", "3", "--nodes", "3", path]);
  assert.equal(code, 1);
  const [message, ...more] = messages(stderr);
  assert.match(
    message!,
    /^banyan: rank 1 on node 1 failed after \d+\.\d+ s: TypeError: Cannot read properties of undefined \(reading 'x'\) \(.*lib\/vector\.ts:4:25\)$/,
  );
  assert.deepEqual(more, []);
  assert.match(stderr, /\n {4}at lengthOf \(.*lib\/vector\.ts:4:25\)\n {4}at <anonymous> \(.*throws\.ts:5:\d+\)\n/);
  assert.match(stderr, /\nbanyan: 3 ranks on 3 nodes, \d+\.\d+ s, exit 1\n$/);
});

const failures: { name: string; text: string; code: number; says: RegExp }[] = [
  { name: "exits with a code", text: "process.exit(42);", code: 42, says: /exited with code 42$/ },
  { name: "sets process.exitCode", text: "process.exitCode = 7;", code: 7, says: /exited with code 7$/ },
  { name: "exits with a code above 255", text: "process.exit(256);", code: 1, says: /exited with code 256$/ },
  { name: "awaits for ever", text: "await new Promise(() => {});", code: 13, says: /still awaited something/ },
  {
    name: "rejects and nobody listens",
    text: `setTimeout(() => void Promise.reject(new Error("late")), 1);`,
    code: 1,
    says: /Error: late \(.*\.ts:3:\d+\)$/,
  },
  {
    name: "throws in a callback",
    text: `setTimeout(() => { throw new RangeError("later"); }, 1);`,
    code: 1,
    says: /RangeError: later \(.*\.ts:3:\d+\)$/,
  },
  {
    name: "throws something that is no error",
    text: `throw { odd: true };`,
    code: 1,
    says: /threw \{ odd: true \}$/,
  },
  {
    name: "rejects with something that is no error",
    text: `void Promise.reject("no reason\\nat all"); setInterval(() => {}, 1000);`,
    code: 1,
    says: /rejected a promise with "no reason at all", and nobody caught it$/,
  },
  {
    name: "fills its heap",
    text: `const kept: number[][] = []; for (;;) kept.push(new Array(10_000).fill(1));`,
    code: 1,
    says: /out of memory: its heap of 32 MB is full/,
  },
  {
    name: "ends with an unfinished request",
    text: "mpi.world.irecv(new Int32Array(1), { source: 0, tag: 1 });",
    code: 1,
    says: /it ended with 1 unfinished request; wait for every request/,
  },
  {
    name: "exits with 0 and an unfinished request",
    text: "mpi.world.irecv(new Int32Array(1), { source: 0, tag: 1 }); process.exit(0);",
    code: 1,
    says: /it ended with 1 unfinished request/,
  },
  {
    name: "aborts the job",
    text: `mpi.abort(9, "no convergence");`,
    code: 9,
    says: /aborted the job after .* s: no convergence$/,
  },
];
for (const { name, text, code, says } of failures) {
  test(`M8: a rank that ${name} ends the job with code ${code}`, async () => {
    const path = program(`${name.replaceAll(" ", "-")}.ts`, others(text));
    const run = await banyan(["run", "-n", "3", "--heap", "32", path]);
    assert.equal(run.code, code);
    const [message, ...more] = messages(run.stderr);
    assert.match(message!, /^banyan: rank 1 on node 0 (failed|aborted)/);
    assert.match(message!, says);
    assert.deepEqual(more, []);
  });
}

test("X7: what an error says beyond its first line, and what caused it, comes below", async () => {
  const path = program(
    "details.ts",
    `import assert from "node:assert";
function solve(): never {
  try {
    assert.deepEqual({ a: 1 }, { a: 2 });
  } catch (cause) {
    throw new Error("no convergence\\nafter 3 steps", { cause });
  }
  throw 0;
}
solve();`,
  );
  const { code, stderr } = await banyan(["run", "--quiet", path]);
  assert.equal(code, 1);
  assert.match(
    stderr.replaceAll(/[^( ]*details\.ts/g, "details.ts"),
    /^banyan: rank 0 on node 0 failed after \S+ s: Error: no convergence \(details\.ts:6:11\)\n {4}after 3 steps\n {4}caused by AssertionError: Expected values to be loosely deep-equal: \(details\.ts:4:\d+\)\n {4}at solve \(details\.ts:6:11\)\n {4}at <anonymous> \(details\.ts:10:1\)\n$/,
  );
});

test("M8: process.exit(0) is a normal end", async () => {
  const { code, stdout, stderr } = await banyan([
    "run",
    "-n",
    "2",
    program("exit-0.ts", `console.log("out"); process.exit(0);`),
  ]);
  assert.equal(code, 0);
  assert.equal(stdout, "out\nout\n");
  assert.deepEqual(messages(stderr), []);
});

test("M8: a program goes on after its last line while something keeps its event loop alive", async () => {
  const path = program(
    "later.ts",
    `async function main() { await new Promise((done) => setTimeout(done, 50)); console.log("late"); } void main();`,
  );
  const { code, stdout } = await banyan(["run", path]);
  assert.equal(code, 0);
  assert.equal(stdout, "late\n");
});

test("M8: a node killed by a signal is noticed within a second; its ranks are named; exit code 128 + signal", async () => {
  const path = program("spin.ts", `console.log("spinning"); for (;;);`);
  const run = new Run(["run", "-n", "4", "--nodes", "2", path]);
  await run.printed("spinning", 4);
  const killedMs = quietNow();
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stderr } = await run.ended;
  assert(quietNow() - killedMs < 1000, "noticed within a second");
  assert.equal(code, 137);
  assert.match(messages(stderr)[0]!, /^banyan: node 1 \(ranks 2 to 3\) failed after \d+\.\d+ s: killed by SIGKILL$/);
  run.assertNothingLeft();
});

test("M8: a stopped node is noticed by its silence within a second, killed, and named", async () => {
  const path = program("spin.ts", `console.log("spinning"); for (;;);`);
  const run = new Run(["run", "-n", "2", "--nodes", "2", path]);
  await run.printed("spinning", 2);
  const stoppedMs = quietNow();
  process.kill(run.nodePid(0), "SIGSTOP");
  await until(() => run.stderr.includes("no sign of life"), "the silence is reported");
  const noticedMs = quietNow() - stoppedMs;
  const { code, stderr } = await run.ended;
  assert(noticedMs < 1000, `noticed after ${noticedMs} ms`);
  assert.equal(code, 1);
  assert.match(
    messages(stderr)[0]!,
    /^banyan: node 0 \(rank 0\) failed after \d+\.\d+ s: no sign of life for \d+\.\d+ s$/,
  );
  run.assertNothingLeft();
});

test("M8: ranks that take every processor do not make their node a dead one, however little patience there is", async () => {
  const path = program("busy.ts", "const untilMs = performance.now() + 1000; while (performance.now() < untilMs);");
  // Half the threads would do to keep two nodes' main threads waiting for longer than that, on two processors.
  const ranks = long.skip === undefined ? 64 : Math.min(64, 16 * availableParallelism());
  const { code, stderr } = await banyan(["run", "-n", `${ranks}`, "--nodes", "2", "--patience", "300", path]);
  assert.deepEqual(messages(stderr), []);
  assert.equal(code, 0);
});

test("M8: the watcher forgives its own absence: a stopped dispatcher does not take its nodes for dead", async () => {
  const [seen, enough] = [folderOf("absent.turn"), folderOf("absent.enough")];
  const path = program(
    "absent.ts",
    `${who}
    import { existsSync, writeFileSync } from "node:fs";
    for (let turn = 1; !existsSync(${JSON.stringify(enough)}); turn++) {
      await new Promise((done) => setTimeout(done, 50));
      if (rank === 0) writeFileSync(${JSON.stringify(seen)}, String(turn));
    }`,
  );
  const turn = () => (existsSync(seen) ? Number(readFileSync(seen, "utf8")) : 0);
  const run = new Run(["run", "-n", "2", "--nodes", "2", path]);
  await until(() => turn() > 0, "the ranks run");
  process.kill(run.child.pid!, "SIGSTOP");
  // The nodes live on for twice as long as a silent one would be waited for.
  const stoppedAt = turn();
  await until(() => turn() > stoppedAt + 30, "30 turns of 50 ms have passed");
  process.kill(run.child.pid!, "SIGCONT");
  // And as long again under its eyes.
  const back = turn();
  await until(() => turn() > back + 20, "20 more turns have passed");
  writeFileSync(enough, "");
  const { code, stderr } = await run.ended;
  assert.deepEqual(messages(stderr), []);
  assert.equal(code, 0);
});

test("M8: a rank stuck in a system call, and the program it started, do not outlive the job", async () => {
  const path = program(
    "stuck.ts",
    `${who}
    import { execSync } from "node:child_process";
    import { existsSync } from "node:fs";
    const sleeping = import.meta.filename + ".sleeping";
    if (rank === 0) execSync(\`touch \${sleeping}; sleep 100\`);
    while (!existsSync(sleeping));
    process.exit(5);`,
  );
  const run = new Run(["run", "-n", "2", path]);
  const { code, stderr } = await run.ended;
  assert.equal(code, 5);
  assert.match(messages(stderr)[0]!, /^banyan: rank 1 on node 0 failed/);
  await until(() => run.processes().length === 0, "everything is gone", 1000);
});

test("M8: --timeout ends a job that takes too long, with code 124, and in time", async () => {
  const startMs = quietNow();
  const { code, stderr } = await banyan(["run", "-n", "2", "--timeout", "0.5", program("spin.ts", "for (;;);")]);
  const tookMs = quietNow() - startMs;
  assert.equal(code, 124);
  const [message] = messages(stderr);
  const stoppedS = Number(/^banyan: stopped after (\d+\.\d\d) s: the job's time is over$/.exec(message!)?.[1]);
  assert(stoppedS >= 0.5, message);
  assert(tookMs < 2000, `over after ${tookMs} ms`);
});
