/** WASI calls with invalid addresses, row X8. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Descriptors } from "./descriptors.ts";
import { Errno } from "./errno.ts";
import type { Files, Library } from "./ports.ts";
import { wasiImports } from "./wasi.ts";

/** A world in which every action fails the test. */
const untouched = new Proxy({} as Files, {
  get: (_target, name) => () => assert.fail(`files.${String(name)} is called`),
});
const library: Library = {
  run: "test",
  args: ["program", "word"],
  environment: ["A=b"],
  files: untouched,
  steadyShiftNs: 0n,
  realTime: () => 1n,
  steadyTime: () => 1n,
  random: () => assert.fail("random bytes are made"),
  sleep: () => assert.fail("it sleeps"),
  yield() {},
  write: () => assert.fail("something is written"),
  awaitInput: () => true,
  read: () => assert.fail("something is read"),
  exit: () => assert.fail("the program exits"),
};

const memory = new Uint8Array(65_536);
const view = new DataView(memory.buffer);
const descriptors = new Descriptors(untouched, [{ name: "/", path: "/tmp" }]);
const calls = wasiImports({ library, memory, descriptors, pause: { untilNs: 0n } });

/** A place of its own for every argument, and two pieces of four bytes at the list. */
const list = 1024;
for (let i = 0; i < 2; i++) {
  view.setUint32(list + 8 * i, 2048 + 4 * i, true);
  view.setUint32(list + 8 * i + 4, 4, true);
}

type Args = readonly (number | bigint)[];
/** Valid arguments, and which of them are addresses. */
const all: readonly (readonly [name: string, args: Args, addresses: readonly number[]])[] = [
  ["args_sizes_get", [64, 128], [0, 1]],
  ["args_get", [64, 128], [0, 1]],
  ["environ_sizes_get", [64, 128], [0, 1]],
  ["environ_get", [64, 128], [0, 1]],
  ["clock_res_get", [0, 64], [1]],
  ["clock_time_get", [0, 0n, 64], [2]],
  ["random_get", [64, 100], [0]],
  ["poll_oneoff", [64, 256, 2, 512], [0, 1, 3]],
  ["fd_write", [1, list, 2, 64], [1, 3]],
  ["fd_read", [0, list, 2, 64], [1, 3]],
  ["fd_pread", [3, list, 2, 0n, 64], [1, 4]],
  ["fd_pwrite", [3, list, 2, 0n, 64], [1, 4]],
  ["fd_seek", [3, 0n, 0, 64], [3]],
  ["fd_tell", [3, 64], [1]],
  ["fd_fdstat_get", [3, 64], [1]],
  ["fd_filestat_get", [1, 64], [1]],
  ["fd_prestat_get", [3, 64], [1]],
  ["fd_prestat_dir_name", [3, 64, 1], [1]],
  ["fd_readdir", [3, 64, 100, 0n, 512], [1, 4]],
  ["path_open", [3, 0, 64, 4, 0, 2n, 0n, 0, 512], [2, 8]],
  ["path_filestat_get", [3, 0, 64, 4, 512], [2, 4]],
  ["path_filestat_set_times", [3, 0, 64, 4, 0n, 0n, 0], [2]],
  ["path_create_directory", [3, 64, 4], [1]],
  ["path_remove_directory", [3, 64, 4], [1]],
  ["path_unlink_file", [3, 64, 4], [1]],
  ["path_rename", [3, 64, 4, 3, 128, 4], [1, 4]],
  ["path_link", [3, 0, 64, 4, 3, 128, 4], [2, 5]],
  ["path_symlink", [64, 4, 3, 128, 4], [0, 3]],
  ["path_readlink", [3, 64, 4, 128, 16, 512], [1, 3, 5]],
];

describe("X8 WASI: memory that is not there is EFAULT, and nothing is done", () => {
  for (const [name, args, addresses] of all) {
    test(name, () => {
      for (const index of addresses) {
        for (const bad of [0, memory.length, -8, -memory.length]) {
          const tried = args.with(index, bad);
          assert.equal(calls[name]!(...tried), Errno.FAULT, `${name}(${tried})`);
        }
        // The last byte lies just behind the end.
        if (index === addresses.at(-1) && !/^(path_(?!open|filestat_get|readlink)|fd_prestat_dir)/.test(name)) {
          assert.equal(calls[name]!(...args.with(index, memory.length - 3)), Errno.FAULT);
        }
      }
    });
  }

  test("every call is looked at, or has no addresses", () => {
    const none =
      /^(sched_yield|proc_(exit|raise)|sock_|fd_(close|renumber|sync|datasync|advise|allocate|fdstat_set|filestat_set))/;
    const tried = new Set(all.map(([name]) => name));
    for (const name of Object.keys(calls)) assert.ok(tried.has(name) || none.test(name), name);
  });

  test("lengths and numbers of pieces that no memory has", () => {
    assert.equal(calls["random_get"]!(64, -1), Errno.FAULT);
    assert.equal(calls["path_unlink_file"]!(3, 64, 0x7fffffff), Errno.FAULT);
    assert.equal(calls["fd_write"]!(1, list, -1, 64), Errno.INVAL);
    assert.equal(calls["fd_write"]!(1, list, 0x7fffffff, 64), Errno.INVAL);
    assert.equal(calls["poll_oneoff"]!(64, 256, -1, 512), Errno.FAULT);
    for (const [at, length] of [
      [memory.length - 2, 4],
      [0, 4],
      [0xfffffff0, 32],
      [64, 0xffffffff],
    ] as const) {
      view.setUint32(list + 8, at, true);
      view.setUint32(list + 12, length, true);
      for (const name of ["fd_write", "fd_read"]) assert.equal(calls[name]!(1, list, 2, 64), Errno.FAULT);
    }
  });

  test("places that no file has are EINVAL", () => {
    view.setUint32(list + 8, 2048, true);
    view.setUint32(list + 12, 4, true);
    for (const far of [2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      assert.equal(calls["fd_pread"]!(3, list, 2, far, 64), Errno.INVAL);
      assert.equal(calls["fd_pwrite"]!(3, list, 2, far, 64), Errno.INVAL);
      assert.equal(calls["fd_seek"]!(3, far, 0, 64), Errno.INVAL);
      assert.equal(calls["fd_filestat_set_size"]!(3, far), Errno.INVAL);
      assert.equal(calls["fd_allocate"]!(3, far, 0n), Errno.INVAL);
    }
    assert.equal(calls["fd_allocate"]!(3, 2n ** 52n, 2n ** 52n), Errno.INVAL);
  });
});
