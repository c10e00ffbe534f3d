/**
 * The fault-simulation layer on real runs: rows U3 and U9, Tests 1 to 11 of the thesis. Everything finer is in src/core/fault-layer, in simulated worlds.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, folderOf, program, runMsMax } from "./harness.ts";
import { long, longUnless, tries } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(runMsMax);

/** Everybody knows the processes of everybody; when the program has seen two deaths they are all there. */
const alive = program(
  "layer-alive.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const pids = world.allgather(Int32Array.of(process.pid));
  if (world.rank === 1 || world.rank === 2) mpi.killMe();
  let error = "";
  try { world.barrier(); } catch (caught) { error = (caught as { className: string }).className; }
  const survivors = world.shrink();
  for (const pid of pids) process.kill(pid, 0);
  const [sum] = survivors.allreduce(Int32Array.of(1), "sum");
  if (world.rank === 0) console.log(error, world.failed().size, sum, new Set(pids).size);
`,
);

test("U3: no process of the operating system ends while the program sees deaths", limit, async () => {
  const { code, stdout, stderr } = await banyan(["run", "-n", "5", "--nodes", "2", "--fault-layer", alive]);
  assert.equal(stdout, "MPI_ERR_PROC_FAILED 2 3 2\n", stderr);
  assert.equal(code, 0);
});

/** Tests 1 to 11, each so many times; `dead` ranks die after the performance tests. */
const tests = resolve("test/programs/c/layer-tests.c");

for (const [what, dead, ...options] of [
  ["some dead, the root alive", "01001", "--fan-out", "2"],
  ["the root and others dead", "10011", "--fan-out", "2"],
  ["others dead, on two nodes", "01110", "--nodes", "2"],
  ["news by broadcasts of the runtime (§5.3.5.2)", "10010", "--background", "ibcast", "--nodes", "2"],
] as const) {
  test(`U9: Tests 1 to 11 on a real run, ${what}`, { ...limit, ...longUnless(dead === "10011") }, async () => {
    const args = ["run", "-n", "5", "--fault-layer", ...options, tests, dead, `${tries(4, 128)}`];
    const { code, stdout, stderr } = await banyan(args);
    const living = [...dead].flatMap((each, rank) => (each === "0" ? [`rank ${rank}: 0 wrong`] : []));
    assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), living, stderr);
    assert.equal(code, 0, stderr);
  });
}

/** Sums until a sum fails, and says in which step; then the survivors go on alone. */
const mortal = program(
  "layer-mortal.c",
  `
  #include <mpi.h>
  #include <mpi-ext.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank, size, step = 0, error, one = 1, sum;
    MPI_Comm survivors;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    do {
      step++;
      error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (!error && step < 1000);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, survivors);
    printf("%d: step %d, %d left\\n", rank, step, sum);
    MPI_Comm_free(&survivors);
    MPI_Finalize();
    return 0;
  }
`,
);

/** The first sum is the fifth call. */
for (const perThread of [1, 2]) {
  const how = perThread === 1 ? "" : ", ranks of one thread";
  test(`U7 §5.3.6: a plan makes processes die in their n-th calls${how}`, {
    ...limit,
    ...longUnless(perThread === 1),
  }, async () => {
    const plan = "layer-kill rank 1 at call 14; layer-kill rank 3 at call 14";
    const threads = ["--ranks-per-thread", `${perThread}`];
    const { code, stdout, stderr } = await banyan([
      "run",
      "-n",
      "5",
      ...threads,
      "--fault-layer",
      "--faults",
      plan,
      mortal,
    ]);
    const living = [0, 2, 4].map((rank) => `${rank}: step 10, 3 left`);
    assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), living, stderr);
    assert.match(stderr, /exit 0; 2 ranks were dead to the program\n/);
    assert.equal(code, 0, stderr);
  });
}

/** All but the first ask until they die, and nothing else lets them out. */
const within = program(
  "layer-within.c",
  `
  #define SIM_FT_PROBABILITY 0.9
  #define SIM_FT_PERIOD 0.01
  #include <MPI-FT.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank, one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    srand(rank);
    while (rank) Sim_FT_decide_kill();
    printf("%d\\n", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_PROC_FAILED);
    MPI_Finalize();
    return 0;
  }
`,
);

test("U7 (5.1): Sim_FT_decide_kill with a probability that grows since it was asked last", {
  ...limit,
  ...long,
}, async () => {
  const { code, stdout, stderr } = await banyan(["run", "-n", "3", "--fault-layer", within]);
  assert.equal(stdout, "1\n", stderr);
  assert.equal(code, 0);
});

/** Rank 1 dies by a condition of its own, and the other one hears of it when the simulated detection time is over. */
const detected = program(
  "layer-detected.c",
  `
  #define SIM_FT_TIMEOUT 300
  #define SIM_FT_CONDITION (me == 1 && step == 3)
  static int me, step;
  #include <MPI-FT.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int error, one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double before;
    do {
      before = MPI_Wtime();
      step++;
      Sim_FT_decide_kill();
      error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (!error);
    printf("%d %d %d\\n", error == MPI_ERR_PROC_FAILED, step, MPI_Wtime() - before > 0.25);
    MPI_Finalize();
    return 0;
  }
`,
);

const detectedScript = program(
  "layer-detected.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  world.barrier();
  const before = mpi.wtime();
  if (world.rank === 1) mpi.killMe(300);
  try { world.barrier(); } catch (caught) {
    console.log((caught as { className: string }).className === "MPI_ERR_PROC_FAILED" ? 1 : 0, 3, mpi.wtime() - before > 0.25 ? 1 : 0);
  }
`,
);

for (const [language, path] of [
  ["C", detected],
  ["TypeScript", detectedScript],
] as const) {
  test(`U3: nobody hears of a death before the simulated detection time is over: ${language}`, limit, async () => {
    const { code, stdout, stderr } = await banyan(["run", "-n", "2", "--fault-layer", path]);
    assert.equal(stdout, "1 3 1\n", stderr);
    assert.equal(code, 0, stderr);
  });
}

/** Goes on with whoever is left, for ever. */
const endless = program(
  "layer-endless.ts",
  `
  import { mpi } from "banyan";
  let comm = mpi.world;
  for (;;) {
    try { comm.barrier(); } catch { comm = comm.shrink(); }
    if (process.argv[2] === "planned" && comm.size === 2) break;
  }
  console.log(mpi.world.rank, mpi.world.failed().size);
`,
);

test("U7 §5.3.6: processes whose lifetimes are over die, all of them, and the job ends well", limit, async () => {
  const args = ["run", "-n", "3", "--nodes", "2", "--fault-layer", "--lifetimes", "weibull:100,20ms", endless];
  const { code, stdout, stderr } = await banyan(args);
  assert.equal(stdout, "", stderr);
  assert.equal(code, 0, stderr);
});

test("U7 §5.3.6: at a time of the plan, a whole node", limit, async () => {
  const plan = "layer-kill node 1 at 20ms";
  const { code, stdout, stderr } = await banyan([
    "run",
    "-n",
    "4",
    "--nodes",
    "2",
    "--fault-layer",
    "--faults",
    plan,
    endless,
    "planned",
  ]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), ["0 2", "1 2"], stderr);
});

test("U7: what only the fault layer has is refused elsewhere, and the other way round", limit, async () => {
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["--faults", "layer-kill rank 0 at 1s"],
      /^banyan: Cannot use the fault plan: entry 1, .*only jobs under --fault-layer.*\n$/,
    ],
    [
      ["--fault-layer", "--faults", "kill rank 0 at 1s"],
      /^banyan: Cannot use the fault plan: entry 1, .*say layer-kill\n$/,
    ],
    [
      ["--lifetimes", "exponential:1s"],
      /^banyan: Cannot give processes lifetimes: only under --protocol fault-layer .*\n$/,
    ],
    [["--bit-flips", "0.1"], /^banyan: Cannot flip bits of messages: only --protocol fault-layer does\n$/],
    [
      ["--fault-layer", "--bit-flips", "2"],
      /^banyan: Cannot flip bits with the probability "2": give a number above 0 and up to 1, such as 1e-9\n$/,
    ],
    [
      ["--fault-layer", "--background", "carrier pigeons"],
      /^banyan: Cannot tell processes of deaths by "carrier pigeons": give tree or ibcast\n$/,
    ],
    [
      ["--fault-layer", "--lifetimes", "normal:1s"],
      /^banyan: Cannot give processes the lifetimes "normal:1s": give .*\n$/,
    ],
  ];
  for (const [options, said] of refusals) {
    const { code, stderr } = await banyan(["run", "-n", "2", ...options, endless]);
    assert.match(stderr, said);
    assert.equal(code, 2);
  }
});

test("U9: banyan sim tells what Tests 1 to 5 cost with the layer and without", limit, async () => {
  const scenario = ["sim", "--fault-layer", "--scenario", "tests-1-to-5"];
  const { code, stdout, stderr } = await banyan([...scenario, "-n", "8"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^8 processes, .*\n(test [1-5] .* without, .* with the layer, .*\n){5}$/);
  for (const [args, said] of [
    [scenario, /: say for how many ranks with -n, 2 or more\n$/],
    [
      ["sim", "-n", "8", "--scenario", "tests-1-to-5"],
      /--protocol none has none of that name; there are tests-1-to-5 /,
    ],
    [
      [...scenario, "-n", "8", mortal],
      /^banyan: Cannot simulate .* with --scenario: a scenario has programs of its own/,
    ],
    [
      ["sim", "-n", "8", "--fault-layer", mortal],
      /^banyan: Cannot simulate .* with --protocol fault-layer: it would run/,
    ],
  ] as const) {
    const refused = await banyan(args);
    assert.match(refused.stderr, said);
    assert.equal(refused.code, 2);
  }
});

test("U5, U6: banyan sim plays a scenario that is written down, compares, and records it", limit, async () => {
  const folder = folderOf("layer-scenarios");
  mkdirSync(folder);
  const path = `${folder}/mine.txt`;
  writeFileSync(path, "world ranks=3\n2 die\n0,1 sum world\n");
  const play = ["sim", "--fault-layer", "--scenario", `@${path}`];
  const first = await banyan(play);
  assert.equal(first.code, 1, first.stderr);
  assert.match(first.stdout, /^2 dies\n(.*\n)*0 sum world: PROC_FAILED\n/m);
  assert.match(first.stderr, /recorded is "nothing more", now it is ".*"; --rewrite records it anew\n$/);
  assert.equal((await banyan([...play, "--rewrite"])).code, 0);
  const again = await banyan(play);
  assert.equal(again.code, 0, again.stderr);
  assert.equal(readFileSync(path, "utf8"), `world ranks=3\n2 die\n0,1 sum world\n----\n${first.stdout}`);
  for (const [args, said] of [
    [
      ["sim", "--scenario", `@${path}`],
      /--protocol none has no scenarios in files; fault-layer and replication have\n$/,
    ],
    [
      ["sim", "--fault-layer", "--scenario", `@${folder}/none.txt`],
      /Cannot read the scenario .*: there is no such file/,
    ],
    [["sim", "--rewrite"], /Cannot use --rewrite: name a file with --scenario @<file>\n$/],
  ] as const) {
    const refused = await banyan(args);
    assert.match(refused.stderr, said);
    assert.equal(refused.code, 2);
  }
});

test("U3: without a fault layer nobody dies for the program alone", limit, async () => {
  const { code, stderr } = await banyan(["run", "-n", "2", alive]);
  assert.match(stderr, /dead to the program alone: the job has no fault layer; run it with --fault-layer/);
  assert.notEqual(code, 0);
});

/** Calls of some ranks only, and files, with rank 3 dead among them; and bits of an array. */
const some = program(
  "layer-some.c",
  `
  #include <MPI-FT.h>
  #include <stdio.h>
  static int rank, wrong = 0;
  static void failed(const char *what, int error) {
    int class = 0;
    MPI_Error_class(error, &class);
    if (class != MPI_ERR_PROC_FAILED) { printf("%d: %s ends with %d\\n", rank, what, class); wrong++; }
  }
  int main(int argc, char **argv) {
    MPI_File file;
    MPI_Comm half, made;
    MPI_Group world, group;
    int members[3] = {0, 1, 3}, bits[64] = {0}, ones = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, members, &group);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    int opened = MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file);
    if (opened) { printf("%d: %s is not open: %d\\n", rank, argv[1], opened); wrong++; }
    if (rank == 3) Sim_FT_kill_me();
    failed("file size", MPI_File_set_size(file, 100));
    failed("file close", MPI_File_close(&file));
    if (rank < 2) failed("group", MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made));
    failed("intercomm", MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 6, &made));
    int flips = Sim_FT_Manipulate_bits(bits, 64, 0.3);
    for (int i = 0; i < 64 * 32; i++) ones += bits[i / 32] >> (i % 32) & 1;
    if (ones != flips || flips < 300 || flips > 1000) wrong++;
    printf("rank %d: %d wrong\\n", rank, wrong);
    MPI_Finalize();
    return 0;
  }
`,
);

test(
  "U5, U8: calls of some ranks, and on files, with a dead one among them; Sim_FT_Manipulate_bits",
  limit,
  async () => {
    const folder = folderOf("layer-files");
    mkdirSync(folder);
    const args = ["run", "-n", "4", "--fault-layer", "--dir", folder, some, `${folder}/file.bin`];
    const { code, stdout, stderr } = await banyan(args);
    const living = [0, 1, 2].map((rank) => `rank ${rank}: 0 wrong`);
    assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), living, stderr);
    assert.equal(code, 0, stderr);
  },
);

test("U6: persistent, partitioned and generalised requests, with a dead one among their peers", limit, async () => {
  const requests = resolve("test/programs/c/layer-requests.c");
  const { code, stdout, stderr } = await banyan(["run", "-n", "3", "--nodes", "2", "--fault-layer", requests]);
  const living = [0, 2].map((rank) => `rank ${rank}: 2 left, 0 wrong`);
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), living, stderr);
  assert.equal(code, 0, stderr);
});

/** Rank 1 dies with requests of every kind under way: in life it would have had to wait for them. */
const unfinished = program(
  "layer-unfinished.c",
  `
  #include <MPI-FT.h>
  #include <stdio.h>
  #include <stdlib.h>
  int main(int argc, char **argv) {
    int rank, one = 1, sum = 0, n = 1 << 20;
    MPI_Request requests[4];
    MPI_Comm survivors;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
      char *much = malloc(n);
      MPI_Irecv(much, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(much, n, MPI_CHAR, 2, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
      MPI_Recv_init(much, n, MPI_CHAR, 2, 3, MPI_COMM_WORLD, &requests[3]);
      MPI_Start(&requests[3]);
      Sim_FT_kill_me();
    }
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, survivors);
    if (rank == 0) printf("%d left\\n", sum);
    MPI_Comm_free(&survivors);
    MPI_Finalize();
    return 0;
  }
`,
);

for (const nodes of [1, 2]) {
  test(`U6 §5.3.10: a process dies with requests under way, and the job ends well, nodes: ${nodes}`, {
    ...limit,
    ...longUnless(nodes === 2),
  }, async () => {
    const { code, stdout, stderr } = await banyan([
      "run",
      "-n",
      "3",
      "--nodes",
      `${nodes}`,
      "--fault-layer",
      unfinished,
    ]);
    assert.equal(stdout, "2 left\n", stderr);
    assert.equal(code, 0, stderr);
  });
}

/** Rank 1 counts the bits that have flipped on the way. */
const flipped = program(
  "layer-flipped.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const words = new Int32Array(4096);
  if (world.rank === 0) {
    world.send(words, { dest: 1 });
    if (words.some((word) => word !== 0)) throw new Error("the sender's own words have changed");
    const own = new Uint8Array(100);
    if (mpi.flipBits(own, 1) !== 800 || own.some((byte) => byte !== 255)) throw new Error("not all bits are flipped");
  } else {
    world.recv(words, { source: 0 });
    const ones = words.reduce((sum, word) => sum + (word >>> 0).toString(2).replaceAll("0", "").length, 0);
    console.log(ones);
  }
`,
);

test(
  "U8 §5.4: --bit-flips flips bits of messages, the same ones with the same seed, and the summary counts them",
  limit,
  async () => {
    const args = ["run", "-n", "2", "--fault-layer", "--bit-flips", "1e-3", "--faults", "seed 7", flipped];
    const first = await banyan(args);
    const ones = Number(first.stdout);
    // 131 on average.
    assert(ones > 60 && ones < 220, first.stdout + first.stderr);
    assert.match(first.stderr, new RegExp(`exit 0; ${ones} bits of messages flipped\\n`));
    assert.equal((await banyan(args)).stdout, first.stdout);
  },
);
