import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { arrivals, countArrival, createNodeWords, openGate, passGate } from "./node-words.ts";

describe("X9 the gate of a node", () => {
  it("the node hears when all threads have come, whether they come before or after it asks", async () => {
    const words = createNodeWords();
    await arrivals(words, 0);
    countArrival(words);
    let haveCome = false;
    const waiting = arrivals(words, 3).then(() => {
      haveCome = true;
    });
    countArrival(words);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(haveCome, false);
    // Another thread, which cannot keep this one from hearing it.
    new Worker(
      `Atomics.add(new Int32Array(require("worker_threads").workerData), 3, 1);
                Atomics.notify(new Int32Array(require("worker_threads").workerData), 3);`,
      { eval: true, workerData: words },
    );
    await waiting;
  });

  it("who comes to the open gate is counted, and told the program's form", async () => {
    const words = createNodeWords();
    openGate(words, "wasm");
    assert.equal(passGate(words), "wasm");
    await arrivals(words, 1);
  });
});
