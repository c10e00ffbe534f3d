import assert from "node:assert/strict";
import { test } from "node:test";
import { JobStatus } from "./job-status.ts";

const size = { ranks: 4, nodes: 2 };
const started = { kind: "started", ...size, pids: [], afterMs: 0 } as const;

test("M10: a job in one line: its size, its time, its messages, what happened last", () => {
  const status = new JobStatus(size, 0);
  status.heard({ kind: "compiling", program: "solver.c" });
  assert.equal(status.text(1500, { messages: 0 }, 80), "banyan: compiling solver.c … · 1 s");
  status.heard(started);
  assert.equal(status.text(2000, { messages: 0 }, 80), "banyan: 4 ranks on 2 nodes · 2 s");
  assert.equal(status.text(3000, { messages: 18_000 }, 80), "banyan: 4 ranks on 2 nodes · 3 s · 12 k messages/s");
  status.heard({ kind: "node-lost", node: 1, ranks: [2, 3], message: "", afterMs: 3100 });
  assert.equal(
    status.text(3200, { messages: 9_000 }, 120),
    "banyan: 4 ranks on 2 nodes · 3 s · 12 k messages/s · node 1 lost at 3.10 s",
  );
  status.heard({ kind: "recovered", ranks: [2, 3], runningMs: 100, caughtUpMs: 420, afterMs: 3600 });
  assert.equal(status.text(63_000, { messages: 9_000 }, 80), "banyan: 4 ranks on 2 nodes · 1:03 · recovered in 0.42 s");
});

test("V9 M10: while a job waits for nodes the line says for how many", () => {
  const status = new JobStatus(size, 0);
  status.heard({ kind: "gathering", joined: 1, wanted: 2, afterMs: 0 });
  status.heard({ kind: "compiling", program: "solver.c" });
  assert.equal(status.text(1500, { messages: 0 }, 80), "banyan: waiting for nodes, 1 of 2 have joined · 1 s");
  status.heard({ kind: "gathering", joined: 2, wanted: 2, afterMs: 0 });
  status.heard(started);
  assert.equal(status.text(2000, { messages: 0 }, 80), "banyan: 4 ranks on 2 nodes · 2 s");
});

test("M10: the line fits into the terminal", () => {
  const status = new JobStatus(size, 0);
  status.heard(started);
  assert.equal(status.text(1000, { messages: 0 }, 20), "banyan: 4 ranks on …");
});
