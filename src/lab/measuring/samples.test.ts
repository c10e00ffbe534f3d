import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSamples } from "./samples.ts";

test("M8: bench reads samples from between other lines", () => {
  const text = [
    "WARNING: your fabric is unusual",
    "sample latency_us 8 0.31 0.30 0.29",
    "",
    "sample ping_pong_2_us 1024 1.5",
    "sampled 8 1",
  ].join("\n");
  assert.deepEqual(parseSamples(`${text}\n`), [
    { metric: "latency_us", x: 8, figures: [0.31, 0.3, 0.29] },
    { metric: "ping_pong_2_us", x: 1024, figures: [1.5] },
  ]);
});

test("M8: bench leaves out samples that are cut off or damaged", () => {
  assert.deepEqual(parseSamples("sample latency_us 8 0.31 0.3"), []);
  for (const line of ["sample latency_us 8", "sample latency_us", "sample", "sample latency_us 8 fast", "sample 8 1 2"])
    assert.deepEqual(parseSamples(`${line}\n`), [], line);
});
