/** Images travel: a job that was frozen on one architecture goes on on another, with the same bits. Rows M6 and D7: a clone is made of the same records. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { banyan, folderOf, newFolder } from "./harness.ts";
import { long } from "./long.ts";

const images = "test/images";
const frozenAfter = 25;
const architectures = ["arm64", "x64"];

function unpack(from: string, to: string): void {
  writeFileSync(to, brotliDecompressSync(readFileSync(from)));
}

/** The job's folder as `banyan run --job-dir` left it there. */
function frozenOn(architecture: string): string {
  const job = folderOf(`frozen-${architecture}`);
  mkdirSync(job);
  const packed = join(images, architecture);
  for (const name of readdirSync(packed)) unpack(join(packed, name), join(job, name.replace(/\.br$/, "")));
  unpack(join(images, "travels.wasm.br"), join(job, "program.wasm"));
  return job;
}

/** What a run at one go prints, here. */
const whole = (async () => {
  const module = join(newFolder("whole"), "travels.wasm");
  unpack(join(images, "travels.wasm.br"), module);
  const { code, stdout, stderr } = await banyan(["run", "-n", "2", module, "50"]);
  assert.equal(code, 0, stderr);
  return stdout.trimEnd().split("\n");
})();

/** The program's state has been laid out otherwise since the images were made: they are refused, and `make-images.mjs` is due. */
const outdated = /Cannot restore the process: .*; use the Banyan that saved it/;
const isLongRun = long.skip === undefined;

for (const architecture of architectures) {
  test(`M6, D7 images of ${architecture} are thawed on ${process.arch}, with the same bits as a run at one go`, async (t) => {
    const { code, stdout, stderr } = await banyan(["thaw", frozenOn(architecture)]);
    if (!isLongRun && outdated.test(stderr)) {
      assert.equal(code, 1);
      return t.skip("the layout of images has changed since: node scripts/make-images.mjs; npm run test:long insists");
    }
    assert.equal(code, 0, stderr);
    const rest = stdout.trimEnd().split("\n");
    assert.ok(rest.length > 1 && rest.length <= 51 - frozenAfter, `it goes on from the middle: ${rest.length} lines`);
    assert.deepEqual(rest, (await whole).slice(-rest.length));
  });
}
