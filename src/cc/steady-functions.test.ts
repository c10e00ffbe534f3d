import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import binaryen from "binaryen";
import { timeLimit } from "../../test/patience.ts";
import { libraryNames, steadyFunctions } from "./steady-functions.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-steady-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Calls everything on the list; has a `fflush` of its own, and, where nobody else can see it, a `fclose`. */
const program = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int fflush(FILE *stream) { return MPI_Barrier(MPI_COMM_WORLD); }
int close_all(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  FILE *file = fopen(argv[0], "r+");
  printf("%f", strtod(argv[0], 0));
  fputc('x', file);
  ungetc('x', file);
  fseek(file, 1, SEEK_SET);
  fseeko(file, ftello(file), SEEK_SET);
  fflush(file);
  return (int)ftell(file) + (int)fwrite(argv, 1, 1, file) + close_all();
}
`;
const other = `
#include <mpi.h>
static __attribute__((noinline)) int fclose(int which) { return MPI_Barrier(which); }
int close_all(void) { return fclose(MPI_COMM_WORLD) + fclose(MPI_COMM_SELF); }
`;

function cc(...words: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [join(process.cwd(), "bin/banyan.js"), "cc", ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
}

/** Of each function whether it can be unwound: it looks at Asyncify's state, which is the last global but one. */
function unwindable(path: string): ReadonlyMap<string, boolean> {
  const module = binaryen.readBinary(readFileSync(path));
  const state = binaryen.getGlobalInfo(module.getGlobalByIndex(module.getNumGlobals() - 2)).name;
  const functions = new Map<string, boolean>();
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const { name, body } = binaryen.getFunctionInfo(module.getFunctionByIndex(index));
    if (body !== 0) functions.set(name, binaryen.emitText(body).includes(`global.get $${state}`));
  }
  module.dispose();
  return functions;
}

describe("M6 functions of the C library that cannot unwind", () => {
  it("are left as they are, and functions of the program that have their names are not", timeLimit(120_000), () => {
    writeFileSync(join(folder, "program.c"), program);
    writeFileSync(join(folder, "other.c"), other);
    cc("-O1", "-c", "program.c", "other.c");
    assert.equal(spawnSync("ar", ["rcs", "libother.a", "other.o"], { cwd: folder }).status, 0);
    cc("program.o", "-L.", "-lother", "-o", "program.wasm");
    const files = ["program.o", "libother.a"].map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
    const names = libraryNames(files);
    assert(!names.includes("fflush") && !names.includes("fclose"), names.join());
    const functions = unwindable(join(folder, "program.wasm"));
    for (const name of ["main", "fflush", "fclose"]) assert.equal(functions.get(name), true, name);
    // Where the compiler has put one of them into its caller it is missing here.
    const there = names.filter((name) => functions.has(name));
    for (const name of ["fwrite", "__overflow", "vfprintf", "__toread", "__stdio_exit", "__shgetc"])
      assert(there.includes(name), `${name} is not in the C library any more`);
    for (const name of [...there, "printf", "printf_core", "strtod"]) assert.equal(functions.get(name), false, name);
  });

  it("a stream that calls the program, a number that is read from a stream: they can", () => {
    const names = libraryNames([]);
    const some = ["vfprintf", "fwrite", "__shgetc"];
    assert.deepEqual(new Set(steadyFunctions(names, new Set(some))), new Set(some));
    assert.deepEqual(steadyFunctions(names, new Set([...some, "cookiewrite"])), ["__shgetc"]);
    assert(!steadyFunctions(names, new Set([...some, "vfscanf"])).includes("__shgetc"));
  });

  it("a file that is no object could define any of them", () => {
    assert.deepEqual(libraryNames([{ name: "a.o", bytes: Buffer.from("BC\xc0\xde") }]), []);
  });
});
