/** Folders that cannot be resumed say why in one line. */
import { equal, match, ok } from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JobRecord } from "../../../core/service/job-record.ts";
import type { JobOutcome } from "../../../core/service/outcome.ts";
import { placementOf } from "../../../core/service/placement.ts";
import { removeEndedJob } from "./job-folder.ts";
import { JournalFile } from "./journal-file.ts";
import { OutputFile } from "./output-file.ts";
import { readResumable } from "./read-resumable.ts";
import { writeRun } from "./resumable-job.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-resumable-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const note = (message: string): void => ok(false, message);
const began: JobRecord = {
  kind: "began",
  nodes: 1,
  ranks: 2,
  placement: placementOf([0, 0]),
  setOf: [0, 0],
  calendarMs: 0,
};

/** The folder of a job that was killed after these records. */
function killedJob(...records: readonly JobRecord[]): string {
  const place = mkdtempSync(join(folder, "job-"));
  writeFileSync(join(place, "program.wasm"), "module");
  const journal = new JournalFile(place, note);
  for (const record of [began, ...records]) journal.append(record);
  journal.close();
  new OutputFile({ folder: place, note }).close();
  writeRun(place, {
    program: "/solver.c",
    language: "c",
    form: "wasm",
    packages: [],
    args: ["7"],
    others: [],
    ranks: 2,
    nodes: 1,
    placement: [0, 0],
    nodeMap: [0, 0],
    setOf: [0, 0],
    memoryMb: 64,
    heapMb: 0,
    folders: [{ name: ".", path: "/" }],
    environment: null,
    protocol: "logging",
    protocolOptions: {},
    faults: "",
    keepSuspects: false,
    heartbeatMs: 100,
    patienceMs: 750,
    label: false,
    outputFolder: "",
    seed: -5,
    beganMs: 1,
    folder: "/tmp/banyan-abcdef",
  });
  return place;
}

const refusal = (place: string): string => {
  const read = readResumable(place);
  return typeof read === "string" ? read.replace(place, "X") : "";
};

test("V7: a whole folder is read", () => {
  const read = readResumable(killedJob({ kind: "rank-over", rank: 1, how: "done", code: 0, outcome: null }));
  ok(typeof read !== "string", String(read));
  equal(read.job.seed, -5);
  equal(read.predecessor.state.dispatcher.ranks[1]!.state, "done");
  equal(read.predecessor.torn.length, 0);
});

test("V7: folders without a job, of a job that runs, of a job that has ended", () => {
  equal(refusal(join(folder, "nowhere")), "Cannot resume X: there is no such folder");
  const empty = mkdtempSync(join(folder, "empty-"));
  equal(refusal(empty), "Cannot resume X: there is no job in it; one that has ended well leaves nothing");
  writeFileSync(join(empty, "journal"), "");
  match(refusal(empty), /^Cannot resume X: the job had not begun, or was not under --protocol /);
  writeFileSync(join(empty, "job.json"), "{}");
  equal(refusal(empty), "Cannot resume X: it holds a frozen job; go on with banyan thaw");
  const runs = killedJob();
  writeFileSync(join(runs, "processes"), JSON.stringify([{ pid: process.ppid, start: "" }]));
  equal(refusal(runs), `Cannot resume X: the job still runs (process ${process.ppid})`);
  writeFileSync(join(runs, "processes"), JSON.stringify([{ pid: process.ppid, start: "another" }]));
  equal(refusal(runs), "", "another process has the number of one that is gone");
  const reason = { kind: "aborted", rank: 0, node: 0, message: "" } as const;
  const failed = killedJob({ kind: "decided", outcome: { code: 3, reason, afterMs: 1 } });
  equal(refusal(failed), "Cannot resume X: the job has ended by itself, with exit code 3; run it again");
  const stopped = killedJob({ kind: "decided", outcome: { code: 124, reason: { kind: "timeout" }, afterMs: 1 } });
  equal(refusal(stopped), "");
});

test("V7: a job that is over is whole, or is none, at whichever of its files its removal was killed", () => {
  for (let removed = 0; ; removed++) {
    const finished: JobOutcome = { code: 0, reason: { kind: "finished" }, afterMs: 1 };
    const place = killedJob({ kind: "decided", outcome: finished });
    mkdirSync(join(place, "checkpoints", "set-0", "3"), { recursive: true });
    writeFileSync(join(place, "checkpoints", "set-0", "3", "0.image"), "image");
    mkdirSync(join(place, "memory-0"));
    equal(refusal(place), "", "its last lines may have been seen by nobody");
    let left = removed;
    const remove = (path: string): void => {
      if (left-- === 0) throw new Error("killed");
      rmSync(path, { recursive: true, force: true });
    };
    let isOver = true;
    try {
      removeEndedJob(place, { isFrozen: false }, remove);
    } catch {
      isOver = false;
    }
    equal(refusal(place), "Cannot resume X: there is no job in it; one that has ended well leaves nothing");
    equal(readdirSync(place).length, 0, "the rest is removed");
    if (!isOver) continue;
    ok(removed >= 5, `${removed} files`);
    return;
  }
});

test("V7: files that are torn, damaged, missing, or another version's", () => {
  const torn = killedJob();
  appendFileSync(join(torn, "journal"), Uint8Array.of(0xff, 1, 9, 0, 0));
  const read = readResumable(torn);
  ok(typeof read !== "string");
  equal(read.predecessor.torn.join(), "journal");

  const damaged = killedJob({ kind: "node-gone", node: 0 });
  const journal = readFileSync(join(damaged, "journal"));
  journal[12]! ^= 1;
  writeFileSync(join(damaged, "journal"), journal);
  match(
    refusal(damaged),
    /^Cannot resume X: Cannot read the journal: record 0 at byte 0 is damaged, and others follow it$/,
  );

  const changed = killedJob();
  writeFileSync(join(changed, "program.wasm"), "modul");
  equal(refusal(changed), "Cannot resume X: its program (program.wasm) is not the one that ran");

  const without = killedJob();
  rmSync(join(without, "output"));
  match(refusal(without), /^Cannot resume X: a file of it cannot be read: /);

  const older = killedJob();
  const text = readFileSync(join(older, "run.json"), "utf8");
  writeFileSync(join(older, "run.json"), text.replace(/"version": ".*"/, '"version": "0.0.9"'));
  match(refusal(older), /^Cannot resume X: it was started by another version of Banyan \(0\.0\.9, this is /);
  writeFileSync(join(older, "run.json"), text.replace('"ranks": 2', '"ranks": "2"'));
  equal(refusal(older), "Cannot resume X: its run.json .ranks is no whole number from 1 to 4096");
  writeFileSync(join(older, "run.json"), text.slice(0, 100));
  equal(refusal(older), "Cannot resume X: its run.json is no object");

  const shared = killedJob();
  mkdirSync(join(shared, "sub"));
  writeFileSync(join(shared, "input.spoilt"), "");
  match(refusal(shared), /its input cannot be read: a part of the standard input could not be written$/);
});
