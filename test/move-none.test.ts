/** `banyan move` in jobs of which nothing is kept elsewhere: all ranks stop, and go on in other processes. Row D5, ADR 63. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type JobEvent, type LaunchOptions, launch, type RunningJob } from "banyan";
import { banyan, folderOf, inFolder, newFolder, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const frozen = resolve("test/programs/c/frozen.c");

type Told = Extract<JobEvent, { kind: "moved" | "note" | "failed" }>;

/** Lines of a job, each with its rank, and what else it told; `onLine` hears of every line, and how often the job has been moved. */
async function heardOf(job: RunningJob, onLine: (text: string, moves: number) => void = () => {}) {
  const lines: string[] = [];
  const told: Told[] = [];
  const begun = new Map<number | null, string>();
  let moves = 0;
  for await (const event of job) {
    if (event.kind === "moved") moves++;
    if (event.kind === "moved" || event.kind === "note" || event.kind === "failed") told.push(event);
    if (event.kind !== "line") continue;
    // A question that is asked is seen before its line ends.
    const text = (begun.get(event.rank) ?? "") + event.text;
    begun.set(event.rank, event.ended ? "" : text);
    if (!event.ended) continue;
    lines.push(`${event.rank} ${text}`);
    onLine(text, moves);
  }
  return { lines, told, ...(await job.done) };
}

type MoveOrder = Parameters<RunningJob["move"]>[0];

/** Rank 0 may print much before another one has begun, on a machine that is busy: the order is given again. */
function ordered(answers: string[], order: () => string): void {
  const answer = order();
  if (!answer.includes("not all of its ranks have begun")) answers.push(answer);
}

const stepOf = (text: string): number => Number(/step (\d+)/.exec(text)?.[1] ?? -1);

const logsOf = (folder: string, ranks: number): string[] =>
  Array.from({ length: ranks }, (_, rank) => readFileSync(join(folder, `frozen-${rank}.log`), "utf8"));

/** A run without moves, for comparison. */
async function unmoved(options: LaunchOptions): Promise<{ lines: string[]; logs: string[] }> {
  const folder = newFolder(`unmoved-${options.ranks}-${options.protocol ?? "none"}`);
  const { lines } = await inFolder(folder, () => heardOf(launch(frozen, options)));
  return { lines: lines.sort(), logs: logsOf(folder, options.ranks ?? 1) };
}

for (const [protocol, sendFiles, jobFolder] of [
  ["none", false, undefined],
  ["ulfm", true, "job"],
] as const) {
  test(`D5 under ${protocol} a rank goes alone to a node that is there and to one that is started, a node to others: output and files are those of a run at one go`, {
    ...limit,
    ...(protocol === "none" ? {} : long),
  }, async () => {
    const options: LaunchOptions = { ranks: 4, nodes: 2, args: ["300"], ranksPerThread: 1, protocol };
    const wanted = await unmoved(options);
    const folder = newFolder(`moved-${protocol}`);
    await inFolder(folder, async () => {
      const job = launch(frozen, { ...options, sendFiles, jobFolder });
      const orders: MoveOrder[] = [
        { moved: { kind: "rank", rank: 1, replica: null }, onto: 1 },
        { moved: { kind: "rank", rank: 3, replica: null }, onto: null },
        { moved: { kind: "node", node: 0 }, onto: 1 },
      ];
      const obstacles: string[] = [];
      const { lines, told, code, summary } = await heardOf(job, (text, moves) => {
        // The next when the one before is done, and some steps later.
        const order = orders[obstacles.length];
        if (order === undefined || moves < obstacles.length) return;
        if (stepOf(text) >= 20 + 60 * moves) ordered(obstacles, () => job.move(order));
      });
      assert.equal(code, 0);
      assert.deepEqual(obstacles, ["", "", ""]);
      const moved = told.filter((event) => event.kind === "moved");
      assert.deepEqual(
        moved.map(({ ranks, node, pids }) => [ranks, node, pids.length]),
        [
          [[1], 1, 2],
          [[3], 2, 3],
          [[0], 0, 2],
        ],
      );
      assert.match(
        moved[2]!.message,
        /^rank 0 is on node 0 now, .*; the node that had been 0 is gone, those behind it/,
      );
      assert.match(summary.at(-1)!, /^moved 3 times, all ranks stood still for at most [\d.]+ s$/);
      assert.deepEqual(lines.sort(), wanted.lines);
    });
    assert.deepEqual(logsOf(folder, 4), wanted.logs);
  });
}

/** Rank 0 adds up what it reads; both leave a line half printed while they wait for each other. */
const halves = program(
  "halves.c",
  `#include <mpi.h>
  #include <stdio.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank, sum = 0, next = 0, step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    do {
      printf("rank %d step %d:", rank, step);
      fflush(stdout);
      if (rank == 0 && scanf("%d", &next) != 1) next = -1;
      MPI_Bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (next >= 0) sum += next;
      usleep(2000);
      printf(" sum %d\\n", sum);
      step++;
    } while (next >= 0);
    MPI_Finalize();
    return 0;
  }`,
);

test(
  "D5 lines that are half printed, and input that is given while ranks are moved, are there once",
  limit,
  async () => {
    const stdin = new PassThrough();
    const job = launch(halves, { ranks: 2, nodes: 2, stdin, ranksPerThread: 1 });
    let given = 0;
    let isMoved = false;
    const feeding = setInterval(() => {
      if (!isMoved || given < 60) stdin.write(`${++given} `);
      else {
        clearInterval(feeding);
        stdin.end();
      }
    }, 25);
    const obstacles: string[] = [];
    const { lines, code } = await heardOf(job, (text, moves) => {
      isMoved = moves === 2;
      const isDue = obstacles.length < 2 && moves === obstacles.length && stepOf(text) >= 5 + 20 * moves;
      if (isDue) ordered(obstacles, () => job.drain(0));
    });
    clearInterval(feeding);
    assert.equal(code, 0);
    assert.deepEqual(obstacles, ["", ""]);
    const numbers = given;
    const sums = Array.from({ length: numbers + 1 }, (_, step) => {
      const last = Math.min(step + 1, numbers);
      return `step ${step}: sum ${(last * (last + 1)) / 2}`;
    });
    for (const rank of [0, 1]) {
      const own = lines.filter((line) => line.startsWith(`${rank} `));
      assert.deepEqual(
        own,
        sums.map((sum) => `${rank} rank ${rank} ${sum}`),
      );
    }
  },
);

/** Goes on until there is a file `enough`. */
const patient = program(
  "patient.c",
  `#include <mpi.h>
  #include <stdio.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank, size, step = 0, more = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (; more; step++) {
      if (rank == 0) {
        if (step % 10 == 0) printf("step %d\\n", step);
        fflush(stdout);
        more = access("enough", F_OK) != 0;
      }
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      usleep(1000);
    }
    printf("rank %d of %d: %d steps\\n", rank, size, step);
    MPI_Finalize();
    return 0;
  }`,
);

/** A job of four ranks on two nodes, at work. */
async function started(folder: string): Promise<Run> {
  const line = ["run", "-n", "4", "--nodes", "2", "--ranks-per-thread", "1", "-l", "--dir", folder];
  const run = await inFolder(folder, async () => new Run([...line, patient], { stdin: "" }));
  await run.printed("step 10\n");
  return run;
}

const enough = (folder: string): void => writeFileSync(join(folder, "enough"), "");

/** What rank 0 has printed is a beginning of what it prints in a run at one go. Returns how many steps it told of. */
function assertBeginning(stdout: string): number {
  const own = stdout.split("\n").filter((line) => line.startsWith("[0] step"));
  assert.deepEqual(
    own,
    own.map((_, i) => `[0] step ${i * 10}`),
  );
  return own.length;
}

/** All ranks have come to the end, after as many steps. */
function assertEnd(stdout: string): void {
  const ends = [...stdout.matchAll(/^\[\d\] rank \d of 4: (\d+) steps$/gm)].map(([, steps]) => Number(steps));
  assert.equal(ends.length, 4, stdout);
  assert.equal(new Set(ends).size, 1);
  assert.equal(assertBeginning(stdout), Math.ceil(ends[0]! / 10));
}

test("D5 banyan move and SIGTERM to a node under none; refusals are one line", limit, async () => {
  const folder = newFolder("move-cli");
  const run = await started(folder);
  const move = (...words: string[]) => banyan(["move", `${run.child.pid}`, ...words]);
  const [first, second] = [run.nodePid(0), run.nodePid(1)];
  assert.match(
    (await move("--rank", "1", "--node", "3")).stderr,
    /the job has nodes 0 to 1, and node 2 can be started\n$/,
  );
  assert.match((await move("--rank", "1", "--node", "0")).stderr, /it is on node 0 already\n$/);
  assert.equal((await move("--rank", "1", "--node", "1")).code, 0);
  await until(() => run.stderr.includes("rank 1 is on node 1 now"), "rank 1 is moved");
  assert.notEqual(run.nodePid(0), first);
  assert.notEqual(run.nodePid(1), second);
  process.kill(run.nodePid(1), "SIGTERM");
  await until(() => run.stderr.includes("ranks 1, 2 and 3 are on node 1 now"), "the others are moved");
  enough(folder);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /ranks 1, 2 and 3 are on node 1 now, in another process; all ranks stood still for [\d.]+ s\n/);
  assertEnd(stdout);
  run.assertNothingLeft();
});

test("D5 a node that is killed at any step of a move under none ends the job, as at any other time: nothing is printed twice, nothing is left", {
  ...limit,
  ...long,
}, async () => {
  const ends = { finished: 0, failed: 0 };
  for (const ms of [0, 20, 60, 120, 200, 300, 400, 500]) {
    const folder = newFolder(`move-killed-${ms}`);
    const run = await started(folder);
    assert.equal((await banyan(["move", `${run.child.pid}`, "--drain", `${(ms / 20) % 2}`])).code, 0);
    await sleep(ms);
    const nodes = run.processes().filter(({ name }) => name.startsWith("banyan-node"));
    if (nodes.length > 0) process.kill(nodes[ms % nodes.length]!.pid, "SIGKILL");
    enough(folder);
    const { code, stdout, stderr } = await run.ended;
    assertBeginning(stdout);
    if (code === 0) assertEnd(stdout);
    else assert.match(stderr, /banyan: node \d .*(SIGKILL|killed)/);
    ends[code === 0 ? "finished" : "failed"]++;
    run.assertNothingLeft();
  }
  assert.ok(ends.failed > 0, JSON.stringify(ends));
});

test("D5 a job that is interrupted while it is moved ends as any other", { ...limit, ...long }, async () => {
  for (const ms of [0, 100, 250]) {
    const run = await started(newFolder(`move-interrupted-${ms}`));
    assert.equal((await banyan(["move", `${run.child.pid}`, "--rank", "0"])).code, 0);
    await sleep(ms);
    run.child.kill("SIGINT");
    const { code, stdout } = await run.ended;
    assert.equal(code, 130);
    assertBeginning(stdout);
    run.assertNothingLeft();
  }
});

test("D5 programs without images are not moved; nor is a job with a fault plan", { ...limit, ...long }, async () => {
  const module = folderOf("unmovable.wasm");
  const made = await banyan(["cc", "--no-capture", frozen, "-o", module], { timeoutMs: 60_000 });
  assert.equal(made.code, 0, made.stderr);
  const obstacleOf = async (path: string, options: LaunchOptions): Promise<string> => {
    const job = launch(path, { args: ["100"], ...options });
    let obstacle = "";
    const { code } = await heardOf(job, (text) => {
      if (text === "step 10") obstacle = job.drain(0);
    });
    assert.equal(code, 0);
    return obstacle;
  };
  await inFolder(newFolder("unmovable"), async () => {
    assert.equal(await obstacleOf(module, {}), "its program was linked with --no-capture");
    assert.match(await obstacleOf(frozen, { faults: "kill node 0 at 500s" }), /^it has a fault plan, /);
  });
});
