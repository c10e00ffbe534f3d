/** The journal's bytes: what was written is read, what was torn is left out, what is damaged is refused. */

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "../base/crc-32.ts";
import fc from "../base/testing/properties.ts";
import type { JobRecord } from "./job-record.ts";
import { decodeJournal, encodeRecord } from "./journal.ts";
import { placementOf } from "./placement.ts";
import { recordsVersion as journalVersion } from "./record-frames.ts";

const count = fc.nat({ max: 1000 });
const counts = fc.array(count, { maxLength: 5 });
const reason = fc.oneof(
  fc.constant({ kind: "finished" } as const),
  // Any text: the words of a program's error come from the program.
  fc.record({ kind: fc.constant("unusable" as const), message: fc.string({ unit: "binary" }) }),
);
const outcome = fc.record({ code: count, reason, afterMs: fc.double({ min: 0, max: 1e9, noNaN: true }) });
const outcomeOrNull = fc.option(outcome);

const record: fc.Arbitrary<JobRecord> = fc.oneof(
  fc.record({
    kind: fc.constant("began" as const),
    nodes: count,
    ranks: count,
    placement: counts.map(placementOf),
    setOf: counts,
    calendarMs: count,
  }),
  fc.record({ kind: fc.constantFrom("admitted" as const, "withdrawn" as const), ranks: counts }),
  fc.record({
    kind: fc.constant("rank-over" as const),
    rank: count,
    how: fc.constantFrom("done" as const, "finished" as const, "frozen" as const, "failed" as const),
    code: count,
    outcome: outcomeOrNull,
  }),
  fc.record({ kind: fc.constantFrom("node-gone" as const, "excused" as const), node: count }),
  fc.record({
    kind: fc.constant("fall" as const),
    node: count,
    isGone: fc.boolean(),
    deaths: fc.array(fc.record({ order: count, rank: count, incarnation: count }), { maxLength: 3 }),
    returns: fc.boolean(),
    replaced: counts,
    passed: fc.array(fc.tuple(count, count), { maxLength: 3 }),
    reason,
    afterMs: count,
    outcome: outcomeOrNull,
  }),
  fc.record({ kind: fc.constant("took-over" as const), term: count }),
  fc.record({ kind: fc.constant("decided" as const), outcome }),
  fc.record({ kind: fc.constant("caught-up" as const), rank: count }),
  fc.record({ kind: fc.constant("progressed" as const), passed: fc.tuple(count, count) }),
  fc.record({ kind: fc.constant("saved" as const), set: count, calls: count }),
  fc.record({
    kind: fc.constantFrom("checkpoint-begun" as const, "checkpoint-given-up" as const, "checkpoint-refused" as const),
    set: count,
    number: count,
  }),
  fc.record({
    kind: fc.constant("checkpoint-committed" as const),
    set: count,
    checkpoint: fc.record({ number: count, position: fc.integer() }),
  }),
);
const records = fc.array(record, { minLength: 1, maxLength: 8 });

/** Texts of fast-check's objects have no prototype. */
const plain = (value: readonly JobRecord[]): unknown => JSON.parse(JSON.stringify(value));

function journalOf(written: readonly JobRecord[]): Uint8Array {
  return Uint8Array.from(written.flatMap((each) => [...encodeRecord(each)]));
}

test("CRC-32 is that of everybody else", () => {
  equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  equal(crc32(new TextEncoder().encode("456789"), crc32(new TextEncoder().encode("123"))), 0xcbf43926);
});

test("V1: a journal is read as it was written", () => {
  fc.assert(
    fc.property(records, (written) => {
      const bytes = journalOf(written);
      const read = decodeJournal(bytes);
      deepEqual(read, { kind: "read", records: plain(written), bytes: bytes.length });
    }),
  );
  deepEqual(decodeJournal(new Uint8Array(0)), { kind: "read", records: [], bytes: 0 });
});

test("V1: a last record that is torn anywhere is left out, and the others are read", () => {
  fc.assert(
    fc.property(records, (written) => {
      const whole = journalOf(written.slice(0, -1));
      const bytes = journalOf(written);
      const expected = { kind: "read", records: plain(written.slice(0, -1)), bytes: whole.length };
      for (let end = whole.length; end < bytes.length; end++)
        deepEqual(decodeJournal(bytes.subarray(0, end)), expected);
    }),
    { numRuns: 30 },
  );
});

test("V1: a last record with any bit flipped is left out, and the others are read", () => {
  fc.assert(
    fc.property(records, (written) => {
      const whole = journalOf(written.slice(0, -1));
      const bytes = journalOf(written);
      const expected = { kind: "read", records: plain(written.slice(0, -1)), bytes: whole.length };
      for (let bit = 8 * whole.length; bit < 8 * bytes.length; bit++) {
        deepEqual(decodeJournal(flipped(bytes, bit)), expected, `bit ${bit}`);
      }
    }),
    { numRuns: 10 },
  );
});

test("V1: a record with any bit flipped is refused when another follows it", () => {
  fc.assert(
    fc.property(records, record, (written, last) => {
      const bytes = journalOf([...written, last]);
      const damageable = 8 * journalOf(written).length;
      for (let bit = 0; bit < damageable; bit++) {
        const read = decodeJournal(flipped(bytes, bit));
        equal(read.kind, "damaged", `bit ${bit}`);
        if (read.kind === "damaged") match(read.problem, /^Cannot read the journal: record \d+ at byte \d+ is damaged/);
      }
    }),
    { numRuns: 5 },
  );
});

test("V1: a record of another version, or of a kind that nobody knows, is refused: it may be the one that matters", () => {
  const known: JobRecord = { kind: "node-gone", node: 1 };
  const other = encodeRecord(known);
  other[1] = journalVersion + 1;
  new DataView(other.buffer).setUint32(6, crc32(other.subarray(10), crc32(other.subarray(1, 6))), true);
  deepEqual(decodeJournal(other), {
    kind: "damaged",
    problem: `Cannot read the journal: record 0 at byte 0 is of format ${journalVersion + 1}, and this Banyan reads format ${journalVersion}`,
  });
  for (const strange of [{ kind: "node-came" }, { kind: "node-gone" }, { kind: "toString" }, 7, null, []]) {
    const read = decodeJournal(Uint8Array.from([...encodeRecord(known), ...encodeRecord(strange as JobRecord)]));
    equal(read.kind, "damaged", JSON.stringify(strange));
  }
});

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}
