/** What a C program hands over that reaches beyond its memory, in real jobs: section 12.1. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";

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
  test(`§12.1: messages beyond the end of memory are MPI_ERR_BUFFER and nothing else happens, ${where}`, async () => {
    const env = { BANYAN_SOCKET_CALLS: calls };
    const { code, stdout, stderr } = await banyan(["run", "-n", `${ranks}`, "--nodes", `${nodes}`, beyond], {
      ...patient,
      env,
    });
    assert.equal(stdout, `0 errors on ${ranks} ranks\n`, stderr);
    assert.equal(code, 0, stderr);
  });
}
