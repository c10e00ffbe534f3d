/** Random calls of the C library's imports, row X8: no error that is none, no byte changed outside, in the memory and on the disk. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { long } from "../../test/long.ts";
import { timeLimit } from "../../test/patience.ts";
import { RandomCalls } from "./testing/random-calls.ts";

/** How often each import was called and did what it is for. */
type Good = Map<string, number>;

function fuzz(seed: number, calls: number, good: Good = new Map()): Good {
  const random = new RandomCalls(seed);
  try {
    random.run(calls);
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  } finally {
    random.end();
  }
  let sum = 0;
  for (const [name, made] of random.made) {
    good.set(name, (good.get(name) ?? 0) + made.good);
    sum += made.good;
  }
  // Most of them are wrong somewhere, but what is right must do something.
  assert(sum > calls / 5 && sum < (calls * 4) / 5, `seed ${seed}: ${sum} of ${calls} calls succeeded`);
  return good;
}

/** Calls that are refused every time show nothing. */
function assertOnFiles(good: Good): void {
  const changing = ["path_open", "fd_write", "fd_pwrite", "fd_filestat_set_size"];
  const looking = ["fd_seek", "fd_tell", "fd_read", "fd_pread"];
  const inVain = [...changing, ...looking].filter((name) => (good.get(name) ?? 0) === 0);
  assert(inVain.length === 0, `no call of ${inVain.join(", ")} succeeded`);
}

for (let seed = 1; seed <= 4; seed++) {
  test(`X8 random calls of the C library break nothing, seed ${seed}`, () => assertOnFiles(fuzz(seed, 1500)));
}

test("X8 two hundred thousand random calls of the C library break nothing", {
  ...long,
  ...timeLimit(3_600_000),
}, () => {
  const good: Good = new Map();
  for (let seed = 100; seed < 200; seed++) fuzz(seed, 2000, good);
  assertOnFiles(good);
});
