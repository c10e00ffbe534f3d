import assert from "node:assert/strict";
import { test } from "node:test";
import { Alarm } from "./alarm.ts";

/** The alarm alone keeps no process alive, and wakes nobody who waits for it. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

test("L4: a core is called when its time has come, never before, and again for the next time", async () => {
  const lateMs: number[] = [];
  const core = { nextTimeMs: performance.now() + 0.4 };
  const alarm = new Alarm(core, (nowMs) => {
    lateMs.push(nowMs - core.nextTimeMs);
    core.nextTimeMs = lateMs.length === 5 ? Number.POSITIVE_INFINITY : nowMs + 0.4;
  });
  alarm.set();
  await until(() => lateMs.length === 5);
  for (const ms of lateMs) assert.ok(ms >= 0, `${ms} ms`);
});

test("L4: a core that changes its mind is called at its new time, one that is over never", async () => {
  let rings = 0;
  const core = { nextTimeMs: performance.now() + 3_600_000 };
  const alarm = new Alarm(core, () => {
    rings++;
    core.nextTimeMs = Number.POSITIVE_INFINITY;
  });
  alarm.set();
  core.nextTimeMs = 0;
  alarm.set();
  await until(() => rings > 0);
  core.nextTimeMs = 0;
  alarm.end();
  alarm.set();
  // A timer that had been set would be due before this one.
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(rings, 1);
});

test("L4: times further away than timers reach are waited for all the same", () => {
  const core = { nextTimeMs: performance.now() + 2 ** 40 };
  const alarm = new Alarm(core, () => assert.fail("too early"));
  alarm.set();
  alarm.end();
});
