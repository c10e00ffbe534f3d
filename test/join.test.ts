/** Nodes that join a job and leave it, and that open outgoing connections only. Row V9. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { after, test } from "node:test";
import { launch } from "banyan";
import { folderOf, program, Run, until } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";
import { listeningSockets } from "./starting-nodes.ts";

const limit = timeLimit(120_000);
const timeoutMs = 300_000;

/** Ranks go round together; the test says by a file when they may end. */
const talkers = program(
  "talkers.ts",
  `
  import { mpi } from "banyan";
  import { existsSync } from "node:fs";
  const { world } = mpi;
  let sum = 0;
  for (let round = 1; ; round++) {
    const mayEnd = world.rank === 0 && round > 20 && existsSync(process.argv[2]!) ? 1 : 0;
    const [end] = world.allreduce(Int32Array.of(mayEnd), "max");
    sum += world.allreduce(Int32Array.of(world.rank + round), "sum")[0]! % 7;
    if (world.rank === 0) console.log("round " + round);
    if (end === 1) break;
    const until = performance.now() + 2;
    while (performance.now() < until);
  }
  console.log("rank " + world.rank + " is done");
`,
);

/** A job with nodes that join it. */
class JoinedJob {
  readonly run: Run;
  readonly #secret: string;
  readonly #end: string;
  readonly volunteers: Run[] = [];
  static #jobs = 0;

  constructor(more: readonly string[], { protocol = "channel-memory", path = talkers, resumes = "", size = 2 } = {}) {
    const number = ++JoinedJob.#jobs;
    this.#secret = folderOf(`secret-${number}`);
    this.#end = folderOf(`end-${number}`);
    const secret = ["--secret-file", this.#secret];
    const job = [
      "run",
      "-n",
      `${size}`,
      "--nodes",
      `${size}`,
      "--protocol",
      protocol,
      ...secret,
      ...more,
      path,
      this.#end,
    ];
    this.run = new Run(resumes === "" ? job : ["resume", ...secret, ...more, resumes], { stdin: "", timeoutMs });
  }

  /** The program may end. */
  mayEnd(): void {
    writeFileSync(this.#end, "");
  }

  get secret(): string {
    return this.#secret;
  }

  async place(): Promise<string> {
    await this.said(/--join [^ ]+:\d+ /);
    return /--join ([^ ]+:\d+) /.exec(this.run.stderr)![1]!;
  }

  /** Another node, which calls. */
  async joins(secret = this.#secret): Promise<Run> {
    const node = new Run(["node", "--join", await this.place(), "--secret-file", secret], { stdin: "", timeoutMs });
    this.volunteers.push(node);
    return node;
  }

  said(what: RegExp, times = 1): Promise<void> {
    const all = new RegExp(what, "gm");
    return until(() => (this.run.stderr.match(all) ?? []).length >= times, `the job says ${what} ${times} times`);
  }

  /** So many further rounds have gone well. */
  async goesOn(rounds = 5): Promise<void> {
    const before = this.rounds;
    await until(() => this.rounds >= before + rounds, `${rounds} further rounds: ${this.run.stderr}`);
  }

  get rounds(): number {
    return this.run.stdout.split("round ").length - 1;
  }

  /** The program comes to its end: every line is there once, and nothing is left of the job nor of its nodes. */
  async ends(ranks = 2): Promise<void> {
    this.mayEnd();
    const { code, stdout, stderr } = await this.run.ended;
    assert.equal(code, 0, stderr);
    const lines = stdout.split("\n").filter(Boolean);
    const rounds = lines.filter((line) => line.startsWith("round"));
    assert.deepEqual(
      rounds,
      Array.from(rounds, (_, i) => `round ${i + 1}`),
    );
    assert.deepEqual(
      lines.filter((line) => line.endsWith("done")).sort(),
      Array.from({ length: ranks }, (_, rank) => `rank ${rank} is done`),
    );
    for (const volunteer of this.volunteers) {
      await volunteer.ended;
      volunteer.assertNothingLeft();
    }
    this.run.assertNothingLeft();
    assert(!existsSync(this.#secret), "the secret is gone with the job");
  }
}

/** The process that is the node itself, of a `banyan node` that has a place. */
function agentOf(volunteer: Run): number {
  const found = volunteer.processes().find(({ name }) => /^banyan-node \d/.test(name));
  assert(found !== undefined, `it is a node: ${volunteer.stderr}`);
  return found.pid;
}

const runs: JoinedJob[] = [];
after(() => {
  // Of tests that have failed.
  for (const { run, volunteers } of runs) {
    for (const each of [run, ...volunteers]) for (const { pid } of each.processes()) process.kill(pid, "SIGKILL");
  }
});
function job(...given: ConstructorParameters<typeof JoinedJob>): JoinedJob {
  const made = new JoinedJob(...given);
  runs.push(made);
  return made;
}

test(
  "V8 V9: a job waits for its nodes, none of which listens; one is killed, and comes back as a new one",
  limit,
  async () => {
    const it = job(["--join-only"]);
    await it.said(/^banyan: waits for 2 nodes to join: banyan node --join 127\.0\.0\.1:\d+ --secret-file /);
    assert.equal(statSync(it.secret).mode & 0o777, 0o600);
    const first = await it.joins();
    await it.said(/^banyan: process \d+ at 127\.0\.0\.1 has joined: 1 of 2 nodes$/);
    assert.equal(it.rounds, 0, "nothing begins before all are there");
    const second = await it.joins();
    await it.said(/has joined: 2 of 2 nodes; the job begins$/);
    await it.goesOn();
    assert.deepEqual([first, second].map(agentOf).map(listeningSockets), [0, 0]);
    process.kill(agentOf(first), "SIGKILL");
    await it.said(/^banyan: rank \d of node \d waits until a node joins: banyan node --join /);
    await it.said(/was given up and comes back: it is refused, and may join as a new node$/);
    await it.said(/has joined, and takes the place of node \d$/);
    const refused = /the job has given this node up and does not take it back; it joins as a new one/;
    await until(() => refused.test(first.stderr), "the node says so, too");
    await it.goesOn();
    await it.ends();
    assert.match(first.stderr, /banyan: the job is over\n$/);
  },
);

test("V9: a spare takes the place of a node that is lost", { ...limit, ...long }, async () => {
  const it = job(["--join-only"]);
  const first = await it.joins();
  await it.joins();
  await it.goesOn();
  const third = await it.joins();
  await it.said(/has joined, and is free$/);
  const lost = /is node (\d)/.exec(first.stderr)![1];
  // The command is killed, and its node with it: nobody comes back.
  first.child.kill("SIGKILL");
  await it.said(new RegExp(`^banyan: process \\d+ at 127\\.0\\.0\\.1 takes the place of node ${lost}$`));
  await until(() => third.stderr.includes(`is node ${lost} of the job`), "the spare says so");
  await it.goesOn();
  await it.ends();
});

test("V9: time passes for a job that waits", limit, async () => {
  const { code, reason } = await launch(talkers, { protocol: "channel-memory", join: { only: true }, timeoutMs: 200 })
    .done;
  assert.deepEqual([code, reason.kind], [124, "timeout"]);
});

test("V9: Ctrl-C ends a job that waits", { ...limit, ...long }, async () => {
  const { run, secret } = job(["--join-only"]);
  await until(() => /waits for 2 nodes/.test(run.stderr), "it waits");
  run.child.kill("SIGINT");
  assert.equal((await run.ended).code, 130, run.stderr);
  run.assertNothingLeft();
  assert(!existsSync(secret));
});

test("V9 X7: a wrong secret, and a node that is of no use, are a line on both sides, and the job goes on", {
  ...limit,
  ...long,
}, async () => {
  const it = job(["--join-only"]);
  await it.joins();
  await it.joins();
  await it.goesOn();
  const wrong = folderOf("wrong");
  const text = readFileSync(it.secret, "utf8");
  writeFileSync(wrong, text.replace(/"secret":"..../, '"secret":"AAAA'), { mode: 0o600 });
  const stranger = await it.joins(wrong);
  assert.equal((await stranger.ended).code, 1);
  assert.match(
    stranger.stderr,
    /^banyan: Cannot join the job at 127\.0\.0\.1:\d+: it does not accept the secret of this node; use the secret file of that job\n$/,
  );
  await it.said(/^banyan: a process at 127\.0\.0\.1 called with a wrong secret, and was shut out$/);
  const poor = new Run(["node", "--join", await it.place(), "--secret-file", it.secret], {
    stdin: "",
    timeoutMs,
    env: { TMPDIR: "/proc/none" },
  });
  it.volunteers.push(poor);
  await it.said(/and is free$/);
  process.kill(agentOf(it.volunteers[0]!), "SIGKILL");
  await it.said(/is not used: it cannot make a folder of its own/);
  assert.equal((await poor.ended).code, 1);
  assert.match(poor.stderr, /banyan: the job cannot use this node: it cannot make a folder of its own/);
  await it.goesOn();
  chmodSync(wrong, 0o644);
  const open = await it.joins(wrong);
  assert.equal((await open.ended).code, 2);
  assert.match(open.stderr, /^banyan: Cannot use the secret file .*: other users can read or change it; chmod 600 /);
  await it.ends();
});

test("V9: a spare that stands still is given up before anybody needs it", { ...limit, ...long }, async () => {
  const it = job(["--listen", "127.0.0.1"]);
  await it.goesOn();
  const spare = await it.joins();
  await it.said(/has joined, and is free$/);
  const { pid } = spare.processes().find(({ name }) => name === "banyan-node spare")!;
  process.kill(pid, "SIGSTOP");
  await it.said(/^banyan: process \d+ at 127\.0\.0\.1 has gone, which was free$/);
  process.kill(pid, "SIGCONT");
  await it.said(/has joined, and is free$/, 2);
  await it.ends();
});

/** The process of the node is stopped, or Ctrl-Z is typed at its command, which stops both. */
const stops: Record<string, (node: Run) => () => void> = {
  "is stopped": (node) => {
    const pid = agentOf(node);
    process.kill(pid, "SIGSTOP");
    return () => process.kill(pid, "SIGCONT");
  },
  "is stopped with its command": (node) => {
    node.child.kill("SIGTSTP");
    return () => node.child.kill("SIGCONT");
  },
};
for (const [what, stop] of Object.entries(stops)) {
  test(`V8 V9: a node that ${what} is given up; when it goes on it gets other work as a new one`, {
    ...limit,
    ...long,
  }, async () => {
    const it = job(["--join-only", "--patience", "1000"]);
    const first = await it.joins();
    await it.joins();
    await it.goesOn();
    await it.joins();
    await it.said(/and is free$/);
    const goOn = stop(first);
    await it.said(/^banyan: node \d \(rank \d\) failed after .*: no sign of life for .*; its ranks go on elsewhere$/);
    await it.said(/takes the place of node \d$/);
    await it.goesOn();
    goOn();
    await it.said(/was given up and comes back: it is refused/);
    await it.said(/has joined, and is free$/, 2);
    await it.goesOn();
    await it.ends();
  });
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`V9: ${signal} to a node: its ranks go elsewhere, and it ends`, { ...limit, ...long }, async () => {
    const it = job(["--join-only"]);
    const first = await it.joins();
    await it.joins();
    await it.goesOn();
    await it.joins();
    await it.said(/and is free$/);
    first.child.kill(signal);
    assert.equal((await first.ended).code, 0, first.stderr);
    await it.said(/^banyan: node \d \(rank \d\) has left after .*; its ranks go on elsewhere$/);
    await it.goesOn();
    await it.ends();
  });
}

/** Says on standard error when it begins at its beginning; goes on until the test says by a file that it may end. */
const solver = program(
  "solver.c",
  `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, end = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d begins\\n", rank);
  for (int round = 1; !end; round++) {
    int may_end = 0;
    if (rank == 0) {
      FILE *file = fopen(argv[1], "r");
      if (file) may_end = round > 20, fclose(file);
      printf("round %d\\n", round);
      fflush(stdout);
    }
    MPI_Allreduce(&may_end, &end, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    double until = MPI_Wtime() + 0.002;
    while (MPI_Wtime() < until);
  }
  printf("rank %d is done\\n", rank);
  MPI_Finalize();
}
`,
);

/** What can happen to a node that has a place; each leaves as many volunteers as there were. */
const fates: Record<string, (it: JoinedJob, node: Run) => Promise<unknown>> = {
  "is killed, and comes back": async (_, node) => process.kill(agentOf(node), "SIGKILL"),
  "is killed with its command": async (it, node) => {
    node.child.kill("SIGKILL");
    await node.ended;
    await it.joins();
  },
  leaves: async (it, node) => {
    node.child.kill("SIGTERM");
    await node.ended;
    await it.joins();
  },
  "is stopped, and goes on": async (it, node) => {
    const pid = agentOf(node);
    const before = it.run.stderr.split("no sign of life").length;
    process.kill(pid, "SIGSTOP");
    await it.said(/no sign of life/, before);
    process.kill(pid, "SIGCONT");
  },
};

test("V8 V9: four nodes come and go at random, three of which are needed", {
  ...timeLimit(400_000),
  ...long,
}, async () => {
  const it = job(["--join-only", "--patience", "1000", "--checkpoint-every", "500ms", "--dir", dirname(solver)], {
    path: solver,
    size: 3,
  });
  for (let i = 0; i < 4; i++) await it.joins();
  const histories: string[] = [];
  let random = 20_261;
  const below = (bound: number): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return (random >>> 8) % bound;
  };
  for (let i = 0; i < 16; i++) {
    await it.goesOn(10);
    const nodes = it.volunteers.filter((each) => each.processes().some(({ name }) => /^banyan-node \d/.test(name)));
    const names = Object.keys(fates);
    const fate = names[below(names.length)]!;
    histories.push(fate);
    await fates[fate]!(it, nodes[below(nodes.length)]!);
  }
  assert.deepEqual([...new Set(histories)].sort(), Object.keys(fates).sort(), "each has happened");
  await it.goesOn(10);
  await it.ends(3);
});

test("V5 V9: ranks in C that leave with their node go on from images that are taken then", {
  ...limit,
  ...long,
}, async () => {
  const it = job(["--join-only", "--dir", dirname(solver)], { path: solver });
  const first = await it.joins();
  await it.joins();
  await it.goesOn(30);
  first.child.kill("SIGTERM");
  assert.equal((await first.ended).code, 0, first.stderr);
  await it.said(/waits until a node joins/);
  await it.joins();
  await it.goesOn();
  await it.ends();
  const beginnings = it.run.stderr.match(/^rank \d begins$/gm) ?? [];
  assert.deepEqual(beginnings.sort(), ["rank 0 begins", "rank 1 begins"]);
});

test("V7 V9: a job that is killed with its command is resumed, and its nodes join again", {
  ...limit,
  ...long,
}, async () => {
  const folder = folderOf("joined-job");
  const it = job(["--join-only", "--job-dir", folder]);
  const nodes = [await it.joins(), await it.joins()];
  await it.goesOn(30);
  for (const { pid } of it.run.processes()) process.kill(pid, "SIGKILL");
  await it.run.ended;
  for (const node of nodes) {
    assert.equal((await node.ended).code, 1);
    assert.match(node.stderr, /banyan: the job at 127\.0\.0\.1:\d+ is gone\n$/);
    node.assertNothingLeft();
  }
  const again = job(["--join-only"], { resumes: folder });
  await again.joins();
  await again.joins();
  await again.goesOn();
  it.mayEnd();
  const { code, stdout, stderr } = await again.run.ended;
  assert.equal(code, 0, stderr);
  // A pipe may get the last lines of the one before twice; all others once.
  const rounds = [...it.run.stdout.split("\n"), ...stdout.split("\n")].filter((line) => line.startsWith("round"));
  const different = new Set(rounds);
  assert.deepEqual(
    [...different],
    Array.from(different, (_, i) => `round ${i + 1}`),
  );
  for (const run of [again.run, ...again.volunteers]) {
    await run.ended;
    run.assertNothingLeft();
  }
});

for (const protocol of ["channel-memory", "logging"]) {
  test(`V9: joined nodes are spares of a job with nodes of its own, under ${protocol}`, {
    ...limit,
    ...long,
  }, async () => {
    const it = job(["--listen", "127.0.0.1"], { protocol });
    await it.said(/^banyan: nodes can join: banyan node --join 127\.0\.0\.1:\d+ /);
    await it.goesOn();
    await it.joins();
    await it.said(/and is free$/);
    process.kill(it.run.nodePid(0), "SIGKILL");
    await it.said(/takes the place of node 0$/);
    await it.goesOn();
    // Nobody is free: the job starts one.
    process.kill(it.run.nodePid(1), "SIGKILL");
    await it.said(/^banyan: node 1 \(rank 1\) failed/);
    await it.goesOn();
    await it.ends();
  });
}

test("V9: a job that can lose nothing lets nobody join, and an address that nobody can call is refused", () => {
  assert.throws(
    () => launch(talkers, { join: {} }),
    /Cannot let nodes join under --protocol none: ranks that it loses do not begin again elsewhere; use --protocol logging or --protocol channel-memory$/,
  );
  const everywhere = { protocol: "logging", host: "0.0.0.0", join: {} };
  assert.throws(() => launch(talkers, everywhere), /Cannot listen on 0\.0\.0\.0: nodes are told that address/);
});
