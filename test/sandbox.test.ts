/** Row X8: what a program in C can reach. Real programs that try to leave the folders they are given, beside a folder that is watched. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { banyan, folderOf, inFolder } from "./harness.ts";

const escapes = resolve("test/programs/c/escapes.c");
/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

/** Every file below a folder with its contents, and what the system knows of it; not when it was last read. */
function watched(folder: string): Record<string, unknown> {
  const entries: Record<string, unknown> = {};
  for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()]) {
    const path = join(folder, name);
    const { mode, nlink, uid, gid, size, ino, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    const status = lstatSync(path);
    const contents = status.isFile() ? readFileSync(path, "utf8") : status.isSymbolicLink() ? readlinkSync(path) : "";
    entries[name] = { mode, nlink, uid, gid, size, ino, mtimeNs, ctimeNs, contents };
  }
  return entries;
}

/** Inside and outside for one way, as `escapes.c` expects them. */
function prepare(root: string, way: string): void {
  const inside = join(root, "inside", way);
  const outside = join(root, "outside", way);
  mkdirSync(join(inside, "sub"), { recursive: true });
  writeFileSync(join(inside, "own.txt"), "own");
  writeFileSync(join(inside, "sub", "own.txt"), "own");
  execFileSync("mkfifo", [join(inside, "fifo")]);
  mkdirSync(join(outside, "empty"), { recursive: true });
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync("secret.txt", join(outside, "pointer"));
}

/** The ways that the program knows. */
const ways = [...readFileSync(escapes, "utf8").matchAll(/WAY\((\w+)\)[,}]/g)].map(([, name]) => name!);

describe("X8 no way leads out of the folders that a program in C is given", async () => {
  const root = folderOf("escapes");
  for (const way of [...ways, "race"]) prepare(root, way);
  const outside = join(root, "outside");
  const before = new Map([...ways, "race"].map((way) => [way, watched(join(outside, way))]));
  const ended = inFolder(join(root, "inside"), () => banyan(["run", "-n", "2", escapes, outside], patient));
  const { stdout, stderr } = await ended;
  const said = new Map(stdout.split("\n").map((line) => line.split(": ") as [string, string]));
  for (const way of [...ways, "race"]) {
    test(`X8 ${way.replaceAll("_", " ")}`, () => {
      assert.match(said.get(way) ?? `not tried: ${stderr}`, /^refused/);
      assert.deepEqual(watched(join(outside, way)), before.get(way));
    });
  }
});
