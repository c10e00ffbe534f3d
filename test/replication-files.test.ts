/** Files of replicas: whichever node is killed, and when, a program leaves on the disk what it leaves without. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { banyan, folderOf, program, Run } from "./harness.ts";
import { longUnless } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const source = "test/programs/c/performed-files.c";
program("folder/empty", "");

function tree(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory())
      Object.assign(found, { [`${below}${name}/`]: "" }, tree(path, `${below}${name}/`));
    else found[below + name] = readFileSync(path, "latin1");
  }
  return found;
}

async function filesOf(
  name: string,
  protocol: readonly string[],
  rounds: number,
  kills: readonly (readonly [string, number])[],
) {
  const folder = folderOf(name);
  mkdirSync(folder);
  const args = ["run", "-n", "2", ...protocol, "--dir", folder, source, folder, String(rounds)];
  const run = new Run(args, { stdin: "", timeoutMs: 150_000 });
  for (const [text, node] of kills) {
    await run.printed(text);
    process.kill(run.nodePid(node), "SIGKILL");
  }
  const { code, stderr, stdout } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, Array.from({ length: rounds }, (_, i) => `round ${i}\n`).join(""));
  run.assertNothingLeft();
  return tree(folder);
}

for (const [replicas, kills, isTheOne] of [
  [2, [["round 9\n", 0]], true],
  [2, [["round 1\n", 1]], false],
  [
    3,
    [
      ["round 4\n", 0],
      ["round 11\n", 1],
    ],
    false,
  ],
] as const) {
  const which = kills.map(([, node]) => node).join(" and ");
  const what = `X2 ${replicas} replicas, and the node of replica ${which} is killed: files are those of one process`;
  test(what, { ...limit, ...longUnless(isTheOne) }, async () => {
    const nodes = String(replicas);
    const protocol = ["--nodes", nodes, "--protocol", "replication", "--replicas", nodes];
    const name = `killed-${replicas}-${kills.length}-${kills[0][1]}`;
    const plain = await filesOf(`plain-${name}`, [], 20, []);
    assert(Object.keys(plain).length > 10);
    assert.deepEqual(await filesOf(name, protocol, 20, kills), plain);
  });
}

test(
  "R1 a program in TypeScript that imports fs is told that every replica writes, and others are not",
  limit,
  async () => {
    const fs = program("writes.ts", `import { existsSync } from "node:fs"; console.log(existsSync("/"));`);
    const none = program("silent.ts", `console.log(true);`);
    for (const [path, count] of [
      [fs, 1],
      [none, 0],
    ] as const) {
      const { code, stdout, stderr } = await banyan([
        "run",
        "-n",
        "1",
        "--nodes",
        "2",
        "--protocol",
        "replication",
        path,
      ]);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, "true\n");
      assert.equal(stderr.split("read and write files in every replica").length - 1, count, stderr);
    }
  },
);
