import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordFlag, RecordKind, Records } from "../request/records.ts";
import type { Process } from "./process.ts";
import { unfinishedObjects } from "./program-checkpoint.ts";

/** A process with these records, so many of them messages that wait for a receive. */
function processWith(records: Records, waiting: number): Process {
  const engine = { records, unexpected: { count: waiting } };
  return { engine, world: null, self: null, communicators: new Map() } as unknown as Process;
}

test("R6 a message that has come and that the protocol has not let in yet keeps no program from its checkpoint", () => {
  const records = new Records();
  const aside = records.take(RecordKind.ENVELOPE);
  records.addFlag(aside, RecordFlag.ASIDE);
  records.take(RecordKind.ENVELOPE);
  assert.deepEqual(unfinishedObjects(processWith(records, 1)), []);
});

test("R6 a message that a matched probe has taken out of its queue does", () => {
  const records = new Records();
  records.take(RecordKind.ENVELOPE);
  assert.deepEqual(unfinishedObjects(processWith(records, 0)), ["a message that mprobe has set aside"]);
});
