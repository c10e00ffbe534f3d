import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobEvent } from "./job-event.ts";
import { JobEventQueue } from "./job-event-queue.ts";

const line = (number: number): JobEvent => ({ kind: "line", rank: 0, stream: "stdout", number, text: "", ended: true });

test("M7: lines nobody reads are done at once, and only the latest are kept", async () => {
  const queue = new JobEventQueue();
  let done = 0;
  queue.push({ kind: "started", ranks: 1, nodes: 1, pids: [], afterMs: 0 });
  for (let i = 0; i < 100; i++) queue.push(line(i), 1 << 18, () => done++);
  assert.equal(done, 100);
  assert.equal((await queue.next()).value?.kind, "started");
  assert.deepEqual((await queue.next()).value, line(96));
});

test("M7: once somebody reads, a line is done when it is taken", async () => {
  const queue = new JobEventQueue();
  const first = queue.next();
  let done = 0;
  queue.push(line(0), 1, () => done++);
  queue.push(line(1), 1, () => done++);
  assert.equal(done, 1);
  assert.deepEqual((await first).value, line(0));
  assert.deepEqual((await queue.next()).value, line(1));
  assert.equal(done, 2);
});

test("M7: who leaves the loop is not waited for", async () => {
  const queue = new JobEventQueue();
  let done = 0;
  const first = queue.next();
  for (let i = 0; i < 3; i++) queue.push(line(i), 1, () => done++);
  await first;
  await queue.return();
  queue.push(line(3), 1, () => done++);
  assert.equal(done, 4);
  assert.equal((await queue.next()).done, true);
});

test("M7: what is there can be read after the end", async () => {
  const queue = new JobEventQueue();
  queue.push(line(0));
  queue.end();
  assert.equal((await queue.next()).done, false);
  assert.equal((await queue.next()).done, true);
});
