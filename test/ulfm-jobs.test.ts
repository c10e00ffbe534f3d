/** Protocol ulfm, the job around the program: deaths while it starts and ends, standard input, the result, freezing, spawned processes. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { banyan, folderOf, newFolder, program, Run, sorted, until } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";
import { listeningNode, nodesOf, stopIn } from "./starting-nodes.ts";

const limit = timeLimit(180_000);
const patient = { stdin: "", timeoutMs: 90_000 };
/** A window of milliseconds may be over before a busy machine lets the test look. */
const triesMax = 20;

const ulfm = (ranks: number, nodes: number, ...more: string[]): string[] => [
  "run",
  "-n",
  `${ranks}`,
  "--nodes",
  `${nodes}`,
  "--protocol",
  "ulfm",
  ...more,
];

/** Rank r asks each of the others for a message, and says of whom it got an error. */
const meeting = program(
  "ulfm-meeting.c",
  `
  #include <mpi.h>
  #include <mpi-ext.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank, size, dead = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step < size; step++) {
      int to = (rank + step) % size, from = (rank + size - step) % size, got = -1, class;
      MPI_Request request;
      MPI_Isend(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD, &request);
      int error = MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Error_class(error, &class);
      if (error == 0 && got == from) continue;
      printf("rank %d: rank %d has %s\\n", rank, from, class == MPIX_ERR_PROC_FAILED ? "failed" : "erred");
    }
    MPI_Finalize();
  }
`,
);

/** What ranks say when those are dead. */
function reports(ranks: number, dead: readonly number[]): string[] {
  const all = Array.from({ length: ranks }, (_, rank) => rank);
  const alive = all.filter((rank) => !dead.includes(rank));
  return alive.flatMap((rank) => dead.map((lost) => `rank ${rank}: rank ${lost} has failed`)).sort();
}

async function metWithout(run: Run, ranks: number, dead: readonly number[]): Promise<void> {
  const { code, stdout, stderr } = await run.ended;
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), reports(ranks, dead), stderr);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /(\d) ranks? failed, and the program went on\n$/);
  run.assertNothingLeft();
}

/** A run in which that node is stopped in that phase. */
async function startHolding(args: string[], node: number, phase: "nameless" | "named"): Promise<[Run, number]> {
  for (let i = 0; i < triesMax; i++) {
    const run = new Run(args, patient);
    const pid = await stopIn(run, phase, (all) =>
      all.every((it) => it.node === null) ? all[node] : all.find((it) => it.node === node),
    );
    if (pid !== undefined) return [run, pid];
    run.child.kill("SIGKILL");
    await run.ended;
  }
  throw new Error(`node ${node} was never seen when it was ${phase}`);
}

for (const phase of ["nameless", "named"] as const) {
  for (const node of phase === "named" ? [2] : [0, 1]) {
    test(`U1 start: node ${node} of 3 is killed ${phase}, and is a failed member from the start`, {
      ...limit,
      ...longUnless(node === 0),
    }, async () => {
      const [run, pid] = await startHolding([...ulfm(3, 3), meeting], node, phase);
      process.kill(pid, "SIGKILL");
      await metWithout(run, 3, [node]);
    });
  }
}

test(
  "U1 start: a node is killed that listens and has been told nothing, and so is one without a name",
  limit,
  async () => {
    const [run, held] = await startHolding([...ulfm(4, 4), meeting], 3, "nameless");
    const [first] = await Promise.all([0, 1, 2].map((node) => listeningNode(run, node)));
    process.kill(first!, "SIGKILL");
    await until(() => nodesOf(run).every(({ pid }) => pid !== first), "the first node is gone");
    process.kill(held, "SIGKILL");
    await metWithout(run, 4, [0, 3]);
  },
);

for (const rank of [0, 2]) {
  test(`U1 start: rank ${rank} dies inside MPI_Init, and the others' MPI_Init succeeds`, {
    ...limit,
    ...longUnless(rank === 0),
  }, async () => {
    const run = new Run([...ulfm(3, 3, "--faults", `kill rank ${rank} at init`), meeting], patient);
    await metWithout(run, 3, [rank]);
  });
}

test("U1 start: a fault plan begins although a rank is dead before its start", { ...limit, ...long }, async () => {
  const [run, pid] = await startHolding([...ulfm(3, 3, "--faults", "kill node 2 at 1ms"), meeting], 0, "nameless");
  process.kill(pid, "SIGKILL");
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /fault plan: (killed node 2|would have killed node 2, which is gone), /);
});

const finalizing = program(
  "ulfm-finalizing.c",
  `
  #include <mpi.h>
  #include <stdio.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d\\n", rank);
    fflush(stdout);
    if (rank == 2) for (;;) sleep(1);
    MPI_Finalize();
    printf("over\\n");
    return 0;
  }
`,
);

test("U1 end: MPI_Finalize returns at all survivors when a rank dies that has not come to it", limit, async () => {
  const run = new Run([...ulfm(4, 2), finalizing], patient);
  await run.printed("rank", 4);
  process.kill(run.nodePid(1), "SIGKILL");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/over/g)?.length, 2, stdout);
});

const careless = program(
  "ulfm-careless.c",
  `
  #include <mpi.h>
  #include <stdlib.h>
  int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }
`,
);

test("U1 errors: by default a call that needs the dead ends the job, with a line that says so", limit, async () => {
  const { code, stderr } = await banyan([...ulfm(3, 3), careless], patient);
  assert.notEqual(code, 0);
  assert.match(stderr, /rank 1 on node 1 failed after .*: exited with code 3/);
  assert.match(
    stderr,
    /rank [02] on node [02] aborted the job after .*PROC_FAILED in MPI_Barrier; errors of communicator "MPI_COMM_WORLD" are fatal/,
  );
});

const reading = program(
  "ulfm-reading.c",
  `
  #include <mpi.h>
  #include <mpi-ext.h>
  #include <stdio.h>
  #include <signal.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank;
    char line[4] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
      read(0, line, 3);
      printf("rank 0 read %s\\n", line);
      fflush(stdout);
      raise(SIGKILL);
    }
    int none = read(0, line, 3);
    MPI_Recv(line, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int some = read(0, line, 3);
    if (rank == 1) printf("rank 1 read %d before, then %.3s\\n", none, line);
    else printf("rank %d read %d\\n", rank, some);
    MPI_Finalize();
  }
`,
);

test("U1 input: when rank 0 is dead, standard input is that of the first rank that lives", limit, async () => {
  const run = new Run([...ulfm(3, 3), reading], { timeoutMs: 90_000 });
  run.child.stdin!.write("abc");
  await run.printed("rank 0 read abc");
  run.child.stdin!.end("def");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /rank 1 read 0 before, then def/);
  assert.match(stdout, /rank 2 read 0/);
});

test("U1 result: that of the first rank that lives", limit, async () => {
  const results = program(
    "ulfm-results.ts",
    `
    import { mpi } from "banyan";
    const { rank } = mpi.world;
    mpi.result("of rank " + rank);
    if (rank < 2) process.exit(3);
  `,
  );
  const { code, result } = await launch(results, { ranks: 4, nodes: 4, protocol: "ulfm" }).done;
  assert.equal(code, 0);
  assert.equal(result, "of rank 2");
});

const looping = program(
  "ulfm-looping.c",
  `
  #include <mpi.h>
  #include <mpi-ext.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank, error = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double until = MPI_Wtime() + atof(argv[1]);
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int go = 1; go;) {
      int late = MPI_Wtime() < until, any = 0;
      usleep(1000);
      if (MPI_Allreduce(&late, &any, 1, MPI_INT, MPI_MAX, comm)) {
        MPIX_Comm_revoke(comm);
        MPIX_Comm_shrink(comm, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      } else go = any;
    }
    if (rank == 0) printf("over\\n");
    MPI_Finalize();
  }
`,
);

for (const threads of ["1", "4"]) {
  test(`U1 freezing: after a death the job says that it cannot be frozen, and goes on: ${threads} ranks a thread`, {
    ...limit,
    ...longUnless(threads === "4"),
  }, async () => {
    const freezing = [
      "--freeze-at",
      "1500ms",
      "--job-dir",
      folderOf(`frozen-${threads}`),
      "--ranks-per-thread",
      threads,
    ];
    const args = [...ulfm(4, 2, ...freezing, "--faults", "kill node 1 at 300ms"), looping, "2.5"];
    const { code, stdout, stderr } = await banyan(args, patient);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "over\n");
    assert.match(stderr, /the job cannot be frozen and goes on: rank 2 is dead, and there is no image of it/);
  });
}

/** Rank 3 computes, so that the others stand still for the image; then a node dies, and all go on. */
const busy = program(
  "ulfm-busy.c",
  `
  #include <mpi.h>
  #include <mpi-ext.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank, class;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    volatile double x = 0;
    if (rank == 3) {
      printf("busy\\n");
      fflush(stdout);
      for (;;) x += 1;
    }
    int error = MPI_Recv(&class, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &class);
    printf("rank %d: %s\\n", rank, class == MPIX_ERR_PROC_FAILED ? "failed" : "no");
    MPI_Finalize();
  }
`,
);

for (const ranksPerThread of [1, 2]) {
  test(`U1 freezing: a death while the others stand still lets them go on: ${ranksPerThread} ranks a thread`, {
    ...limit,
    ...long,
  }, async () => {
    const jobFolder = folderOf(`held-${ranksPerThread}`);
    const job = launch(busy, { ranks: 4, nodes: 2, protocol: "ulfm", jobFolder, ranksPerThread });
    let pids: readonly number[] = [];
    const said: string[] = [];
    const lines: string[] = [];
    for await (const event of job) {
      if (event.kind === "started") pids = event.pids;
      else if (event.kind === "line" && event.text === "busy") job.freeze();
      else if (event.kind === "line") lines.push(event.text);
      else if ("message" in event) said.push(event.message);
      if (event.kind === "note" && event.message.startsWith("freezing: ")) process.kill(pids[1]!, "SIGKILL");
    }
    const { code } = await job.done;
    assert.equal(code, 0, said.join("\n"));
    assert.deepEqual(lines.sort(), ["rank 0: failed", "rank 1: failed"]);
    assert.match(said.join("\n"), /the job could not be frozen and goes on: rank [23] has died/);
  });
}

for (const nodes of [[1], [0]]) {
  test(`U2 spawn: the survivors of node ${nodes.join()} start as many again, which know the deaths`, {
    ...limit,
    ...longUnless(nodes[0] === 0),
  }, async () => {
    const run = new Run([...ulfm(6, 3), resolve("test/programs/c/respawn.c")], patient);
    await run.printed("at work");
    for (const pid of nodes.map((node) => run.nodePid(node))) process.kill(pid, "SIGKILL");
    const { code, stdout, stderr } = await run.ended;
    assert.equal(stdout, "at work\n6 ranks, sum 15, agreed on 1\n", stderr);
    assert.equal(code, 0, stderr);
    run.assertNothingLeft();
  });
}

test("U1 files: a death outside of a file's group does not concern its shared pointer", limit, async () => {
  const folder = newFolder("ulfm-files");
  const shared = resolve("test/programs/c/shared-deaths.c");
  const args = [...ulfm(4, 4, "--dir", folder), shared, `${folder}/one`, `${folder}/other`];
  const { code, stdout, stderr } = await banyan(args, patient);
  assert.equal(code, 0, stderr);
  assert.equal(sorted(stdout).slice(0, 2).join(), "rank 0: wrote,rank 1: wrote", stdout);
});
