/** What people see on a terminal: through a real pseudo-terminal, which Python opens. Row M7. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { program, Run } from "./harness.ts";

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
