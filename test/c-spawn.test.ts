/** Processes that programs in C start while the job runs: MPI 5.0 chapter 11. Row M6. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { launch } from "banyan";
import { banyan, folderOf, newFolder, program, sorted } from "./harness.ts";
import { long, longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const spawn = resolve("test/programs/c/spawn.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 60_000 };

const run = (...args: string[]) => banyan(["run", ...args], patient);

for (const [ranks, nodes] of [
  [2, 1],
  [4, 3],
] as const) {
  const size = ["-n", `${ranks}`, "--nodes", `${nodes}`];
  for (const [what, title] of [
    ["talk", "§11.8.2 parents and children: messages, collectives, a merge, disconnecting"],
    ["grandchildren", "§11.8.2 children spawn children"],
    ["alone", "§11.8.2 every rank spawns for itself, all at once, one spawn after the other"],
    ["missing", "§11.8.2 a missing command and too many processes are MPI_ERR_SPAWN, and the job goes on"],
    ["disconnect", "§11.10.4 children that disconnect have no parent any more"],
    ["stay", "§11.2.2 everybody comes to an end without disconnecting"],
  ] as const) {
    // Where the children are matters to those that speak with them.
    const isTheOne = what === "talk" && nodes === 3;
    test(`M6 ${title}; ${ranks} ranks on ${nodes} nodes`, longUnless(isTheOne), async () => {
      const { code, stdout, stderr } = await run(...size, spawn, what);
      assert.equal(stdout, "good\n", stderr);
      assert.equal(code, 0, stderr);
    });
  }
}

test("M6 §11.8.3 several commands: one world, MPI_APPNUM, arguments without the program's name", async () => {
  const { code, stdout, stderr } = await run("-n", "2", spawn, "numbered");
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ["app 0, 0 of 3, one", "app 1, 1 of 3, a b", "app 1, 2 of 3, a b", "good"]);
});

test("M6 §11.8.2 an error in a spawn is the error handler's, and says what is missing", async () => {
  const { code, stderr } = await run("-n", "2", spawn, "fatal");
  assert.equal(code, 53, stderr);
  assert.match(stderr, /Cannot spawn processes: there is no nowhere, nowhere\.wasm or nowhere\.c here/);
});

test("M6 spawned ranks have labels of their own", async () => {
  const { code, stdout, stderr } = await run("--label", "-n", "2", spawn, "print");
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ["[0] good", "[1:0] child 0 of 2", "[1:1] child 1 of 2"]);
});

for (const [what, wanted, words] of [
  ["exit", 7, /spawned rank 1:1 on node 0 .*exited with code 7/],
  ["abort", 9, /spawned rank 1:1 on node 0 .*MPI_Abort/],
  ["trap", 132, /spawned rank 1:1 on node 0 .*SIGILL: a trap instruction/],
  ["silent", 1, /spawned rank 1:[01] on node 0 .*without MPI_Init/],
] as const) {
  const when = longUnless(what === "exit");
  test(`M6 a child that ends by ${what} ends the job, and the message says how`, when, async () => {
    const { code, stderr } = await run("-n", "2", spawn, what);
    assert.equal(code, wanted, stderr);
    assert.match(stderr, words);
  });
}

test("M6 §11.2.2 MPI_Finalize waits for those who are connected by a spawn: nobody is cut short", async () => {
  const { code, stdout, stderr } = await run("-n", "2", "--nodes", "2", spawn, "sleep");
  assert.equal(code, 5, stderr);
  assert.deepEqual(sorted(stdout), ["child 0 slept", "child 1 slept", "good"]);
});

/** Spawns its first argument, in the folder of its second. */
const starter = `#include <mpi.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    MPI_Comm inter;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    if (argc > 2) MPI_Info_set(info, "wdir", argv[2]);
    MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&inter);
    return MPI_Finalize();
  }`;

const worker = (name: string) => `#include <mpi.h>
  #include <stdio.h>
  int main(int argc, char **argv) {
    int rank;
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    FILE *file = rank == 0 ? fopen("spawned.txt", "r+") : NULL;
    if (file != NULL) fprintf(file, "here"), fclose(file);
    printf("${name} %d %d\\n", rank, argc);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
  }`;

test(
  "M6 §11.8.2 the command: another source, a module, a name without its extension, in a folder that wdir names",
  long,
  async () => {
    const path = program("spawning/starter.c", starter);
    const folder = dirname(path);
    program("spawning/plain.c", worker("plain"));
    program("spawning/plus.cpp", worker("plus"));
    const note = program("spawning/spawned.txt", "");
    const made = await banyan(["cc", `${folder}/plain.c`, "-o", `${folder}/made.wasm`], patient);
    assert.equal(made.code, 0, made.stderr);
    for (const [command, name] of [
      [`${folder}/plain.c`, "plain"],
      ["plain", "plain"],
      ["./plus.cpp", "plus"],
      ["made", "plain"],
    ] as const) {
      const { code, stdout, stderr } = await run("--dir", folder, path, command, folder);
      assert.equal(code, 0, `${command}: ${stderr}`);
      assert.deepEqual(sorted(stdout), [`${name} 0 1`, `${name} 1 1`]);
    }
    assert.equal(readFileSync(note, "utf8"), "here");
    const outside = await run("--dir", folder, path, "plain", "/");
    assert.equal(outside.code, 53);
    assert.match(outside.stderr, /none of the folders that the program is given; give it with --dir/);
  },
);

test("M6 §11.8.2 a command that does not compile, or is no program in C, is MPI_ERR_SPAWN", async () => {
  const path = program("spawning/starter.c", starter);
  program("spawning/broken.c", "int main(void) { return nothing; }");
  program("spawning/script.ts", "export {};");
  const broken = await run(path, "broken");
  assert.equal(broken.code, 53);
  assert.match(broken.stderr, /broken\.c: it does not compile/);
  const script = await run(path, "script.ts");
  assert.equal(script.code, 53);
  assert.match(script.stderr, /script\.ts is not a program in C or C\+\+/);
});

test("M6 a job that has spawned processes cannot be frozen: it says so and goes on", timeLimit(60_000), async () => {
  const folder = newFolder("spawned");
  const enough = join(folder, "enough");
  const job = launch(spawn, {
    ranks: 2,
    args: ["frozen", enough],
    folders: [".", folder],
    jobFolder: join(folder, "job"),
  });
  const lines: string[] = [];
  const notes: string[] = [];
  for await (const event of job) {
    if (event.kind === "line") {
      lines.push(event.text);
      if (event.text === "child 0 of 2") job.freeze();
    } else if (event.kind === "note") {
      notes.push(event.message);
      writeFileSync(enough, "");
    }
  }
  assert.equal((await job.done).code, 0);
  assert.match(notes.join("\n"), /^the job cannot be frozen and goes on: it has spawned processes/);
  assert.deepEqual(lines.sort(), ["child 0 of 2", "child 1 of 2", "good"]);
});

test("M6 a job that is frozen while the program of a spawn compiles spawns when it is thawed", long, async () => {
  const path = program("spawning/starter.c", starter);
  // Never compiled before: it takes a while.
  program("spawning/fresh.c", `/* ${randomUUID()} */ ${worker("fresh")}`);
  const folder = folderOf("spawning-job");
  const frozen = await run("-n", "2", "--freeze-at", "100ms", "--job-dir", folder, path, "fresh");
  assert.match(frozen.stderr, /frozen; go on with/);
  assert.equal(frozen.stdout, "");
  const { code, stdout, stderr } = await banyan(["thaw", folder], patient);
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ["fresh 0 1", "fresh 1 1"]);
});

for (const what of ["talk", "alone"]) {
  test(`M6 §11.8.2 ranks that share a thread spawn others: ${what}`, longUnless(what === "alone"), async () => {
    const { code, stdout, stderr } = await run("-n", "3", "--ranks-per-thread", "3", spawn, what);
    assert.equal(stdout, "good\n", stderr);
    assert.equal(code, 0, stderr);
  });
}

test("M6 where nobody can be spawned MPI_Comm_spawn says so: logging, simulated ranks", async () => {
  const logged = await run("-n", "2", "--protocol", "logging", spawn, "talk");
  assert.equal(logged.code, 55, logged.stderr);
  assert.match(logged.stderr, /Cannot spawn processes: protocol logging .*MPI_ERR_UNSUPPORTED_OPERATION/);
  const simulated = await banyan(["sim", "-n", "2", spawn, "talk"], patient);
  assert.equal(simulated.code, 55, simulated.stderr);
  assert.match(simulated.stderr, /Cannot spawn processes: a simulated world .*MPI_ERR_UNSUPPORTED_OPERATION/);
});
