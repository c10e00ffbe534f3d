/**
 * A process is killed inside a write, not between two: files and standard output have everything once (rows R1, X2). The test sees that a write is under way:
 * the file has a part of a record; whoever prints stands still, because nobody reads.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, Run, until } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const recordBytes = 16 << 20;
/** A look at a size takes some microseconds, a write of a record some milliseconds: looks in a row find one under way. */
const looksInRow = 2_000;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Kills the node when a part of a record is in the file; returns that size. */
async function killInside(run: Run, node: number, log: string): Promise<number> {
  const pid = run.nodePid(node);
  let caught = 0;
  const isCaught = (): boolean => {
    for (let look = 0; look < looksInRow && caught === 0; look++) {
      const size = sizeOf(log);
      if (size % recordBytes === 0) continue;
      process.kill(pid, "SIGKILL");
      caught = size;
    }
    return caught > 0;
  };
  await until(isCaught, "a write is under way");
  return caught;
}

/** Word k of record i is k + 7919 i, as in killed-writes.c. */
function checkRecord(bytes: Buffer, record: number, what: string): void {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const wrong = words.findIndex((word, k) => word !== (k + 7919 * record) >>> 0);
  assert.equal(wrong, -1, `word ${wrong} of ${what}`);
}

for (const replicas of [2, 3]) {
  const what = `R1, X2 ${replicas} replicas: whoever performs is killed inside a write${replicas === 2 ? "" : ", and so is the next one"}; every record is in the file once`;
  test(what, { ...limit, ...longUnless(replicas === 2) }, async () => {
    const folder = folderOf(`inside-${replicas}`);
    mkdirSync(folder);
    const log = join(folder, "log");
    const size = ["-n", "2", "--nodes", `${replicas}`, "--protocol", "replication", "--replicas", `${replicas}`];
    const source = "test/programs/c/killed-writes.c";
    const run = new Run(["run", ...size, "--dir", folder, source, folder], { stdin: "", timeoutMs: 150_000 });
    await run.printed("round 0\n");
    const inside: number[] = [];
    for (let node = 0; node < replicas - 1; node++) inside.push(await killInside(run, node, log));
    const printed = run.stdout.split("\n").length;
    await until(() => run.stdout.split("\n").length > printed + 1, "the next one performs");
    writeFileSync(join(folder, "enough"), "");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    const rounds = Number(/^(\d+) rounds$/m.exec(stdout)?.[1]);
    const lines = Array.from({ length: rounds }, (_, i) => `round ${i}\n`);
    assert.equal(stdout, `${lines.join("")}${rounds} rounds\n`);
    const records = readFileSync(log);
    assert.equal(records.length, rounds * recordBytes, `killed at ${inside.join(", ")}`);
    for (let i = 0; i < rounds; i++)
      checkRecord(records.subarray(i * recordBytes, (i + 1) * recordBytes), i, `record ${i}`);
    const table = readFileSync(join(folder, "table"));
    assert.equal(table.length, recordBytes);
    checkRecord(table, rounds - 1, "the table");
    assert.equal(stderr.split("SIGKILL").length, replicas, stderr);
    run.assertNothingLeft();
  });
}

/** Processor time of a process, in ticks. */
function ticksOf(pid: number): string {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
  return `${fields[11]} ${fields[12]}`;
}

const looksAtRest = 5;

/** Has not run between looks: its ranks wait inside calls of printf until somebody reads. */
async function standsStill(pid: number): Promise<void> {
  let [before, same] = ["", 0];
  const isStill = (): boolean => {
    const now = ticksOf(pid);
    same = now === before ? same + 1 : 0;
    before = now;
    return same >= looksAtRest;
  };
  await until(isStill, `process ${pid} stands still`);
}

for (const replicas of [2, 3]) {
  const what = `R1 ${replicas} replicas: nobody reads what they print, and they are killed inside that${replicas === 2 ? "" : ", one after the other"}; every line is there once`;
  test(what, { ...limit, ...longUnless(replicas === 2) }, async () => {
    const size = ["-n", "2", "--nodes", `${replicas}`, "--protocol", "replication", "--replicas", `${replicas}`];
    const lineCount = 60_000;
    const args = ["run", ...size, "test/programs/c/flood.c", `${lineCount}`];
    const run = new Run(args, { stdin: "", readStdout: false, timeoutMs: 150_000 });
    const { stdout } = run.child;
    let text = "";
    const read = (): void => {
      text += String(stdout!.read() ?? "");
    };
    await new Promise((resolve) => stdout!.setEncoding("utf8").once("readable", resolve));
    for (let node = 0; node < replicas - 1; node++) {
      await standsStill(run.nodePid(node));
      process.kill(run.nodePid(node), "SIGKILL");
      // The next one is inside a later line.
      const had = text.length;
      await until(() => {
        read();
        return text.length > had + (1 << 20);
      }, "its lines go on");
    }
    stdout!.on("readable", read);
    const { code, stderr } = await run.ended;
    read();
    assert.equal(code, 0, stderr);
    for (const rank of [0, 1]) {
      const lines = text.split("\n").filter((line) => line.startsWith(`rank ${rank} `));
      assert.equal(lines.length, lineCount);
      for (const [i, line] of lines.entries()) {
        const sum = 2 * (i - (i % 1000));
        assert.equal(line, `rank ${rank} line ${i} sum ${sum} ${String(i).padStart(40 + (i % 37), "0")}`);
      }
    }
    assert.equal(stderr.split("SIGKILL").length, replicas, stderr);
    run.assertNothingLeft();
  });
}
