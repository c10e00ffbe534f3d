/** Jobs that are frozen and thawed, with real threads, processes and files. Row M6. */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { launch, type RunningJob, thaw } from "banyan";
import { banyan, folderOf, inFolder, newFolder, program } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const frozen = resolve("test/programs/c/frozen.c");
const announced = resolve("test/programs/c/announced.c");
const steps = 60;
const limit = timeLimit(120_000);

/** Lines of a job, each with its rank; `onLine` hears of every one. */
async function linesOf(job: RunningJob, onLine: (text: string) => void = () => {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of job) {
    if (event.kind !== "line") continue;
    lines.push(`${event.rank} ${event.text}`);
    onLine(event.text);
  }
  return lines;
}

const logsOf = (folder: string, ranks: number): string[] =>
  Array.from({ length: ranks }, (_, rank) => readFileSync(join(folder, `frozen-${rank}.log`), "utf8"));

for (const [ranks, nodes] of [
  [3, 1],
  [4, 2],
] as const) {
  const when = { ...limit, ...longUnless(nodes === 2) };
  test(
    `M6 images: ${ranks} ranks on ${nodes} nodes, frozen twice, end with the output and the files of a run at one go`,
    when,
    async () => {
      // Enough are left after the thirtieth, also where that is heard of late.
      const options = { ranks, nodes, args: [`${3 * steps}`], ranksPerThread: nodes };
      const whole = newFolder(`whole-${ranks}`);
      const wanted = await inFolder(whole, () => linesOf(launch(frozen, options)));
      const parted = newFolder(`parted-${ranks}`);
      const lines = await inFolder(parted, async () => {
        const first = launch(frozen, { ...options, jobFolder: "first" });
        const all = await linesOf(first, (text) => text === "step 10" && first.freeze());
        assert.equal((await first.done).reason.kind, "frozen");
        const second = thaw("first", { jobFolder: "second" });
        all.push(...(await linesOf(second, (text) => text === "step 30" && second.freeze())));
        assert.equal((await second.done).reason.kind, "frozen");
        // Also after a move: nothing in the folder says where it is.
        cpSync("second", "moved", { recursive: true });
        rmSync("second", { recursive: true });
        const third = thaw("moved");
        all.push(...(await linesOf(third)));
        assert.deepEqual(await third.done.then(({ code, reason }) => [code, reason.kind]), [0, "finished"]);
        return all;
      });
      assert.deepEqual(lines.sort(), wanted.sort());
      assert.deepEqual(logsOf(parted, ranks), logsOf(whole, ranks));
    },
  );
}

test("M6 images: frozen where ranks share threads, thawed where they do not, and the other way round", {
  ...limit,
  ...long,
}, async () => {
  const ranks = 4;
  const whole = newFolder("whole-packed");
  const wanted = await inFolder(whole, () => linesOf(launch(frozen, { ranks, args: [`${steps}`] })));
  for (const [first, second] of long.skip === undefined
    ? [
        [4, 1],
        [1, 2],
      ]
    : [[4, 1]]) {
    const folder = newFolder(`packed-${first}`);
    const lines = await inFolder(folder, async () => {
      const job = launch(frozen, { ranks, args: [`${steps}`], jobFolder: "job", ranksPerThread: first });
      const all = await linesOf(job, (text) => text === "step 20" && job.freeze());
      assert.equal((await job.done).reason.kind, "frozen");
      const thawed = thaw("job", { ranksPerThread: second });
      all.push(...(await linesOf(thawed)));
      assert.equal((await thawed.done).code, 0);
      return all;
    });
    assert.deepEqual(lines.sort(), wanted.sort());
    assert.deepEqual(logsOf(folder, ranks), logsOf(whole, ranks));
  }
});

for (const ranksPerThread of [1, 2]) {
  const when = { ...limit, ...longUnless(ranksPerThread === 2) };
  test(
    `M6 images: a message that was announced is taken when its sender has its memory again, ${ranksPerThread} in a thread`,
    when,
    async () => {
      await inFolder(newFolder(`announced-${ranksPerThread}`), async () => {
        const job = launch(announced, { ranks: 2, jobFolder: "job", ranksPerThread, memoryMb: 256 });
        await linesOf(job, (text) => text === "announced" && job.freeze());
        assert.equal((await job.done).reason.kind, "frozen");
        writeFileSync("go", "");
        const thawed = thaw("job", { ranksPerThread });
        const lines = await linesOf(thawed);
        assert.deepEqual(lines.sort(), ["0 rank 0: 0 bytes are wrong", "1 rank 1: 0 bytes are wrong"]);
        assert.equal((await thawed.done).code, 0);
      });
    },
  );
}

for (const ranksPerThread of [1, 3]) {
  const when = { ...limit, ...long };
  test(
    `M6 images: where an image cannot be written the job goes on, ${ranksPerThread} in a thread, and can be frozen later`,
    when,
    async () => {
      const ranks = 3;
      // Enough are left after the fortieth, also where that is heard of late.
      const args = [`${3 * steps}`];
      const whole = newFolder(`whole-on-${ranksPerThread}`);
      const wanted = await inFolder(whole, () => linesOf(launch(frozen, { ranks, args })));
      const folder = newFolder(`goes-on-${ranksPerThread}`);
      await inFolder(folder, async () => {
        const job = launch(frozen, { ranks, args, jobFolder: "job", ranksPerThread });
        // In the way of rank 1's image; gone before the second attempt.
        mkdirSync("job/1.image.part");
        const lines: string[] = [];
        const notes: string[] = [];
        for await (const event of job) {
          if (event.kind === "note") {
            notes.push(event.message);
            rmdirSync("job/1.image.part");
            assert.deepEqual(readdirSync("job").sort(), ["journal", "program.wasm"]);
          }
          if (event.kind !== "line") continue;
          lines.push(`${event.rank} ${event.text}`);
          if (event.text === "step 10" || event.text === "step 40") job.freeze();
        }
        assert.equal(notes.length, 1);
        assert.match(notes[0]!, /^the job could not be frozen and goes on: Cannot write image .*1\.image: /);
        assert.equal((await job.done).reason.kind, "frozen");
        const thawed = thaw("job", { ranksPerThread });
        lines.push(...(await linesOf(thawed)));
        assert.equal((await thawed.done).code, 0);
        assert.deepEqual(lines.sort(), wanted.sort());
        assert.deepEqual(logsOf(folder, ranks), logsOf(whole, ranks));
      });
    },
  );
}

test("M6 images: a job without a folder says so when it is to be frozen, and goes on", limit, async () => {
  const job = launch(program("no-folder.ts", "await new Promise((resolve) => setTimeout(resolve, 300));"));
  assert.throws(() => job.freeze(), /it was launched without a jobFolder/);
  assert.equal((await job.done).code, 0);
});

test("M6 images: a thawed file that was appended to has the length it had at the capture", limit, async () => {
  const folder = newFolder("appended");
  await inFolder(folder, async () => {
    const job = launch(frozen, { ranks: 2, args: ["40"], jobFolder: "job" });
    await linesOf(job, (text) => text === "step 10" && job.freeze());
    const log = join(folder, "frozen-1.log");
    const atCapture = existsSync(log) ? readFileSync(log, "utf8") : "";
    writeFileSync(log, "written by somebody else meanwhile\n", { flag: "a" });
    const thawed = thaw("job");
    await linesOf(thawed);
    assert.equal((await thawed.done).code, 0);
    const after = readFileSync(log, "utf8");
    assert.ok(after.startsWith(atCapture) && !after.includes("somebody"));
  });
});

test(
  "M6 images: --freeze-at and banyan thaw; a rank without MPI calls is named while the others wait",
  limit,
  async () => {
    // Without MPI, clocks and looks for files: nothing in which it could be stopped.
    const busy = program(
      "busy.c",
      `#include <mpi.h>
    #include <stdio.h>
    #include <fcntl.h>
    #include <sys/stat.h>
    int main(int argc, char **argv) {
      int rank, file = open("signs", O_RDONLY);
      struct stat now = {0};
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 1) while (now.st_size == 0) fstat(file, &now);
      MPI_Barrier(MPI_COMM_WORLD);
      printf("rank %d is through\\n", rank);
      MPI_Finalize();
      return 0;
    }`,
    );
    const job = folderOf("busy-job");
    const notes: string[] = [];
    await inFolder(newFolder("busy"), async () => {
      writeFileSync("signs", "");
      const first = launch(busy, { ranks: 3, ranksPerThread: 1, freezeAtMs: 200, jobFolder: job });
      for await (const event of first) {
        assert.notEqual(event.kind, "line");
        if (event.kind !== "note") continue;
        notes.push(event.message);
        writeFileSync("signs", "one");
      }
      assert.equal((await first.done).reason.kind, "frozen");
    });
    assert.match(notes[0]!, /^freezing: rank 1 has not stopped for \d+ s: it comes to no MPI call; the others wait$/);
    const second = await banyan(["thaw", job], { timeoutMs: 60_000 });
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(second.stdout.split("\n").sort(), [
      "",
      "rank 0 is through",
      "rank 1 is through",
      "rank 2 is through",
    ]);
  },
);

test("X7: what cannot be frozen or thawed is said in one line", limit, async () => {
  const said = async (code: number, ...args: string[]) => {
    const ended = await banyan(args, { timeoutMs: 60_000 });
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, /^banyan: [^\n]*\n$/);
    return ended.stderr;
  };
  const script = program("cannot-freeze.ts", "");
  const full = resolve(program("full/something.txt", ""), "..");
  assert.match(await said(2, "run", "--freeze-at", "1s", frozen), /say where to with --job-dir/);
  assert.match(await said(2, "run", "--freeze-at", "soon", "--job-dir", "x", frozen), /"soon" for --freeze-at/);
  assert.match(await said(2, "run", "--freeze-at", "1s", "--job-dir", folderOf("x"), script), /only programs in C/);
  assert.match(await said(1, "run", "--freeze-at", "1s", "--job-dir", full, frozen), /there is something in it/);
  assert.match(await said(1, "thaw", full), /holds no frozen job/);
});

test("M6 images: a program linked with --no-capture runs, and says that it cannot be frozen", limit, async () => {
  const module = folderOf("fixed.wasm");
  const made = await banyan(["cc", "--no-capture", frozen, "-o", module], { timeoutMs: 60_000 });
  assert.equal(made.code, 0, made.stderr);
  const job = folderOf("fixed-job");
  const run = await banyan(["run", "--freeze-at", "0s", "--job-dir", job, module, "3"], { timeoutMs: 60_000 });
  assert.equal(run.code, 1);
  assert.match(run.stderr, /rank 0 .*it cannot be frozen: it was linked with --no-capture\n/);
});

test("M6 images: an image that was cut short or changed is refused by name", limit, async () => {
  const job = folderOf("damaged-job");
  const args = ["run", "-n", "2", "--freeze-at", "0s", "--job-dir", job, frozen, "2000"];
  const first = await banyan(args, { timeoutMs: 60_000 });
  assert.match(first.stderr, /frozen/);
  const image = join(job, "1.image");
  const bytes = readFileSync(image);
  truncateSync(image, bytes.length - 100);
  const short = await banyan(["thaw", job], { timeoutMs: 60_000 });
  assert.equal(short.code, 1);
  assert.match(short.stderr, /^banyan: [^\n]*1\.image[^\n]*\n$/);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(image, bytes);
  const changed = await banyan(["thaw", job], { timeoutMs: 60_000 });
  assert.equal(changed.code, 1, changed.stderr);
  assert.match(changed.stderr, /1\.image/);
});
