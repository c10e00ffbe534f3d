/** The kernels in C of `examples/kernels`, each of which verifies its own result. Row M6. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, type Ended, folderOf, program } from "./harness.ts";
import { long, longUnless } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };
const placements = [
  [2, 1],
  [4, 2],
] as const;

async function run(kernel: string, args: readonly string[], place: readonly string[]): Promise<Ended> {
  return await banyan(["run", ...place, `examples/kernels/${kernel}.c`, ...args], patient);
}

/** The lines that say what was computed: they must not depend on where the ranks are. */
function computed(stdout: string): string | undefined {
  return /^ +computed +(\S+)$/m.exec(stdout)?.[1];
}

for (const [kernel, ...args] of [
  ["bt", "12", "10"],
  ["sp", "12", "10"],
  ["hpccg", "12", "12", "12"],
  ["hpl", "150", "16"],
  ["atmosphere", "24", "16", "8", "10"],
  ["heat", "12"],
] as const) {
  for (const [ranks, nodes] of placements) {
    const when = longUnless(nodes === 2 && ["hpl", "heat"].includes(kernel));
    test(`M6: kernel ${kernel} verifies its result on ${ranks} ranks, nodes: ${nodes}`, when, async () => {
      const { code, stdout, stderr } = await run(kernel, args, ["-n", `${ranks}`, "--nodes", `${nodes}`]);
      assert.match(stdout, /^ {2}Verification: SUCCESSFUL$/m, stdout + stderr);
      assert.match(stdout, new RegExp(`^ {2}ranks +${ranks}\\b`, "m"));
      assert.equal(code, 0);
    });
  }
}

test("M6: kernel raytrace paints the same picture with one worker and with three on two nodes", long, async () => {
  program("raytrace/place-for-pictures", "");
  const folder = folderOf("raytrace");
  const pictures = new Set<string>();
  const sums = new Set<string | undefined>();
  for (const [ranks, nodes] of placements) {
    const path = `${folder}/${ranks}.ppm`;
    const place = ["-n", `${ranks}`, "--nodes", `${nodes}`, "--dir", folder];
    const { code, stdout, stderr } = await run("raytrace", [path, "96", "60", "2"], place);
    assert.match(stdout, /^ {2}Verification: SUCCESSFUL$/m, stdout + stderr);
    assert.equal(code, 0);
    sums.add(computed(stdout));
    pictures.add(readFileSync(path, "latin1"));
  }
  assert.equal(sums.size, 1);
  assert.equal(pictures.size, 1);
  const [picture] = pictures;
  assert.equal(picture!.length, "P6\n96 60\n255\n".length + 96 * 60 * 3);
});

for (const [kernel, args, words] of [
  ["hpl", ["many"], 'hpl: cannot use size "many": a whole number from 1 to 20000 wanted; usage: hpl [size] [block]'],
  ["heat", ["20", "9", "1"], 'heat: cannot use argument "1": at most 2 wanted; usage: heat [size] [steps at most]'],
  ["bt", ["4"], "bt: cannot cut 4 points into 3 bricks; usage: bt [size] [steps]"],
] as const) {
  test(`M6: kernel ${kernel} says in one line why it cannot run with ${args.join(" ")}`, async () => {
    const { code, stdout, stderr } = await run(kernel, args, ["-n", "3"]);
    const said = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("banyan: "));
    assert.deepEqual(said, [words]);
    assert.equal(stdout, "");
    assert.equal(code, 2);
  });
}

test("M6: kernel heat that was not left to come to rest is not verified", async () => {
  const { code, stdout } = await run("heat", ["24", "50"], ["-n", "2"]);
  assert.match(stdout, /^ {2}Verification: FAILED$/m);
  assert.equal(code, 1);
});
