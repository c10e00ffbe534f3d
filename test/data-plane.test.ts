/** C programs with a data plane and without (ADR 20), with real threads. The calls themselves are in src/real/c-rank/data-plane.test.ts. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch, thaw } from "banyan";
import { banyan, inFolder, newFolder } from "./harness.ts";
import { long, longUnless, tries } from "./long.ts";
import { timeLimit } from "./patience.ts";

const program = resolve("test/programs/c/small-messages.c");
const messages = 4_000;
const announced = 1_000;
const limit = timeLimit(120_000);

interface Size {
  readonly calls?: number;
  readonly nodes?: number;
}

/** What it prints, with a data plane and without. */
async function alike(path: string, ranks: number, perThread: number, how: Size = {}): Promise<string> {
  const { calls = tries(1_000, messages), nodes = 1 } = how;
  const outputs: string[] = [];
  for (const plane of ["on", "off"]) {
    const size = ["-n", `${ranks}`, "--nodes", `${nodes}`, "--ranks-per-thread", `${perThread}`];
    const args = ["run", "--quiet", ...size, path, `${calls}`, `${calls >> 1}`];
    const { code, stdout, stderr } = await banyan(args, { env: { BANYAN_DATA_PLANE: plane }, timeoutMs: 120_000 });
    assert.equal(code, 0, stdout + stderr);
    outputs.push(stdout);
  }
  assert.equal(outputs[0], outputs[1]);
  return outputs[0]!;
}

/** It is frozen to the folder "frozen" when it says "step". What it prints when it goes on. */
async function frozenAndThawed(job: ReturnType<typeof launch>): Promise<string> {
  for await (const event of job) if (event.kind === "line" && event.text === "step") job.freeze();
  assert.equal((await job.done).reason.kind, "frozen");
  const thawed = thaw("frozen");
  const lines: string[] = [];
  for await (const event of thawed) if (event.kind === "line") lines.push(event.text);
  assert.deepEqual(await thawed.done.then(({ code, reason }) => [code, reason.kind]), [0, "finished"]);
  return lines.join("\n");
}

for (const [ranks, perThread] of [
  [2, 1],
  [3, 3],
  [5, 1],
  [6, 3],
] as const) {
  test(`M6 ADR 20: ${ranks} ranks, ${perThread} in a thread, send each other the same with a data plane and without`, {
    ...limit,
    ...longUnless(ranks === 2),
  }, async () => {
    assert.match(await alike(program, ranks, perThread), /^step\n\d+ bytes\n$/);
  });
}

test("M6 images: a job with data planes is frozen in the middle of its messages and thawed", {
  ...limit,
  ...long,
}, async () => {
  await inFolder(newFolder("planes"), async () => {
    const job = launch(program, { ranks: 2, args: [`${messages * 50}`, `${announced}`], jobFolder: "frozen" });
    assert.match(await frozenAndThawed(job), /^\d+ bytes$/);
  });
});

const collectives = resolve("test/programs/c/small-collectives.c");
const sizesOfCollectives = [
  [2, 1],
  [3, 3],
  [5, 1],
  [8, 4],
] as const;

for (const [ranks, perThread] of sizesOfCollectives) {
  test(`M6 ADR 25: ${ranks} ranks, ${perThread} in a thread, meet with a data plane and without`, {
    ...limit,
    ...longUnless(ranks === 3),
  }, async () => {
    assert.match(await alike(collectives, ranks, perThread), /^step\n\d+\n$/);
  });
}

for (const ranksPerThread of [1, 3]) {
  test(`M6 images: a job is frozen in the middle of its collectives and thawed, ${ranksPerThread} in a thread`, {
    ...limit,
    ...longUnless(ranksPerThread === 1),
  }, async () => {
    await inFolder(newFolder(`meetings-${ranksPerThread}`), async () => {
      const args = [`${messages * 12}`, `${announced}`];
      const job = launch(collectives, { ranks: 3, ranksPerThread, args, jobFolder: "frozen" });
      assert.match(await frozenAndThawed(job), /^\d+$/);
    });
  });

  test(`M6 ADR 25: no rank waits for one that has ended, ${ranksPerThread} in a thread`, limit, async () => {
    const args = ["-n", "3", "--ranks-per-thread", `${ranksPerThread}`, collectives, "100", "200", "1"];
    const { code } = await banyan(["run", "--quiet", ...args], { timeoutMs: 120_000 });
    assert.equal(code, 7);
  });
}

const longCollectives = resolve("test/programs/c/long-collectives.c");

for (const [ranks, perThread] of sizesOfCollectives) {
  test(`M3, M6 ADR 81: parts of ${ranks} ranks, ${perThread} in a thread, are lent with a data plane and without`, {
    ...limit,
    ...longUnless(ranks === 2 || ranks === 8),
  }, async () => {
    assert.match(await alike(longCollectives, ranks, perThread, { calls: tries(150, 1_000) }), /^step\n\d+\n$/);
  });
}

for (const [ranks, ranksPerThread] of [
  [2, 1],
  [3, 3],
] as const) {
  test(`M6, ADR 81 images: a job of ${ranks} ranks is frozen while parts are lent and thawed, ${ranksPerThread} in a thread`, {
    ...limit,
    ...longUnless(ranks === 2),
  }, async () => {
    await inFolder(newFolder(`lent-${ranks}`), async () => {
      const job = launch(longCollectives, { ranks, ranksPerThread, args: ["600", "100"], jobFolder: "frozen" });
      assert.match(await frozenAndThawed(job), /^\d+$/);
    });
  });

  test(
    `M6 ADR 81: none of ${ranks} ranks waits for one that has ended, ${ranksPerThread} in a thread`,
    limit,
    async () => {
      const args = ["-n", `${ranks}`, "--ranks-per-thread", `${ranksPerThread}`, longCollectives, "20", "30", "1"];
      const { code } = await banyan(["run", "--quiet", ...args], { timeoutMs: 120_000 });
      assert.equal(code, 7);
    },
  );
}

const requests = resolve("test/programs/c/small-requests.c");

for (const [ranks, perThread] of [
  [1, 1],
  [2, 1],
  [3, 3],
  [6, 3],
] as const) {
  test(`M6 ADR 76: ${ranks} ranks, ${perThread} in a thread, exchange by requests with a data plane and without`, {
    ...limit,
    ...longUnless(ranks === 2 || ranks === 3),
  }, async () => {
    assert.match(await alike(requests, ranks, perThread), /^step\n\d+\n$/);
  });
}

for (const ranksPerThread of [1, 3]) {
  test(`M6 images: a job is frozen while requests are open and thawed, ${ranksPerThread} in a thread`, {
    ...limit,
    ...longUnless(ranksPerThread === 1),
  }, async () => {
    await inFolder(newFolder(`requests-${ranksPerThread}`), async () => {
      const args = [`${messages * 4}`, `${announced}`];
      const job = launch(requests, { ranks: 3, ranksPerThread, args, jobFolder: "frozen" });
      assert.match(await frozenAndThawed(job), /^\d+$/);
    });
  });
}

for (const [ranks, nodes, perThread] of [
  [4, 2, 2],
  [4, 2, 1],
  [7, 3, 3],
] as const) {
  const where = `${ranks} ranks on ${nodes} nodes, ${perThread} in a thread,`;
  for (const [what, path, calls] of [
    ["send each other the same", program, tries(1_000, messages)],
    ["meet", collectives, tries(500, messages)],
    ["make requests", requests, tries(500, messages)],
    ["lend each other parts", longCollectives, tries(150, 1_000)],
  ] as const) {
    test(`M6 ADR 82: ${where} ${what} with data planes beside sockets and without`, {
      ...limit,
      ...longUnless(ranks === 4),
    }, async () => {
      assert.match(await alike(path, ranks, perThread, { calls, nodes }), /^step\n\d+( bytes)?\n$/);
    });
  }
}

for (const ranksPerThread of [1, 2]) {
  test(`M6, ADR 82 images: a job of two nodes with data planes is frozen and thawed, ${ranksPerThread} in a thread`, {
    ...limit,
    ...longUnless(ranksPerThread === 2),
  }, async () => {
    await inFolder(newFolder(`nodes-${ranksPerThread}`), async () => {
      const size = { ranks: 4, nodes: 2, ranksPerThread };
      const job = launch(longCollectives, { ...size, args: ["300", "50"], jobFolder: "frozen" });
      assert.match(await frozenAndThawed(job), /^\d+$/);
    });
  });
}

for (const [what, path] of [
  ["collectives", collectives],
  ["parts that are lent", longCollectives],
] as const) {
  test(`M6 ADR 82: no rank of two nodes waits for one that has ended, ${what}`, limit, async () => {
    const { code } = await banyan(["run", "--quiet", "-n", "4", "--nodes", "2", path, "20", "30", "1"], {
      timeoutMs: 120_000,
    });
    assert.equal(code, 7);
  });
}
