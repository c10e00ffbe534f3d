/** Jobs that go on on another number of nodes than they were frozen on: the placement is new, the node map is not. Row M6, rule 6. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { launch, type RunningJob, thaw } from "banyan";
import { inFolder, newFolder } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const steps = 150;
const nodeMap = resolve("test/programs/c/node-map.c");
const announced = resolve("test/programs/c/announced.c");

/** Lines of a job, each with its rank; `onLine` hears of every one. */
async function linesOf(job: RunningJob, onLine: (text: string) => void = () => {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of job) {
    if (event.kind !== "line") continue;
    lines.push(`${event.rank} ${event.text}`);
    onLine(event.text);
  }
  return lines;
}

for (const [first, second, third] of [
  [2, 1, 4],
  [1, 3, 2],
] as const) {
  test(`rule 6 M6 a program begun on ${first} nodes sees them on ${second} and on ${third} as well`, {
    ...limit,
    ...long,
  }, async () => {
    const options = { ranks: 4, nodes: first, args: [`${steps}`], memoryMb: 256 };
    await inFolder(newFolder(`elsewhere-${first}`), async () => {
      const wanted = await linesOf(launch(nodeMap, options));
      const job = launch(nodeMap, { ...options, jobFolder: "first" });
      const lines = await linesOf(job, (text) => text.startsWith("step 3:") && job.freeze());
      assert.equal((await job.done).reason.kind, "frozen");
      const again = thaw("first", { nodes: second, jobFolder: "second" });
      assert.equal(again.nodes, second);
      lines.push(...(await linesOf(again, (text) => text.startsWith("step 8:") && again.freeze())));
      assert.equal((await again.done).reason.kind, "frozen");
      const last = thaw("second", { nodes: third });
      lines.push(...(await linesOf(last)));
      assert.equal((await last.done).code, 0);
      const mates = first === 2 ? "2 together from rank 2" : "4 together from rank 0";
      assert.ok(wanted.some((line) => line.startsWith(`3 step ${steps - 1}: ${mates}`)));
      assert.deepEqual(lines.sort(), wanted.sort());
    });
  });
}

test("M6 images: a message that was announced inside a node is taken on another", { ...limit, ...long }, async () => {
  await inFolder(newFolder("announced-elsewhere"), async () => {
    const job = launch(announced, { ranks: 2, jobFolder: "job", memoryMb: 256 });
    await linesOf(job, (text) => text === "announced" && job.freeze());
    assert.equal((await job.done).reason.kind, "frozen");
    writeFileSync("go", "");
    const thawed = thaw("job", { nodes: 2 });
    const lines = await linesOf(thawed);
    assert.deepEqual(lines.sort(), ["0 rank 0: 0 bytes are wrong", "1 rank 1: 0 bytes are wrong"]);
    assert.equal((await thawed.done).code, 0);
  });
});
