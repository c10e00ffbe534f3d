/** With real processes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { quietNow } from "../../../test/patience.ts";
import { describeTrouble, runChild } from "./child.ts";

const patient = { timeLimitMs: Number.POSITIVE_INFINITY, interrupt: new AbortController().signal };

function node(text: string): { file: string; args: string[] } {
  return { file: process.execPath, args: ["-e", text] };
}

/** A program with a child in a group of its own, which must be killed; prints the child's id. */
const withStubbornChild = `
  const { spawn } = require("node:child_process");
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')"],
    { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.once("data", () => { console.log(child.pid); GO });
`;

/** The process has been killed; the system may need a moment, and its parent may not have collected it yet (state Z). */
async function assertGone(pid: number): Promise<void> {
  assert.ok(pid > 0);
  const startMs = quietNow();
  while (isAlive(pid)) {
    assert.ok(quietNow() - startMs < 5_000, `process ${pid} is still running`);
    await sleep(10);
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

test("M8: bench reads what a program prints, and how it ended", async () => {
  const run = await runChild(node("console.log(1); console.error('oh'); process.exitCode = 4"), patient);
  assert.deepEqual(run.ending, { kind: "exit", code: 4 });
  assert.equal(run.stdout, "1\n");
  assert.equal(describeTrouble(run), "exit code 4: oh");
});

test("M8: bench hears of a program that does not exist", async () => {
  const run = await runChild({ file: "/no/such/mpirun", args: [] }, patient);
  assert.match(describeTrouble(run) ?? "", /^did not start: .*ENOENT/);
});

test("M8: bench ends a program at its time limit, with everything it started", async () => {
  const run = await runChild(node(withStubbornChild.replace("GO", "setInterval(() => {}, 1000)")), {
    ...patient,
    timeLimitMs: 1_000,
  });
  assert.deepEqual(run.ending, { kind: "time-limit", ms: 1_000 });
  if (run.stdout !== "") await assertGone(Number(run.stdout));
});

test("M8: bench ends what a program left running", async () => {
  const run = await runChild(node(withStubbornChild.replace("GO", "process.exit(0)")), patient);
  assert.deepEqual(run.ending, { kind: "exit", code: 0 });
  await assertGone(Number(run.stdout));
});

test("M8: bench starts nothing once it is interrupted", async () => {
  const interrupt = AbortSignal.abort();
  const run = await runChild(node("console.log(1)"), { ...patient, interrupt });
  assert.deepEqual([run.ending.kind, run.stdout], ["interrupted", ""]);
});
