import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { folderLedAway, foldersFrom, foldersGiven } from "./folders-given.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-test-")));
after(() => rmSync(root, { recursive: true }));
const below = (name: string): string => join(root, name);
for (const name of ["project/run", "projects"]) mkdirSync(below(name), { recursive: true });
writeFileSync(below("project/file"), "");
symlinkSync("/", below("project/out"));
symlinkSync("run", below("project/near"));
symlinkSync("project", below("link"));

const given = [
  { name: ".", path: below("project") },
  { name: below("project"), path: below("project") },
];

test("M6 §11.8.2 wdir: another current folder, inside those that the program is given", () => {
  assert.equal(foldersFrom("", given), given);
  assert.deepEqual(foldersFrom(below("project/run"), given), [{ name: ".", path: below("project/run") }, given[1]]);
  assert.deepEqual(foldersFrom(below("project"), given), given);
});

test("X8 wdir: what is outside, or leads out, is refused; a link that stays inside is followed", () => {
  assert.deepEqual(foldersFrom(below("project/near"), given), foldersFrom(below("project/run"), given));
  for (const outside of [root, below("proj"), below("projects"), "/", below("project/out"), below("project/out/tmp")]) {
    assert.match(String(foldersFrom(outside, given)), /is in none of the folders that the program is given/, outside);
  }
  assert.match(String(foldersFrom(below("project/gone"), given)), /there is no such folder/);
  assert.match(String(foldersFrom(below("project/file"), given)), /it is no folder/);
});

test("X8 a folder is given under the name that the user says; what it leads to is found once", () => {
  assert.deepEqual(foldersGiven([below("link")]), [{ name: below("link"), path: below("project") }]);
  assert.deepEqual(foldersGiven(["."]), [
    { name: ".", path: realpathSync(".") },
    { name: process.cwd(), path: realpathSync(".") },
  ]);
});

test("X8 thaw: a given folder that a link leads away from is found; one that is not there is not", () => {
  assert.equal(folderLedAway(given), undefined);
  assert.equal(folderLedAway([...given, { name: "/gone", path: below("gone") }]), undefined);
  assert.equal(folderLedAway([{ name: "/near", path: below("project/near") }]), below("project/near"));
  const nested = [...given, { name: "/near", path: below("project/out/tmp") }];
  assert.equal(folderLedAway(nested), below("project/out/tmp"));
});

test("X8 what is no folder, or is the kernel's, cannot be given", () => {
  assert.match(
    String(foldersGiven([below("gone")])),
    /^Cannot give the program the folder .*gone: there is no such folder/,
  );
  assert.match(String(foldersGiven([below("project/file")])), /it is no folder/);
  for (const folder of ["/proc", "/proc/self", "/sys"])
    assert.match(String(foldersGiven([folder])), /it is the kernel's/);
});
