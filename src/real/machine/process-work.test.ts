import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { timeLimit } from "../../../test/patience.ts";
import { ProcessWork } from "./process-work.ts";

const limit = timeLimit(30_000);

/** Two samples with nothing in between. */
function isAtWork(work: ProcessWork): boolean {
  const before = work.look();
  return work.look() !== before;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test("M8: a process at work looks so, a stopped one does not, and does again when it goes on", limit, async (t) => {
  if (process.platform !== "linux") return t.skip("/proc is of Linux");
  const child = spawn("sh", ["-c", "echo started; while :; do :; done"], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const work = new ProcessWork(child.pid!);
  assert(isAtWork(work));
  child.kill("SIGSTOP");
  // The signal is pending until the process has had a processor; then nothing changes any more.
  await until(() => !isAtWork(work));
  const stopped = work.look();
  for (let i = 0; i < 100; i++) assert.equal(work.look(), stopped);
  child.kill("SIGCONT");
  await until(() => work.look() !== stopped);
});

test("M8: a process one of whose threads is at work looks so, whatever its main thread does", limit, async (t) => {
  if (process.platform !== "linux") return t.skip("/proc is of Linux");
  const script = `new (require("worker_threads").Worker)("for (;;);", { eval: true }); console.log("started");`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const work = new ProcessWork(child.pid!);
  for (let i = 0; i < 100; i++) await until(() => isAtWork(work));
  child.kill("SIGSTOP");
  await until(() => !isAtWork(work));
  const stopped = work.look();
  for (let i = 0; i < 100; i++) assert.equal(work.look(), stopped);
});

test(
  "M8: a command that runs another process is at work when that one is, if its children are looked at",
  limit,
  async (t) => {
    if (process.platform !== "linux") return t.skip("/proc is of Linux");
    const script = "echo started; while :; do :; done";
    const command = spawn("sh", ["-c", `sh -c '${script}'; :`], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const group = -command.pid!;
    t.after(() => process.kill(group, "SIGKILL"));
    await new Promise((resolve) => command.stdout.once("data", resolve));
    const alone = new ProcessWork(command.pid!);
    const together = new ProcessWork(command.pid!, { withChildren: true });
    await until(() => !isAtWork(alone));
    for (let i = 0; i < 100; i++) assert(isAtWork(together));
    process.kill(group, "SIGSTOP");
    await until(() => !isAtWork(together));
    const stopped = together.look();
    for (let i = 0; i < 100; i++) assert.equal(together.look(), stopped);
  },
);

test("M8: a process that sleeps, and one that is not there, do not work", limit, async (t) => {
  const child = spawn("sh", ["-c", "echo started; exec sleep 100"], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const work = new ProcessWork(child.pid!);
  await until(() => !isAtWork(work));
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
  assert.equal(work.look(), 0);
  assert.equal(work.look(), 0);
});
