import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { partOf } from "../image/part-file.ts";
import { ImageStore } from "./image-store.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-store-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("M6: images that stay have their names when they are durable, in the order of the orders, and one that cannot be kept harms no other", async () => {
  const store = new ImageStore();
  const paths = [1, 2, 3].map((rank) => join(folder, `${rank}.image`));
  for (const path of [paths[0]!, paths[2]!]) writeFileSync(partOf(path), path);
  const answers: { path: string; problem: string }[] = [];
  const all = paths.map(
    (path) =>
      new Promise<void>((resolve) => {
        store.keep(path, (problem) => {
          assert.equal(existsSync(path), problem === "");
          answers.push({ path, problem });
          resolve();
        });
      }),
  );
  assert.ok(
    paths.every((path) => !existsSync(path)),
    "nothing has its name yet",
  );
  await Promise.all(all);
  assert.deepEqual(
    answers.map(({ path }) => path),
    paths,
  );
  assert.deepEqual([answers[0]!.problem, answers[2]!.problem], ["", ""]);
  assert.equal(answers[1]!.problem, `Cannot write image ${paths[1]}: there is no such file or folder; check the path`);
  for (const path of [paths[0]!, paths[2]!]) {
    assert.equal(readFileSync(path, "utf8"), path);
    assert.ok(!existsSync(partOf(path)));
  }
});
