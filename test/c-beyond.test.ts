/** What a C program hands over that reaches beyond its memory, in real jobs, row X8. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan, inFolder, messages, newFolder } from "./harness.ts";

const beyond = resolve("test/programs/c/beyond.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 240_000 };

for (const [ranks, nodes, calls] of [
  [2, 1, "koffi"],
  [2, 2, "koffi"],
  [2, 2, "wasi"],
  [4, 2, "koffi"],
] as const) {
  const where = `${ranks} ranks on ${nodes} node${nodes === 1 ? "" : "s"}, sockets by ${calls}`;
  test(`X8: messages beyond the end of memory are MPI_ERR_BUFFER and nothing else happens, ${where}`, async () => {
    const env = { BANYAN_SOCKET_CALLS: calls };
    const { code, stdout, stderr } = await banyan(["run", "-n", `${ranks}`, "--nodes", `${nodes}`, beyond], {
      ...patient,
      env,
    });
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}

const mistakes = resolve("test/programs/c/mistakes.c");

test("X8: a trap in a function that MPI has called is reported with the call", async () => {
  const { code, stderr } = await banyan(["run", "-n", "2", mistakes, "trap"], patient);
  assert.equal(code, 132, stderr);
  assert.match(
    stderr,
    /rank \d .*: SIGILL: a trap instruction: .* in traps\n {4}at traps\n {4}at MPI_Allreduce\n {4}at main\n/,
  );
});

test("X8: a recursion without end is reported with its functions", async () => {
  const { code, stderr } = await banyan(["run", mistakes, "deep"], patient);
  assert.match(
    stderr,
    /^banyan: rank 0 .*: SIGSEGV: the stack is used up: .* in deep\n {4}at deep\n {4}… and \d+ more of the same\n/,
  );
  assert.equal(code, 139);
});

test("X8: MPI_Finalize in a function that a collective waits for is refused, and the collective goes on", async () => {
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", mistakes, "finalize"], patient);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: "1\n" }, stderr);
});

for (const [when, call, state] of [
  ["early", "MPI_Send", "MPI_Init has not been called"],
  ["late", "MPI_Recv", "MPI_Finalize has been called"],
] as const) {
  test(`X8: ${call} ${when === "early" ? "before MPI_Init" : "after MPI_Finalize"} is refused in one line`, async () => {
    const { code, stderr } = await banyan(["run", mistakes, when], patient);
    const [line, ...others] = messages(stderr);
    assert.match(line ?? "", new RegExp(`^banyan: rank 0 .*: Cannot call ${call}: ${state} \\(MPI_ERR_OTHER;.*\\)$`));
    assert.deepEqual({ code, others }, { code: 16, others: [] });
  });
}

test("X8: memory that MPI has not given is not freed, and the heap stays whole", async () => {
  const { stdout, stderr } = await banyan(["run", mistakes, "free"], patient);
  assert.equal(stdout, "MPI_ERR_BASE MPI_ERR_BASE MPI_ERR_BASE MPI_SUCCESS MPI_ERR_BASE\n", stderr);
});

test("X8: places beyond 2^53 in a file are MPI_ERR_ARG", async () => {
  const run = () => banyan(["run", mistakes, "file", "far.dat"], patient);
  const { stdout, stderr } = await inFolder(newFolder("far"), run);
  assert.equal(stdout, "MPI_ERR_ARG MPI_ERR_ARG MPI_ERR_ARG MPI_ERR_ARG MPI_ERR_ARG\n", stderr);
});

test("X8: huge counts whose arrays are there are refused before anything is copied", async () => {
  const { code, stdout, stderr } = await banyan(["run", mistakes, "huge"], patient);
  const arg = "MPI_ERR_ARG";
  const classes = ["MPI_ERR_DIMS", "MPI_ERR_DIMS", arg, arg, "MPI_ERR_RANK", arg, arg, arg, arg, arg];
  assert.equal(stdout, `${classes.join(" ")}\n`, stderr);
  assert.equal(code, 0);
});
