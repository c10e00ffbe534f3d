import assert from "node:assert/strict";
import { test } from "node:test";
import { Errno, WasiError } from "./errno.ts";
import { pathBelow, pathOfName } from "./paths.ts";
import type { Files } from "./ports.ts";

/** Returns the question as the answer: real/disk tests the answers. */
const files = {
  resolve: (path: string, follow: boolean) => `${path}${follow ? "" : " itself"}`,
} as Partial<Files> as Files;
const folders = [
  { name: ".", path: "/project" },
  { name: "/project", path: "/project" },
  { name: "/data", path: "/mnt/data" },
  { name: "/data/new", path: "/mnt/new" },
];
const find = (name: string, given = folders): string => pathOfName(files, given, name);
const isRefused = (error: unknown): boolean => error instanceof WasiError && error.errno === Errno.NOTCAPABLE;

test("M6 a name is looked for in the folder that has most of it", () => {
  assert.equal(find("a.bin"), "/project/a.bin");
  assert.equal(find("./sub//../a.bin"), "/project/./sub//../a.bin");
  assert.equal(find("/project/a.bin"), "/project/a.bin");
  assert.equal(find("/data/a.bin"), "/mnt/data/a.bin");
  assert.equal(find("/data/new/a.bin"), "/mnt/new/a.bin");
  assert.equal(find("/data/newer"), "/mnt/data/newer");
  assert.equal(find("/etc/hosts", [{ name: "/", path: "/" }]), "/etc/hosts");
  assert.equal(pathBelow(files, "/mnt", "a.bin", false), "/mnt/a.bin itself");
});

test("M6 a name that begins in no folder is not looked for", () => {
  assert.throws(() => find("/etc/hosts"), isRefused);
  assert.throws(() => find("a.bin", folders.slice(1)), isRefused);
  assert.throws(() => pathBelow(files, "/project", "/etc/hosts", true), isRefused);
});
