/** The package from programs in CommonJS: their types are found, and so is their code. Row M7. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { program } from "./harness.ts";

const source = `import { launch, type LaunchOptions, type Mpi, mpi } from "banyan";
const options: LaunchOptions = { ranks: 2 };
const size = (given: Mpi): number => given.world.size;
// @ts-expect-error: the types are looked at.
options.ranks = "two";
export const all = [typeof launch, options, size, mpi];
`;
const path = program("commonjs/program.cts", source);
const folder = dirname(path);
mkdirSync(join(folder, "node_modules"));
symlinkSync(process.cwd(), join(folder, "node_modules/banyan"));

test("M7: TypeScript that becomes CommonJS has the package's types", () => {
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const words = ["--strict", "--noEmit", "--skipLibCheck", "--target", "es2022", "--module", "node16", "program.cts"];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...words], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("M7: a program in CommonJS can require the package", () => {
  const text = `const { launch, mpi, thaw } = require("banyan");
    console.log(typeof launch, typeof thaw);
    try { launch("nothing.ts"); } catch (error) { console.log(error.message); }
    try { mpi.world; } catch (error) { console.log(error.message); }`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", text], { cwd: folder, encoding: "utf8" });
  const lines = [
    "function function",
    "Cannot run nothing.ts: there is no such file",
    "Cannot use mpi.world: this is not a rank; start the program with `banyan run`",
  ];
  assert.equal(stdout, `${lines.join("\n")}\n`, stderr);
});
