import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JobRecord } from "../../../core/service/job-record.ts";
import { JournalFile, readJournal } from "./journal-file.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-journal-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const records: JobRecord[] = [0, 1, 2].map((node) => ({ kind: "node-gone", node }));

test("V1: what is appended is there at once, and a torn end is left out", () => {
  const notes: string[] = [];
  const journal = new JournalFile(folder, (message) => notes.push(message));
  for (const [i, record] of records.entries()) {
    journal.append(record);
    const read = readJournal(folder);
    deepEqual(read.kind === "read" && read.records, records.slice(0, i + 1));
  }
  journal.close();
  const path = join(folder, "journal");
  truncateSync(path, readFileSync(path).length - 1);
  const read = readJournal(folder);
  deepEqual(read.kind === "read" && read.records, records.slice(0, 2));
  deepEqual(notes, []);
});

test("V7: a journal that lacks a decision is not taken for one that has all", () => {
  const place = mkdtempSync(join(folder, "full-"));
  const notes: string[] = [];
  const journal = new JournalFile(place, (message) => notes.push(message));
  journal.append(records[0]!);
  // A record that no disk takes.
  journal.append({ kind: "admitted", ranks: [1n as unknown as number] });
  equal(notes.length, 1);
  deepEqual(readdirSync(place), ["journal.spoilt"]);
});

test("V1: a journal that cannot be made is one note, and nothing is written", () => {
  const path = join(folder, "journal");
  writeFileSync(path, "of another job");
  for (const [place, why] of [
    [join(folder, "nowhere"), "its folder does not exist"],
    [folder, `EEXIST: file already exists, open '${path}'`],
  ] as const) {
    const notes: string[] = [];
    const journal = new JournalFile(place, (message) => notes.push(message));
    for (const record of records) journal.append(record);
    journal.close();
    deepEqual(notes, [
      `Cannot write the job's journal: ${why}; the job goes on, and could not be taken over if its dispatcher were lost`,
    ]);
  }
  equal(readFileSync(path, "utf8"), "of another job");
});
