/** Random calls of the C library's imports, row X8: no error that is none, no byte changed outside, in the memory and on the disk. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { long } from "../../test/long.ts";
import { timeLimit } from "../../test/patience.ts";
import { RandomCalls } from "./testing/random-calls.ts";

function fuzz(seed: number, calls: number): void {
  const random = new RandomCalls(seed);
  try {
    random.run(calls);
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  } finally {
    random.end();
  }
  const counts = [...random.made.values()];
  // Calls that are refused every time show nothing.
  const onFiles = [
    "path_open",
    "fd_seek",
    "fd_tell",
    "fd_read",
    "fd_write",
    "fd_pread",
    "fd_pwrite",
    "fd_filestat_set_size",
  ];
  const inVain = onFiles.filter((name) => (random.made.get(name)?.good ?? 0) === 0);
  assert(inVain.length === 0, `no call of ${inVain.join(", ")} succeeded`);
  const good = counts.reduce((sum, each) => sum + each.good, 0);
  // Most of them are wrong somewhere, but what is right must do something.
  assert(good > calls / 5 && good < (calls * 4) / 5, `${good} of ${calls} calls succeeded`);
}

for (let seed = 1; seed <= 4; seed++) {
  test(`X8 random calls of the C library break nothing, seed ${seed}`, () => fuzz(seed, 1500));
}

test("X8 two hundred thousand random calls of the C library break nothing", {
  ...long,
  ...timeLimit(3_600_000),
}, () => {
  for (let seed = 100; seed < 200; seed++) fuzz(seed, 2000);
});
