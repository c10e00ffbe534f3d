/**
 * Crashes of C programs, row M10: which signal each of them is elsewhere, what its author is told, and the stack of C. On simulated ranks,
 * where a crash costs no process; real ranks share all of it but the last step, which one run shows.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { before, describe, test } from "node:test";
import type { Signalled } from "../src/core/service/ending.ts";
import { CWorld, codeOfOutcome } from "../src/sim/c/c-world.ts";
import { banyan, folderOf, program } from "./harness.ts";

const source = resolve("test/programs/c/crashes.c");
const patient = { timeoutMs: 240_000 };

async function compiled(name: string, ...flags: readonly string[]): Promise<string> {
  program("crashes/folder", "");
  const path = folderOf(`crashes/${name}.wasm`);
  const { code, stderr } = await banyan(["cc", ...flags, source, "-o", path], patient);
  assert.equal(code, 0, stderr);
  return path;
}

interface Crash {
  readonly code: number;
  readonly why: string;
  /** "main 39": names and lines, innermost first. */
  readonly frames: readonly string[];
}

function crashOf(module: WebAssembly.Module, what: string): Crash {
  const world = new CWorld({
    module,
    ranks: 1,
    seed: 1,
    args: ["crashes", what],
    newMemory: () => new WebAssembly.Memory({ initial: 256, maximum: 256, shared: true }),
    print() {},
    signalName: (signal) => Object.entries(constants.signals).find(([, number]) => number === signal)?.[0],
  });
  const outcome = world.run();
  assert.ok(outcome.kind === "failed" && outcome.how.kind === "signalled", JSON.stringify(outcome));
  const { why, frames } = outcome.how satisfies Signalled;
  const places = frames.map((frame) => frame.replace(/ \(.*crashes\.c:(\d+)(:\d+)?\)$/, " $1"));
  return { code: codeOfOutcome(outcome), why, frames: places };
}

describe("M10: a crash in C, compiled with -g", () => {
  let module: WebAssembly.Module;
  before(async () => {
    module = new WebAssembly.Module(readFileSync(await compiled("debug", "-g")));
  });

  for (const [what, code, why, frames] of [
    ["divide", 136, /^integer division by zero$/, ["divide 12", "main 39"]],
    ["write", 139, /^access through a null pointer$/, ["write_member 15", "main 40"]],
    ["zero", 139, /^access through a null pointer$/, ["main 41"]],
    ["read", 139, /^access through a null pointer$/, ["read_member 19", "main 42"]],
    ["far", 139, /^memory access out of bounds$/, ["far 29", "main 44"]],
    [
      "pointer",
      139,
      /^a pointer that is null, or whose type has other parameters, is called as a function$/,
      ["through 32", "main 45"],
    ],
    ["trap", 132, /^a trap instruction/, ["main 46"]],
    ["abort", 134, /^$/, ["main 47"]],
    ["assert", 134, /^$/, ["main 48"]],
  ] as const) {
    test(`${what} is ${code}, with the lines of the stack`, () => {
      const crash = crashOf(module, what);
      assert.match(crash.why, why);
      assert.deepEqual({ code: crash.code, frames: crash.frames }, { code, frames });
    });
  }

  test("a recursion without end names its line", () => {
    const { code, why, frames } = crashOf(module, "deep");
    assert.match(why, /^the stack is used up/);
    // The first write of a function that has no room any more.
    assert.deepEqual([code, frames[0], frames[1]], [139, "endless 22", "endless 25"]);
  });
});

describe("M10: a crash in C, compiled with -O2", () => {
  let module: WebAssembly.Module;
  before(async () => {
    module = new WebAssembly.Module(readFileSync(await compiled("fast", "-O2")));
  });

  test("functions have their names", () => {
    assert.deepEqual(crashOf(module, "divide").frames, ["divide", "main"]);
  });

  for (const [what, address, finder] of [
    ["zero", 0, "MPI_Barrier"],
    // Nobody looks at all of them in a call but in the last.
    ["write", 8, "MPI_Finalize"],
    ["finalized", 8, "the end of the program"],
  ] as const) {
    test(`a write through a null pointer (${what}) is found by ${finder}`, () => {
      const { code, why } = crashOf(module, what);
      // The bytes of 0.5 and 1.0 that are not zero come last.
      const bytes = new RegExp(
        `^write to address ${address + 6} through a null pointer \\(compile with -g to see where\\), found by ${finder}$`,
      );
      assert.match(why, bytes);
      assert.equal(code, 139);
    });
  }

  test("a recursion without end is no access out of bounds", () => {
    assert.match(crashOf(module, "deep").why, /^the stack is used up/);
  });
});

test("M10: a real rank that crashes prints its stack of C, and the exit code is the signal's", async () => {
  const path = await compiled("debug", "-g");
  const { code, stderr } = await banyan(["run", "-n", "2", path, "write"], patient);
  const [line, ...frames] = stderr.split("\n").filter((text) => !/, exit \d+$/.test(text) && text !== "");
  assert.match(
    line ?? "",
    /^banyan: rank \d on node 0 failed after .*: SIGSEGV: access through a null pointer in write_member \(test\/programs\/c\/crashes\.c:15:\d+\)$/,
  );
  assert.deepEqual([code, frames.length], [139, 2], stderr);
  assert.match(frames[1] ?? "", /^ {4}at main \(test\/programs\/c\/crashes\.c:40:\d+\)$/);
});

test("M10: a collective of the data plane finds a write through a null pointer too", async () => {
  const path = await compiled("fast", "-O2");
  const { code, stderr } = await banyan(["run", "-n", "2", path, "zero"], patient);
  assert.match(
    stderr,
    /^banyan: rank \d on node 0 failed .*: SIGSEGV: write to address 6 .*, found by MPI_Barrier in main$/m,
  );
  assert.equal(code, 139);
});
