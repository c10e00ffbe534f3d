/** Threads that are terminated while they do work that must not be cut off. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { transformSync } from "esbuild";
import { newUndisturbed, whenUndisturbing } from "./undisturbed.ts";

/** A thread that says "begun" inside such work, and ends the work when its third word is set. */
const { code } = transformSync(
  `${readFileSync("src/real/machine/undisturbed.ts", "utf8")}
  const { parentPort, workerData } = require("node:worker_threads");
  shareUndisturbed(workerData.words);
  const mayEnd = new Int32Array(workerData.mayEnd);
  for (let begun = 0; ; begun++) {
    undisturbed(() => {
      if (begun === 0) parentPort.postMessage("begun");
      Atomics.wait(mayEnd, 0, 0);
      mayEnd[1] = begun + 1;
    });
  }`,
  { loader: "ts", format: "cjs" },
);

test("M8: a thread that sets up a native library is terminated afterwards, and begins no other", async () => {
  const words = newUndisturbed();
  const mayEnd = new SharedArrayBuffer(8);
  const view = new Int32Array(mayEnd);
  const worker = new Worker(code, { eval: true, workerData: { words, mayEnd } });
  assert.deepEqual(await once(worker, "message"), ["begun"]);

  let isFree = false;
  const free = whenUndisturbing(words).then(() => {
    isFree = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isFree, false, "the work is under way");
  Atomics.store(view, 0, 1);
  Atomics.notify(view, 0);
  await free;
  assert.equal(view[1], 1, "the work was finished, and not begun again");
  await worker.terminate();
  assert.equal(view[1], 1);
});
