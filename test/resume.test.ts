/**
 * `banyan resume`: every process of a job is killed, and the job goes on from its folder. Whoever reads its output sees every line once.
 * Rows V7 and V1. Random worlds are in src/sim (drawn-faults.ts), torn files in src/real/job/folder.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(240_000);
const timeoutMs = 100_000;

/** Rank 0 takes what comes first and prints; others read the clock. What is printed does not depend on who came first. */
const script = program(
  "resume-rounds.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const rounds = Number(process.argv[2]);
  const value = new Int32Array(5000);
  let sum = 0;
  for (let i = 1; i <= rounds; i++) {
    if (world.rank === 0) {
      for (let from = 1; from < world.size; from++) {
        const { source } = world.recv(value, { source: mpi.ANY_SOURCE });
        sum = (sum + value[0] * source) % 1000003;
        world.send(Int32Array.of(sum), { dest: source });
      }
      console.log("round " + i + " " + sum % 1);
    } else {
      world.send(new Int32Array(i % 5 === 0 ? 5000 : 10).fill(i), { dest: 0 });
      world.recv(value, { source: 0 });
      const until = performance.now() + 1;
      while (performance.now() < until);
    }
  }
  const all = world.allreduce(Int32Array.of(world.rank), "sum");
  if (world.rank === 0) console.log("sum " + sum + " of " + all[0]);
`,
);

function linesOfScript(ranks: number, rounds: number): string {
  let sum = 0;
  for (let i = 1; i <= rounds; i++) for (let from = 1; from < ranks; from++) sum = (sum + i * from) % 1000003;
  const printed = Array.from({ length: rounds }, (_, i) => `round ${i + 1} 0`);
  return [...printed, `sum ${sum} of ${(ranks * (ranks - 1)) / 2}`, ""].join("\n");
}

/** The same in C: it can be captured. */
const solver = program(
  "resume-rounds.c",
  `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, rounds = atoi(argv[1]), sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static int value[5000];
  for (int i = 1; i <= rounds; i++) {
    if (rank == 0) {
      for (int from = 1; from < size; from++) {
        MPI_Status status;
        MPI_Recv(value, 5000, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        sum = (sum + value[0] * status.MPI_SOURCE) % 1000003;
        MPI_Send(&sum, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
      }
      printf("round %d 0\\n", i);
      fflush(stdout);
    } else {
      value[0] = i;
      MPI_Send(value, i % 5 ? 10 : 5000, MPI_INT, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(value, 5000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      double until = MPI_Wtime() + 0.001;
      while (MPI_Wtime() < until);
    }
  }
  int all = 0;
  MPI_Reduce(&rank, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d of %d\\n", sum, all);
  MPI_Finalize();
}
`,
);

const launcher = join(process.cwd(), "bin/banyan.js");

/** A job whose lines go to a file: its owner would have appended to it. */
class FiledJob {
  readonly folder: string;
  readonly #out: string;

  constructor(name: string) {
    this.folder = folderOf(`${name}-job`);
    this.#out = folderOf(`${name}-out`);
    writeFileSync(this.#out, "");
  }

  start(args: readonly string[]): Run {
    const command = ["sh", "-c", `exec "$0" "$@" >> ${this.#out}`, process.execPath, launcher];
    return new Run(args, { stdin: "", timeoutMs, command });
  }

  run(program: string, rounds: number, ranks: number, ...options: readonly string[]): Run {
    const size = ["-n", `${ranks}`, "--nodes", `${ranks}`];
    return this.start(["run", ...size, "--job-dir", this.folder, ...options, program, `${rounds}`]);
  }

  resume(): Run {
    return this.start(["resume", this.folder]);
  }

  get text(): string {
    return readFileSync(this.#out, "utf8");
  }

  async printed(text: string, run: Run): Promise<void> {
    const isOver = (): boolean => run.child.exitCode !== null;
    await until(() => this.text.includes(text) || isOver(), `"${text}" is printed`, timeoutMs);
    assert(this.text.includes(text), run.stderr);
  }

  /** Everything at once. */
  async killAll(run: Run): Promise<void> {
    for (const { pid } of [{ pid: run.child.pid! }, ...run.processes()]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
    await run.ended;
    await until(() => run.processes().length === 0, "nothing of the run is left");
  }

  async ends(run: Run, lines: string): Promise<string> {
    const { code, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.equal(this.text, lines);
    run.assertNothingLeft();
    assert.deepEqual(readdirSync(this.folder), []);
    return stderr;
  }
}

test(
  "V7: every process of a job under channel memories is killed, and the job goes on with every line once",
  limit,
  async () => {
    const job = new FiledJob("script-memory");
    const run = job.run(script, 30, 2, "--protocol", "channel-memory");
    await job.printed("round 10 0\n", run);
    await job.killAll(run);
    await job.ends(job.resume(), linesOfScript(2, 30));
  },
);

test("V7: a fault plan kills the dispatcher, everything ends, and the job goes on with every line once", {
  ...limit,
  ...long,
}, async () => {
  for (const protocol of ["logging", "channel-memory"]) {
    const job = new FiledJob(`plan-${protocol}`);
    const run = job.run(
      solver,
      50,
      3,
      "--protocol",
      protocol,
      "--faults",
      "kill service dispatcher at call 60 of rank 1",
    );
    assert.equal((await run.ended).signal, "SIGKILL");
    await job.ends(job.resume(), linesOfScript(3, 50));
  }
});

/** Which protocols and programs, and how far they have come when they are killed. */
const tenTimes = [
  ["logging", solver],
  ["channel-memory", solver],
  ["logging", script],
  ["channel-memory", script],
] as const;
for (const [protocol, text] of tenTimes) {
  const language = text === solver ? "C" : "TypeScript";
  test(`V7: every process is killed ten times in one computation, ${protocol}, ${language}`, {
    ...limit,
    ...long,
  }, async () => {
    const job = new FiledJob(`ten-${protocol}-${language}`);
    const checkpoints = text === solver ? ["--checkpoint-every", "200ms"] : [];
    // Programs in TypeScript that take no checkpoints begin at their beginning each time.
    const rounds = text === solver ? 150 : 30;
    let run = job.run(text, 11 * rounds, 3, "--protocol", protocol, ...checkpoints);
    for (let kill = 1; kill <= 10; kill++) {
      await job.printed(`round ${kill * rounds + 7} 0\n`, run);
      await job.killAll(run);
      run = job.resume();
    }
    await job.ends(run, linesOfScript(3, 11 * rounds));
  });
}
