/** Runs a program of test/programs at several sizes; each of its groups of checks becomes a test of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, runMsMax } from "./harness.ts";

export function testProgram(name: string, what: string, sizes: readonly number[], args: readonly string[] = []): void {
  for (const ranks of sizes) {
    test(`${what}, ${ranks} rank${ranks === 1 ? "" : "s"}`, { timeout: runMsMax }, async (t) => {
      const ended = await banyan(["run", "-n", `${ranks}`, `test/programs/${name}.ts`, ...args]);
      assert.equal(ended.code, 0, `${ended.stdout}\n${ended.stderr}`);
      const lines = ended.stdout.split("\n").filter(Boolean);
      assert.equal(lines.at(-1), `all ${lines.length - 1} groups`);
      for (const line of lines.slice(0, -1)) await t.test(line, () => {});
    });
  }
}
