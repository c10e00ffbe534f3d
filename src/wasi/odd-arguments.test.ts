/** Arguments of WASI calls that no C library passes, row X8: what random calls (fuzz.test.ts) have found. */
import assert from "node:assert/strict";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TestDisk } from "../abi/testing/disk.ts";
import { Descriptors } from "./descriptors.ts";
import { Errno } from "./errno.ts";
import type { Library } from "./ports.ts";
import { wasiImports } from "./wasi.ts";

const disk = new TestDisk();
writeFileSync(join(disk.path, "a"), "contents");
const memory = new Uint8Array(4096);
const descriptors = new Descriptors(disk.files, [{ name: "/", path: disk.path }]);
const library = {
  files: disk.files,
  steadyTime: () => 1n,
  realTime: () => 1n,
  random() {},
} as Partial<Library> as Library;
const calls = wasiImports({ library, memory, descriptors, pause: { untilNs: 0n } });
const call = (name: string, ...args: (number | bigint)[]): number => calls[name]!(...args);
const [folder, at, out] = [3, 64, 512];

function opened(): number {
  memory[at] = 0x61;
  assert.equal(call("path_open", folder, 0, at, 1, 0, 2n, 0n, 0, out), 0);
  return new DataView(memory.buffer).getUint32(out, true);
}

test("X8 fd_renumber: only a descriptor that is open can become another", () => {
  const file = opened();
  // A table of so many descriptors would take the node's memory, and for ever to search.
  for (const to of [1_000_000_000, 0x7fffffff, -1, 77]) assert.equal(call("fd_renumber", file, to), Errno.BADF);
  assert.equal(call("fd_renumber", file, file), 0);
  assert.equal(call("fd_tell", file, out), 0, "it is still open");
  const other = opened();
  assert.equal(call("fd_renumber", file, other), 0);
  assert.equal(call("fd_tell", file, out), Errno.BADF);
  assert.equal(call("fd_tell", other, out), 0);
  assert.equal(call("fd_close", other), 0);
});

test("X8 fd_readdir: behind the last entry there is nothing", () => {
  for (const cookie of [-1n, -(2n ** 63n), 2n ** 63n - 1n, 4n]) {
    assert.equal(call("fd_readdir", folder, at, 400, cookie, out), 0);
    assert.equal(new DataView(memory.buffer).getUint32(out, true), 0, `cookie ${cookie}`);
  }
  assert.equal(call("fd_readdir", folder, at, 400, 2n, out), 0);
  assert.equal(new DataView(memory.buffer).getUint32(out, true), 25, "the third entry is a");
});

test("X8 clock_time_get: there are four clocks", () => {
  const codes = [0, 1, 2, 3, 4, -1, 0x7fffffff].map((clock) => call("clock_time_get", clock, 0n, out));
  assert.deepEqual(codes, [0, 0, 0, 0, Errno.INVAL, Errno.INVAL, Errno.INVAL]);
});

test("X8 room for nothing may be anywhere", () => {
  symlinkSync("a", join(disk.path, "b"));
  memory[at] = 0x62;
  for (const nowhere of [-8, 0, memory.length, 0x7fffffff]) {
    assert.equal(call("fd_prestat_dir_name", folder, nowhere, 0), 0);
    assert.equal(call("random_get", nowhere, 0), 0);
    assert.equal(call("path_readlink", folder, at, 1, nowhere, 0, out), 0);
  }
});

test("X8 names that are not UTF-8 are no names: two of them would be one file", () => {
  memory.set([0x61, 0xe9], at);
  const create = 1;
  assert.equal(call("path_open", folder, 0, at, 2, create, 2n, 0n, 0, out), Errno.ILSEQ);
  assert.equal(call("path_create_directory", folder, at, 2), Errno.ILSEQ);
  assert.equal(call("path_symlink", at, 2, folder, at, 1), Errno.ILSEQ);
  assert.deepEqual(readdirSync(disk.path).sort(), ["a", "b"]);
});
