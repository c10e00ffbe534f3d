/** The summary of a job under a protocol that restarts lost ranks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobRecoveryReport } from "../real/job/report/job-report.ts";
import { recoveryText } from "./recovery-text.ts";

const calm: JobRecoveryReport = {
  checkpoints: 0,
  restarts: 0,
  moves: 0,
  ranksRestarted: 0,
  checkpointTimes: [],
  recoveries: [],
};

test("the summary tells losses and checkpoints only where there were any", () => {
  assert.deepEqual(recoveryText(calm), []);
  assert.deepEqual(recoveryText({ ...calm, checkpoints: 1 })[0], "1 checkpoint");
});

test("the summary tells how long the longest recovery took, if one was complete", () => {
  const lost = { ...calm, restarts: 2, ranksRestarted: 4 };
  assert.equal(recoveryText(lost)[0], "2 nodes lost, 4 ranks restarted");
  const recovery = { ranks: [0], runningMs: 100 };
  const recoveries = [
    { ...recovery, caughtUpMs: 600 },
    { ...recovery, caughtUpMs: 250 },
  ];
  assert.equal(recoveryText({ ...lost, recoveries })[0], "2 nodes lost, 4 ranks restarted within 0.60 s");
  const alone = { ...calm, ranksRestarted: 1, recoveries: [{ ...recovery, caughtUpMs: 250 }] };
  assert.equal(recoveryText(alone)[0], "1 rank restarted in 0.25 s");
});
