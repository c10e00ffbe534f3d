/** The summary's words for a job under message logging. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoggingReport } from "../real/logging/logging-report.ts";
import { loggingText, sizeText } from "./logging-text.ts";

const calm: LoggingReport = {
  loggedBytes: 35_200_000,
  loggedMessages: 12,
  determinantBytes: 4_000,
  checkpoints: 0,
  restarts: 0,
  loggerRestarts: 0,
  ranksRestarted: 0,
  perRank: [],
  checkpointTimes: [],
  recoveries: [],
};

test("the summary tells losses and checkpoints only where there were any", () => {
  assert.deepEqual(loggingText(calm), ["35 MB of messages and 4.0 KB of choices logged"]);
  assert.deepEqual(loggingText({ ...calm, checkpoints: 1 })[0], "1 checkpoint");
});

test("the summary tells how long the longest recovery took, if one was complete", () => {
  const lost = { ...calm, restarts: 2, ranksRestarted: 4 };
  assert.equal(loggingText(lost)[0], "2 nodes lost, 4 ranks restarted");
  const recovery = { ranks: [0], runningMs: 100 };
  const recoveries = [
    { ...recovery, caughtUpMs: 600 },
    { ...recovery, caughtUpMs: 250 },
  ];
  assert.equal(loggingText({ ...lost, recoveries })[0], "2 nodes lost, 4 ranks restarted within 0.60 s");
  const alone = { ...calm, ranksRestarted: 1, recoveries: [{ ...recovery, caughtUpMs: 250 }] };
  assert.equal(loggingText(alone)[0], "1 rank restarted in 0.25 s");
});

test("sizes have the unit that people would choose", () => {
  assert.deepEqual([0, 999, 1_000, 9_940, 12_345, 999_600, 35_000_000, 2e12].map(sizeText), [
    "0 B",
    "999 B",
    "1.0 KB",
    "9.9 KB",
    "12 KB",
    "1.0 MB",
    "35 MB",
    "2000 GB",
  ]);
});
