/** X2: file operations under a protocol that replays, on a disk of this test's own; a crash is possible between any two steps. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ChoiceKind, Choices, Outcome } from "../../core/ft/choices.ts";
import { filesOf } from "../../real/c-rank/node-files.ts";
import type { Files } from "../../wasi/ports.ts";
import { ReplayedFiles } from "./replayed-files.ts";
import { Crash, how, program } from "./testing/file-program.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-files-")));
const nodeFiles = filesOf([{ name: ".", path: root }]);
after(() => rmSync(root, { recursive: true, force: true }));

/** Choices of all lives; what is not stable when a life ends is lost. */
class Log implements Choices {
  readonly isReady = true;
  entries: Outcome[] = [];
  stable = 0;
  next = 0;

  replay(_kind: ChoiceKind): Outcome | undefined {
    return this.next < this.entries.length ? this.entries[this.next++] : undefined;
  }
  made(_kind: ChoiceKind, outcome: readonly number[]): void {
    this.entries.push([...outcome]);
    this.next++;
  }
  nothing(_kind: ChoiceKind): void {
    this.entries.push(null);
    this.next++;
  }
  /** The next life begins; of what was not stable some may have come through all the same. */
  begin(kept: number): void {
    this.entries.length = Math.max(this.stable, Math.min(this.entries.length, kept));
    this.next = 0;
  }
}

/** Stops at a given system call: before it, or after it has been done. */
function crashing(steps: { left: number }): Files {
  const isSeen = new Set(["resolve", "stat", "statOpen", "list", "readLink", "read", "close", "isReplayed"]);
  return new Proxy(nodeFiles, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function" || isSeen.has(String(name))) return member;
      return (...args: unknown[]) => {
        if (steps.left-- === 0) throw new Crash("before");
        const result = (member as (...args: unknown[]) => unknown)(...args);
        if (steps.left-- === 0) throw new Crash("after");
        return result;
      };
    },
  });
}

const treeOf = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => `${name}: ${readFileSync(join(folder, name), "utf8")}`);

/** Lives until one comes to the end; the first one crashes at that step. */
function live(name: string, crashAt: number, keeps: number): { tree: string[]; crashed: boolean } {
  const folder = join(root, name);
  mkdirSync(folder);
  const choices = new Log();
  const steps = { left: crashAt };
  const mayLeave = (): void => {
    choices.stable = choices.entries.length;
  };
  const newFiles = (files: Files) => new ReplayedFiles({ files, choices, mayLeave, beganMs: Date.now() - 1000 });
  let crashed = false;
  try {
    program(newFiles(crashing(steps)), folder);
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    crashed = true;
    choices.begin(choices.stable + keeps);
    program(newFiles(nodeFiles), folder);
  }
  return { tree: treeOf(folder), crashed };
}

test("X2 whenever a life ends, the next one leaves the files of a life that nothing happened to", () => {
  const plain = live("plain", -1, 0);
  assert(!plain.crashed);
  assert.deepEqual(plain.tree, [
    "counter: 3",
    "link: one\ntwo\nthree, in the old one\n",
    "old: one\ntwo\nthree, in the old one\n",
    "second: one\ntwo\nthree, in the old one\n",
  ]);
  let crashes = 0;
  for (let step = 0; ; step++) {
    for (const keeps of [0, 1, 100]) {
      const { tree, crashed } = live(`${step}-${keeps}`, step, keeps);
      assert.deepEqual(tree, plain.tree, `a crash at step ${step}, ${keeps} more choices came through`);
      if (crashed) crashes++;
    }
    if (!live(`${step}-again`, step, 0).crashed) break;
  }
  assert(crashes > 80, `${crashes} crashes`);
});

test("X2 what is replayed is not done again: the disk may look quite different by then", () => {
  const folder = join(root, "replayed");
  mkdirSync(folder);
  const choices = new Log();
  const newFiles = () => new ReplayedFiles({ files: nodeFiles, choices, mayLeave() {}, beganMs: Date.now() - 1000 });
  program(newFiles(), folder);
  const before = choices.entries.length;
  choices.begin(before);
  rmSync(folder, { recursive: true });
  program(newFiles(), folder);
  assert.equal(choices.entries.length, before);
  assert.throws(() => statSync(folder), /ENOENT/);
});

test("X2 files that have not changed are read again; large reads of those that have are compared", () => {
  const [old, large] = [join(root, "old-file"), join(root, "large-file")];
  writeFileSync(old, "as it was");
  utimesSync(old, 1000, 1000);
  writeFileSync(large, new Uint8Array(100_000).fill(7));
  const choices = new Log();
  // The file system says when it was written, not we: the job begins after that.
  const newFiles = (beganMs: number) => new ReplayedFiles({ files: nodeFiles, choices, mayLeave() {}, beganMs });
  const read = (files: Files, path: string, bytes: number): number => {
    const file = files.open(path, how({ read: true }));
    const got = files.read(file, new Uint8Array(bytes), 0);
    files.close(file);
    return got;
  };
  const later = Date.now() + 60_000;
  assert.equal(read(newFiles(later), old, 20), 9);
  assert.deepEqual(choices.entries, [null, null]);
  choices.begin(2);
  assert.equal(read(newFiles(later), old, 20), 9);
  choices.begin(2);
  assert.throws(
    () => read(newFiles(Date.now() - 60_000), old, 20),
    /Cannot replay: .*old-file.* has been changed since/,
  );
  choices.begin(0);
  assert.equal(read(newFiles(0), large, 100_000), 100_000);
  assert.equal((choices.entries as Outcome[])[1]!.length, 4);
  choices.begin(2);
  assert.equal(read(newFiles(0), large, 100_000), 100_000);
  writeFileSync(large, new Uint8Array(100_000).fill(8));
  choices.begin(2);
  assert.throws(() => read(newFiles(0), large, 100_000), /Cannot replay/);
});
