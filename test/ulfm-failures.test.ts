/** Deaths as programs see them, with real ones: which call raises what, by sections of the Forum's chapter on process fault tolerance. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { banyan } from "./harness.ts";
import { long } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

/** Each section that the program passes is a test of its own. */
async function sections(t: TestContext, args: readonly string[], count: number): Promise<void> {
  const { code, stdout, stderr } = await banyan(["run", "--protocol", "ulfm", ...args], patient);
  const lines = stdout.split("\n").filter(Boolean);
  const isOfSection = (line: string): boolean => line.startsWith("passed ") || line === "finalized";
  assert.deepEqual(
    lines.filter((line) => !isOfSection(line)),
    [],
    stderr,
  );
  for (const line of lines) await t.test(`U1 ${line.replace("passed ", "§")}`, () => undefined);
  assert.equal(lines.length, count, `${stdout}\n${stderr}`);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /ranks? failed, and the program went on/);
}

const inC = resolve("test/programs/c/ulfm-failures.c");
const ofNode = ["-n", "8", "--nodes", "4", "--faults", "kill node 3 at call 500 of rank 7"];

test("U1 U2 a rank dies by a signal: 6 ranks on 2 nodes", long, (t) =>
  sections(t, ["-n", "6", "--nodes", "2", inC, "1", "signal"], 12),
);
test("U1 U2 a node is killed: 8 ranks on 4 nodes", (t) => sections(t, [...ofNode, inC, "2", "plan"], 12));
test("U1 U2 two ranks of one node die: 6 ranks on 1 node", long, (t) =>
  sections(t, ["-n", "6", inC, "2", "signal"], 12),
);

for (const [which, nodes] of [
  [{}, 2],
  [long, 1],
  [long, 4],
] as const) {
  test(`U1 U2 in TypeScript: 4 ranks on ${nodes} nodes`, which, (t) =>
    sections(t, ["-n", "4", "--nodes", `${nodes}`, "test/programs/failures.ts"], 4),
  );
}
