/** What test-suites of ULFM ask of an MPI, as programs in C with real deaths; one job for each scenario. Rows U1, U2. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const patient = { stdin: "", timeoutMs: 120_000 };
const program = resolve("test/programs/c/ulfm-suites.c");

interface Scenario {
  readonly name: string;
  readonly ranks: number;
  /** How many survive. */
  readonly alive: number;
  /** How many say that they die, unless all do that do not survive. */
  readonly deaths?: number;
  /** One of the few that always run: with these nodes, and deaths of this kind. */
  readonly usual?: readonly [nodes: number, how: string];
}

const scenarios: readonly Scenario[] = [
  { name: "at-once", ranks: 4, alive: 3 },
  { name: "messages", ranks: 3, alive: 2 },
  { name: "collectives", ranks: 4, alive: 3 },
  { name: "acknowledged", ranks: 3, alive: 1 },
  { name: "master", ranks: 8, alive: 5 },
  { name: "handlers", ranks: 4, alive: 3 },
  { name: "repairing-handler", ranks: 4, alive: 3 },
  { name: "jumping-handler", ranks: 5, alive: 3 },
  { name: "one-after-the-other", ranks: 6, alive: 1 },
  { name: "shrinking", ranks: 5, alive: 3 },
  { name: "revoking", ranks: 4, alive: 3 },
  { name: "pairs", ranks: 8, alive: 6 },
  { name: "spawning", ranks: 4, alive: 3 },
  { name: "spares", ranks: 6, alive: 5, deaths: 2 },
  { name: "aborting", ranks: 6, alive: 3, deaths: 0, usual: [2, "mpi-abort"] },
];

const kinds = ["raise", "kill", "abort", "exit", "mpi-abort"];

for (const { name, ranks, alive, deaths = ranks - alive, usual = [0, ""] } of scenarios) {
  for (const nodes of [1, 2, ranks]) {
    for (const how of nodes === 2 ? kinds : ["raise"]) {
      const which = longUnless(usual[0] === nodes && usual[1] === how);
      test(`U1 U2 suites: ${name}, ranks die by ${how}, ${nodes} nodes`, { ...limit, ...which }, async () => {
        const args = ["run", "-n", `${ranks}`, "--nodes", `${nodes}`, "--with-ft", "mpi", program, name, how];
        const { code, stdout, stderr } = await banyan(args, patient);
        const lines = stdout.split("\n").filter(Boolean);
        const dead = lines.filter((line) => /^rank \d+ dies$/.test(line));
        assert.deepEqual(
          lines.filter((line) => line !== "ok" && !dead.includes(line)),
          [],
          stderr,
        );
        assert.equal(lines.filter((line) => line === "ok").length, alive, `${stdout}${stderr}`);
        assert.equal(dead.length, deaths, `${stdout}${stderr}`);
        assert.equal(code, 0, stderr);
      });
    }
  }
}
