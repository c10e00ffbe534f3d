import assert from "node:assert/strict";
import { test } from "node:test";
import { Errno, WasiError } from "./errno.ts";
import { pathOfName } from "./paths.ts";
import type { Files } from "./ports.ts";

const links: Readonly<Record<string, string>> = { "/project/out": "/etc" };
const files = { resolve: (path: string) => links[path] ?? path } as Files;
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
  assert.equal(find("./sub//../a.bin"), "/project/a.bin");
  assert.equal(find("/project/a.bin"), "/project/a.bin");
  assert.equal(find("/data/a.bin"), "/mnt/data/a.bin");
  assert.equal(find("/data/new/a.bin"), "/mnt/new/a.bin");
  assert.equal(find("/data/newer"), "/mnt/data/newer");
  assert.equal(find("/etc/hosts", [{ name: "/", path: "/" }]), "/etc/hosts");
});

test("M6 what is in no folder is not found, by no detour", () => {
  for (const name of ["/etc/hosts", "../a.bin", "sub/../../a.bin", "/data/../etc/hosts", "out"]) {
    assert.throws(() => find(name), isRefused, name);
  }
  assert.throws(() => find("a.bin", folders.slice(1)), isRefused);
});
