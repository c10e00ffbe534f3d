/** X7: whom `banyan thaw` believes: folders of frozen jobs that somebody else could have written, or has changed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, it } from "node:test";
import { launch } from "banyan";
import { banyan, inFolder, newFolder } from "./harness.ts";
import { timeLimit } from "./patience.ts";

const stranger = 12345;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can make files of another user" };
const frozen = resolve("test/programs/c/frozen.c");
const folder = newFolder("thaw-trust");
let copies = 0;

/** A copy of the frozen job to be changed. */
function copyOf(): string {
  const copy = join(folder, `copy-${copies++}`);
  cpSync(join(folder, "job"), copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

async function refused(job: string, why: RegExp): Promise<void> {
  const { code, stdout, stderr } = await banyan(["thaw", "-q", job]);
  assert.equal(stdout, "");
  assert.match(stderr, /^banyan: Cannot thaw [^\n]*\n$/);
  assert.match(stderr, why);
  assert.equal(code, 1);
}

function changeJob(job: string, change: (fields: Record<string, unknown>) => void): void {
  const path = join(job, "job.json");
  const fields = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  change(fields);
  writeFileSync(path, JSON.stringify(fields));
}

describe("X7 thaw", timeLimit(120_000), () => {
  before(async () => {
    const umask = process.umask(0);
    try {
      await inFolder(folder, async () => {
        const job = launch(frozen, { ranks: 2, args: ["600"], jobFolder: "job" });
        for await (const event of job) if (event.kind === "line" && event.text === "step 10") job.freeze();
        assert.equal((await job.done).reason.kind, "frozen");
      });
    } finally {
      process.umask(umask);
    }
  });

  it("a job is frozen for its owner alone", () => {
    const job = join(folder, "job");
    assert.equal(statSync(job).mode & 0o777, 0o700);
    for (const name of readdirSync(job)) assert.equal(statSync(join(job, name)).mode & 0o777, 0o600, name);
  });

  it("a folder that others could have written is refused", async () => {
    const job = copyOf();
    chmodSync(job, 0o777);
    await refused(job, /can be written by other users, who could have changed it; copy it to a folder of your own$/m);
  });

  it("a folder, and a file, of another user are refused", asRoot, async () => {
    const theirs = copyOf();
    chownSync(theirs, stranger, stranger);
    await refused(theirs, /belongs to user 12345/);
    for (const name of ["job.json", "program.wasm", "1.image"]) {
      const job = copyOf();
      chownSync(join(job, name), stranger, stranger);
      await refused(job, new RegExp(`its ${name} may have been written by other users`));
    }
  });

  it("a link, a fifo and a file of endless length in the place of a file are refused", async () => {
    for (const name of ["job.json", "program.wasm", "0.image"]) {
      const linked = copyOf();
      renameSync(join(linked, name), join(linked, "other"));
      symlinkSync("other", join(linked, name));
      await refused(linked, new RegExp(`${name} cannot be opened \\(it is a link\\)`));
      const piped = copyOf();
      rmSync(join(piped, name));
      assert.equal(spawnSync("mkfifo", [join(piped, name)]).status, 0);
      await refused(piped, /is not a file/);
    }
    const endless = copyOf();
    spawnSync("truncate", ["-s", "3G", join(endless, "job.json")]);
    await refused(endless, /its job\.json is too large/);
  });

  it("what is wrong in job.json is refused", async () => {
    for (const change of [
      { ranks: 1e9 },
      { ranks: "2" },
      { args: 7 },
      { folders: [{ name: ".", path: "relative" }] },
      { memoryMb: -1 },
      { program: null },
    ]) {
      const job = copyOf();
      changeJob(job, (fields) => Object.assign(fields, change));
      await refused(job, /job\.json is not as a freeze writes it; copy the folder again/);
    }
    const other = copyOf();
    writeFileSync(join(other, "job.json"), "null");
    await refused(other, /job\.json is not as a freeze writes it/);
  });

  it("a file that is open in an image and lies outside of the folders given is neither opened nor cut", async () => {
    const job = copyOf();
    const inside = join(folder, "inside");
    mkdirSync(inside);
    // The images have logs open for appending, which would be cut to what was in them then.
    const logs = ["frozen-0.log", "frozen-1.log"].map((name) => join(folder, name));
    for (const log of logs) appendFileSync(log, "written since\n");
    const contents = logs.map((log) => readFileSync(log, "utf8"));
    changeJob(job, (fields) => {
      fields["folders"] = [{ name: ".", path: inside }];
    });
    const { code, stderr } = await banyan(["thaw", "-q", job]);
    assert.notEqual(code, 0);
    assert.match(
      stderr,
      /Cannot use image .*: it has .* open, which is in none of the folders that the program is given/,
    );
    assert.deepEqual(
      logs.map((log) => readFileSync(log, "utf8")),
      contents,
    );
  });
});
