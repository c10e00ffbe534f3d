/** Waits that nothing can end, and tables of waiting ranks. Rows M7 and M8. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messages, program, Run, type StartOptions, until } from "./harness.ts";
import { longUnless } from "./long.ts";

const patient: StartOptions = { stdin: "", timeoutMs: 60_000 };

const early = program(
  "early.c",
  `#include <mpi.h>
  #include <stdlib.h>
  int main(int argc, char **argv) {
    int rank, x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) exit(0);
    MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
  }`,
);

const inC = / waits in MPI_Recv for rank 0 \(tag 5, MPI_COMM_WORLD\), which has ended without MPI_Finalize/;
const inTypeScript = / waits in recv for rank 0 \(tag 5, world\), which has come to the end of its program/;

const blocked = program(
  "blocked.ts",
  `import { mpi } from "banyan";
  if (mpi.world.rank !== 0) mpi.world.recv(new Int32Array(1), { source: 0, tag: 5 });`,
);
const awaiting = program(
  "awaiting.ts",
  `import { mpi } from "banyan";
  if (mpi.world.rank !== 0) await mpi.world.irecv(new Int32Array(1), { source: 0, tag: 5 });`,
);

for (const [name, words, expected] of [
  ["C", ["--ranks-per-thread", "1", early], inC],
  ["C in turns", ["--ranks-per-thread", "3", early], inC],
  ["C on two nodes", ["--nodes", "2", early], inC],
  ["C under logging", ["--nodes", "2", "--protocol", "logging", early], inC],
  ["TypeScript", [blocked], inTypeScript],
  ["TypeScript that awaits, on two nodes", ["--nodes", "2", awaiting], inTypeScript],
  ["TypeScript under logging", ["--nodes", "2", "--protocol", "logging", awaiting], inTypeScript],
] as const) {
  const isTheOne = name === "C in turns" || name === "C under logging" || name === "TypeScript";
  test(`M8: a rank that waits for one whose program is over ends the job: ${name}`, longUnless(isTheOne), async () => {
    const { code, stderr } = await new Run(["run", "-n", "3", ...words], patient).ended;
    assert.equal(code, 1, stderr);
    assert.match(messages(stderr)[0]!, expected);
    assert.match(messages(stderr)[0]!, /another rank waits as well$/);
  });
}

for (const protocol of ["none", "logging"]) {
  test(`M8: a rank that ends without MPI_Finalize, for which nobody waits, is told of at the end: ${protocol}`, async () => {
    const forgets = program(
      "forgets.c",
      `#include <mpi.h>
      #include <stdio.h>
      int main(int argc, char **argv) {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank != 1) return 0;
        MPI_Finalize();
        printf("rank %d is done\\n", rank);
        return 0;
      }`,
    );
    const run = new Run(["run", "-n", "3", "--nodes", "2", "--protocol", protocol, forgets], patient);
    const { code, stdout, stderr } = await run.ended;
    assert.equal(stdout, "rank 1 is done\n");
    assert.equal(
      messages(stderr)[0],
      "banyan: ranks 0 and 2 ended without MPI_Finalize; call it before the program ends",
    );
    assert.equal(code, 1);
  });
}

const standing = program(
  "standing.c",
  `#include <mpi.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank, x;
    MPI_Comm row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Comm_set_name(row, "row");
    if (rank == 0) { printf("here\\n"); fflush(stdout); for (;;) ; }
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 7, row, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 3) {
      MPI_Request requests[2];
      MPI_Irecv(&x, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
  }`,
);

/** The lines of the table for ranks 0 to 3, times cut off. */
function rowsOf(stderr: string): string[] {
  const lines = stderr.split("\n").filter((line) => /^ {2}\d+ /.test(line));
  return lines.map((line) => line.trim().replace(/ +\d+\.\d+ s$/, ""));
}

const expectedRows = [
  /^0 +0 +computing$/,
  /^1 +0 +waiting +MPI_Recv +rank 0 +7 +row$/,
  /^2 +1 +waiting +MPI_Barrier +(rank \d|other members) +MPI_COMM_WORLD$/,
  /^3 +1 +waiting +MPI_Waitall +rank 2 \(first of 2 requests\) +1 +MPI_COMM_WORLD$/,
];

function assertTable(stderr: string): void {
  const rows = rowsOf(stderr).slice(-4);
  for (const [i, expected] of expectedRows.entries()) assert.match(rows[i] ?? "", expected, stderr);
}

/** Waits until SIGQUIT shows the table that is expected: the ranks need some time to get there. */
async function quitUntilAllWait(run: Run): Promise<void> {
  await run.printed("here");
  await until(() => {
    const rows = rowsOf(run.stderr).slice(-4);
    if (rows.length === 4 && expectedRows.every((expected, i) => expected.test(rows[i]!))) return true;
    run.child.kill("SIGQUIT");
    return false;
  }, "the table of waiting ranks");
}

test("M8: SIGQUIT prints where every rank is, and the job goes on; Ctrl-C prints it again", async () => {
  const run = new Run(["run", "-n", "4", "--nodes", "2", "--ranks-per-thread", "1", standing], patient);
  await quitUntilAllWait(run);
  assert.equal(run.child.exitCode, null);
  run.child.kill("SIGINT");
  const { code, stderr } = await run.ended;
  assert.equal(code, 130);
  assertTable(stderr.slice(stderr.indexOf("interrupted")));
  run.assertNothingLeft();
});

test("M8: a rank that shares its thread with one that computes is shown as waiting", async () => {
  const run = new Run(["run", "-n", "2", "--ranks-per-thread", "2", standing], patient);
  await run.printed("here");
  await until(() => {
    if (/^ {2}1 +0 +waiting/m.test(run.stderr)) return true;
    run.child.kill("SIGQUIT");
    return false;
  }, "rank 1 waits");
  run.child.kill("SIGINT");
  await run.ended;
});

test("M8: a timeout prints where every rank is", async () => {
  const { code, stderr } = await new Run(["run", "-n", "2", "--timeout", "3", standing], patient).ended;
  assert.equal(code, 124);
  assert.match(stderr, /the job's time is over\nbanyan: where the ranks are after .*:\n {2}rank +node +state/);
  assert.deepEqual(
    rowsOf(stderr).map((row) => row.slice(0, 1)),
    ["0", "1"],
  );
});

test("M8: a node that does not answer within a second is shown as such", async () => {
  const run = new Run(["run", "-n", "4", "--nodes", "2", "--patience", "60000", standing], patient);
  await run.printed("here");
  process.kill(run.nodePid(1), "SIGSTOP");
  run.child.kill("SIGINT");
  const { stderr } = await run.ended;
  // It may have had no core just then.
  assert.match(stderr, /^ {2}0 +0 +(computing|waiting, or for its turn)/m);
  assert.match(stderr, /^ {2}3 +1 +its node does not answer/m);
});
