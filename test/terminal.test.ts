/** What people see on a terminal: through a real pseudo-terminal, which Python opens. Row M7. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { banyan, newFolder, program, Run } from "./harness.ts";

const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;
const needsPython = hasPython ? {} : { skip: "there is no python3 here, which opens the terminal" };

/** Runs a command with a terminal for all of its streams, and passes on what the terminal shows. */
const terminal = program(
  "terminal.py",
  `import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))
sys.exit(os.waitstatus_to_exitcode(status))`,
);

test("M7: on a terminal the summary starts on a line of its own", needsPython, async () => {
  const path = program("prompt.ts", `process.stdout.write("no line end");`);
  const command = ["python3", terminal, process.execPath, "bin/banyan.js"];
  const { code, stdout } = await new Run(["run", path], { stdin: "", command, timeoutMs: 60_000 }).ended;
  assert.equal(code, 0, stdout);
  assert.match(stdout, /no line end\r\nbanyan: 1 rank on 1 node, /);
});

test("M7: in a pipe the program's output is not touched", async () => {
  const path = program("prompt.ts", `process.stdout.write("no line end");`);
  const { stdout } = await new Run(["run", path], { stdin: "" }).ended;
  assert.equal(stdout, "no line end");
});

const command = ["python3", terminal, process.execPath, "bin/banyan.js"];
const patient = { command, timeoutMs: 120_000 };

const escapeCode = String.fromCharCode(27);
const sequences = new RegExp(`${escapeCode}\\[\\d*[mK]`, "g");

/** The lines that stay on a terminal, which understands no more than what the status line uses. */
function screenOf(text: string): string[] {
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => {
      const last = line.split("\r").at(-1)!;
      return last.replaceAll(sequences, "");
    });
}

const terminals = program(
  "terminals.c",
  `#include <mpi.h>
  #include <stdio.h>
  #include <unistd.h>
  int main(int argc, char **argv) {
    int rank, word = 0;
    char name[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
      printf("%d %d %d\\n", isatty(0), isatty(1), isatty(9));
      if (scanf("%99s", name) == 1) word = 1;
      MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
      printf("unfinished ");
      fflush(stdout);
      MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("line %d\\n", word);
    }
    return MPI_Finalize();
  }`,
);

test("M10: on a terminal isatty says so, and an unfinished line that is flushed is seen", needsPython, async () => {
  const run = new Run(["run", "-n", "2", terminals], patient);
  await run.printed("1 1 0");
  await run.printed("unfinished ");
  run.child.stdin!.end("Ada\n");
  const { code, stdout } = await run.ended;
  assert.equal(code, 0, stdout);
  assert.match(stdout, /line 1/);
});

test("M10: in a pipe isatty says that it is none", async () => {
  const { stdout, stderr } = await banyan(["run", "-n", "2", terminals], { stdin: "Ada\n", timeoutMs: 120_000 });
  assert.deepEqual(stdout.split("\n").sort(), ["", "0 0 0", "unfinished line 1"], stderr);
});

test(
  "M10: while a program prints nothing its terminal shows how it gets on, and nothing of that stays",
  needsPython,
  async () => {
    const folder = newFolder("watched");
    const path = program(
      "watched.ts",
      `import { existsSync } from "node:fs";
    const waiting = setInterval(() => {
      if (!existsSync(${JSON.stringify(join(folder, "go"))})) return;
      clearInterval(waiting);
      console.log("done", process.stdout.isTTY);
    }, 20);`,
    );
    const run = new Run(["run", "-n", "1", path], { ...patient, stdin: "" });
    await run.printed("banyan: 1 rank on 1 node · ");
    writeFileSync(join(folder, "go"), "");
    const { code, stdout } = await run.ended;
    const [done, summary, ...rest] = screenOf(stdout);
    assert.deepEqual([code, done, rest], [0, "done true", [""]], stdout);
    assert.match(summary ?? "", /^banyan: 1 rank on 1 node, .*, exit 0$/);
  },
);
