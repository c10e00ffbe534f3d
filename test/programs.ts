/** Runs a program of test/programs at several sizes; each of its groups of checks becomes a test of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, runMsMax } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

/** How many ranks, on how many nodes. */
export type Size = number | readonly [ranks: number, nodes: number];

/** The program is told the number of nodes. `longSizes` are those of `npm run test:long`. */
export function testProgram(name: string, what: string, sizes: readonly Size[], longSizes: readonly Size[] = []): void {
  for (const size of [...sizes, ...longSizes]) {
    const [ranks, nodes] = typeof size === "number" ? [size, 1] : size;
    const where = `${ranks} rank${ranks === 1 ? "" : "s"} on ${nodes} node${nodes === 1 ? "" : "s"}`;
    test(`${what}, ${where}`, { ...timeLimit(runMsMax), ...longUnless(sizes.includes(size)) }, async (t) => {
      const args = ["run", "-n", `${ranks}`, "--nodes", `${nodes}`, `test/programs/${name}.ts`, `${nodes}`];
      const { code, stdout, stderr } = await banyan(args);
      const lines = stdout.split("\n").filter(Boolean);
      const groups = lines.flatMap((line) => /^begin (.*)$/.exec(line)?.slice(1) ?? []);
      for (const group of groups) {
        await t.test(group, () => assert.ok(lines.includes(`passed ${group}`), `it began and did not end\n${stderr}`));
      }
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      assert.equal(lines.at(-1), `all ${groups.length} groups`);
    });
  }
}
