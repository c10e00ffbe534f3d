/** The examples of programs that repair themselves, with real kills at random moments: the answer is that of a run without. */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { banyan } from "./harness.ts";
import { long, longUnless } from "./long.ts";

const patient = { timeoutMs: 180_000 };
const nodes = 4;

interface Example {
  readonly name: string;
  readonly answer: string;
  /** MPI calls of a rank in a run without deaths, about. */
  readonly calls: number;
  /** May the first rank die, too? */
  readonly needsFirst: boolean;
}

/** Of jacobi-shrink the rank that prints must not be the one that is killed at the very end. */
const examples: readonly Example[] = [
  { name: "jacobi-shrink", answer: "largest error 0.00000", calls: 3000, needsFirst: true },
  { name: "jacobi-respawn", answer: "sum 3730.0352774333", calls: 4000, needsFirst: false },
  { name: "tasks", answer: "92938 primes below 1200000", calls: 150, needsFirst: true },
];

/** A whole number from 0 to below − 1, which follows from the seed and the question. */
function drawn(seed: number, question: number, below: number): number {
  let state = (seed * 2654435761 + question * 40503) >>> 0;
  for (let i = 0; i < 3; i++) state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
  return state % below;
}

/** Calls are counted of programs in C only; others die at a time. */
function planOf({ calls, needsFirst }: Example, extension: string, seed: number): string {
  const node = needsFirst ? 1 + drawn(seed, 1, nodes - 1) : drawn(seed, 1, nodes);
  if (extension === "c") return `kill node ${node} at call ${1 + drawn(seed, 2, calls)} of rank ${node}`;
  return `kill node ${node} at ${drawn(seed, 2, 800)}ms`;
}

async function survives(example: Example, extension: string, seed: number): Promise<void> {
  await survivesPlan(example, extension, planOf(example, extension, seed), `seed ${seed}`);
}

async function survivesPlan(example: Example, extension: string, plan: string, which: string): Promise<void> {
  const program = `examples/ulfm/${example.name}.${extension}`;
  const args = ["run", "-n", `${nodes}`, "--nodes", `${nodes}`, "--protocol", "ulfm", "--faults", plan, program];
  const { code, stdout, stderr } = await banyan(args, patient);
  const how = `${which}: banyan ${args.slice(0, -3).join(" ")} --faults "${plan}" ${program}\n${stdout}\n${stderr}`;
  assert.ok(stdout.startsWith(example.answer), how);
  // A rank may die right after it has printed: then another one prints the same.
  assert.equal(new Set(stdout.split("\n").filter(Boolean)).size, 1, how);
  assert.equal(code, 0, how);
}

/** One run of two of them that always is the same, one in C; the rest is drawn anew each time. */
for (const [index, example] of examples.entries()) {
  for (const extension of ["c", "ts"]) {
    const isShort = index === 0 ? extension === "c" : index === examples.length - 1 && extension === "ts";
    test(
      `U1 U2 example ${example.name}.${extension}: a node is killed, and the answer is right`,
      longUnless(isShort),
      () => survives(example, extension, 7),
    );
    test(`U1 U2 example ${example.name}.${extension}: kills at random moments`, long, async (t) => {
      const first = randomInt(1 << 30);
      t.diagnostic(`seeds ${first} to ${first + 4}`);
      for (let seed = first; seed < first + 5; seed++) await survives(example, extension, seed);
    });
  }
}

/**
 * The last calls of rank 0 of jacobi-respawn.c, of its 4051: the last round, the sum, the agreement that all are through, the agreement
 * that the answer is printed, MPI_Finalize. Whoever prints dies, or has died before.
 */
const lastCalls = [4046, 4047, 4048, 4049, 4050, 4051];
for (const call of lastCalls) {
  test(`U1 U2 example jacobi-respawn.c: rank 0 is killed in call ${call} of 4051`, long, () =>
    survivesPlan(examples[1]!, "c", `kill node 0 at call ${call} of rank 0`, "the end"),
  );
}
