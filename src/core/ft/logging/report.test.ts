import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryOf } from "./report.ts";

const ranks = [{ bytesTo: [200_000, 35_000_000], messages: 12, determinantBytes: 0 }, undefined];
const ends = { dead: 0, finished: 2 };

test("L2 the summary tells what was logged, and of an event logger that was lost", () => {
  const job = { determinantBytes: 4_000, loggerRestarts: 0 };
  assert.deepEqual(summaryOf({ ranks, ...ends, job }), ["35 MB of messages and 4.0 KB of choices logged"]);
  const lost = summaryOf({ ranks, ...ends, job: { ...job, loggerRestarts: 2 } });
  assert.equal(lost[0], "event logger restarted 2 times");
});
