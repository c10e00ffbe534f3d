/** Row X8: what a program in C can reach. Real programs that try to leave the folders they are given, beside a folder that is watched. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { launch, thaw } from "banyan";
import { banyan, folderOf, inFolder, newFolder, program } from "./harness.ts";
import { tries } from "./long.ts";

const escapes = resolve("test/programs/c/escapes.c");
const frozen = resolve("test/programs/c/frozen.c");
const spawning = resolve("test/programs/c/spawner.c");
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

test("X8 no way leads out of the folders that a program in C is given", async (t) => {
  const root = folderOf("escapes");
  for (const way of [...ways, "race"]) prepare(root, way);
  const outside = join(root, "outside");
  const before = new Map([...ways, "race"].map((way) => [way, watched(join(outside, way))]));
  const ended = inFolder(join(root, "inside"), () => banyan(["run", "-n", "2", escapes, outside], patient));
  const { stdout, stderr } = await ended;
  const said = new Map(stdout.split("\n").map((line) => line.split(": ") as [string, string]));
  for (const way of [...ways, "race"]) {
    await t.test(`X8 ${way.replaceAll("_", " ")}`, () => {
      assert.match(said.get(way) ?? `not tried: ${stderr}`, /^refused/);
      assert.deepEqual(watched(join(outside, way)), before.get(way));
    });
  }
});

test("X8 the kernel's files are refused even to a program that is given everything", async () => {
  const { stdout, stderr } = await banyan(["run", "--sandbox", "--dir", "/", escapes, "/", "proc_by_name"], patient);
  assert.match(stdout, /^proc_by_name: refused/, stderr);
});

test("X8 a link out of the folders given is explained in one line, once", async () => {
  const root = folderOf("explained");
  for (const way of ["read_through"]) prepare(root, way);
  const outside = join(root, "outside");
  const run = (...options: string[]) =>
    inFolder(join(root, "inside"), () => banyan(["run", "-q", ...options, escapes, outside, "read_through"], patient));
  const { stderr } = await run();
  assert.equal(stderr.split("\n").length, 2, stderr);
  assert.match(
    stderr,
    /^banyan: Cannot follow ".*link\/secret\.txt": it leads to ".*outside.*; if it may go there, give that with --dir$/m,
  );
  rmSync(join(root, "inside/read_through/link"));
  const given = await run("--dir", outside);
  assert.equal(given.stdout, "read_through: worked\n");
  assert.equal(given.stderr, "");
});

/** What a program spawns: name, command, wdir, path. The others are sources that `spawner.c` has compiled. */
test("X8 what is spawned is read from the folders given, and from nowhere else", async (t) => {
  const root = folderOf("spawn-escapes");
  const outside = join(root, "outside");
  const child =
    "#include <mpi.h>\nint main(int n, char **v) { MPI_Comm up; MPI_Init(&n, &v); MPI_Comm_get_parent(&up); MPI_Comm_disconnect(&up); return MPI_Finalize(); }\n";
  const inside = (name: string, text: string): void => void program(`spawn-escapes/inside/${name}`, text);
  const spawner = program("spawn-escapes/program/spawner.c", readFileSync(spawning, "utf8"));
  program("spawn-escapes/outside/program.c", child);
  program("spawn-escapes/outside/module.wasm", "\0asm");
  program("spawn-escapes/outside/secret.txt", "secret");
  program("spawn-escapes/outside/header.h", "#define SECRET 1\n");
  program("spawn-escapes/program/beside.c", `#include "beside.h"\n${child}`);
  program("spawn-escapes/program/beside.h", "");
  inside("plain.c", child);
  inside("own.h", "#define OWN 1\n");
  mkdirSync(join(root, "inside/sub"));
  const embedding = (path: string): string => `static const char secret[] = {\n#embed "${path}"\n};\n${child}`;
  const including = (path: string, name = "SECRET"): string =>
    `#include "${path}"\n#if !${name}\n#error no\n#endif\n${child}`;
  const links = {
    "link.c": "program.c",
    out: "",
    "link.h": "header.h",
    "link.txt": "secret.txt",
    "module-link.wasm": "module.wasm",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(join(outside, target), join(root, "inside", name));
  symlinkSync("plain.c", join(root, "inside/near.c"));
  symlinkSync("own.h", join(root, "inside/near.h"));
  symlinkSync("sub", join(root, "inside/near"));
  for (const name of ["fifo.c", "fifo.h"]) execFileSync("mkfifo", [join(root, "inside", name)]);
  const header = join(outside, "header.h");
  const sources = {
    include_whole: including(header),
    include_link: including("link.h"),
    embed_whole: embedding(join(outside, "secret.txt")),
    assembled: `__asm__(".incbin \\"${join(outside, "secret.txt")}\\"");\n${child}`,
    include_up: including("../outside/header.h"),
    include_through: including("out/header.h"),
    include_macro: `#define HEADER "${header}"\n#include HEADER\n#if !SECRET\n#error no\n#endif\n${child}`,
    include_made: `#define TEXT(x) #x\n#define QUOTED(x) TEXT(x)\n#include QUOTED(${header})\n#if !SECRET\n#error no\n#endif\n${child}`,
    include_fifo: including("fifo.h"),
    include_asked: `#if !__has_include("${header}")\n#error no\n#endif\n${child}`,
    embed_link: embedding("link.txt"),
    embed_kernel: embedding("/proc/self/environ"),
  };
  // Each of them is compiled.
  const tried = Object.entries(sources).slice(0, tries(4, Number.POSITIVE_INFINITY));
  for (const [name, text] of tried) inside(`${name}.c`, text);
  inside("@words", `-include ${header} plain.c`);
  const refused: (readonly [name: string, command: string, wdir?: string, path?: string])[] = [
    ["command", join(outside, "program.c")],
    ["module", join(outside, "module.wasm")],
    ["command_up", "../outside/program.c"],
    ["command_link", "link.c"],
    ["command_through", "out/program"],
    ["module_link", "module-link.wasm"],
    ["command_path", "program", "", outside],
    ["command_fifo", "fifo.c"],
    ["command_words", "@words"],
    ["wdir", "plain.c", outside],
    ["wdir_up", "plain.c", "../outside"],
    ["wdir_link", "plain.c", join(root, "inside/out")],
    ["wdir_after_link", "plain.c", join(root, "inside/near/../..")],
    ["wdir_kernel", "plain.c", "/proc/self/cwd"],
    ...tried.map(([name]) => [name, name] as const),
  ];
  inside("include_near.c", including("near.h", "OWN"));
  const works: typeof refused = [
    ["plain", "plain.c"],
    ["near", "near.c", join(root, "inside/near")],
    ["beside", "beside"],
    ["include_near", "include_near"],
  ];
  const words = [...refused, ...works].flatMap(([name, command, wdir = "", path = ""]) => [name, command, wdir, path]);
  const before = watched(outside);
  const { stdout, stderr } = await inFolder(join(root, "inside"), () =>
    banyan(["run", spawner, ...words], { timeoutMs: 300_000 }),
  );
  const said = new Map(stdout.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
  for (const [name] of refused) {
    await t.test(`X8 spawn: ${name.replaceAll("_", " ")}`, () => {
      assert.match(said.get(name) ?? "not tried", /MPI_ERR_SPAWN/, stderr);
    });
  }
  for (const [name] of works)
    await t.test(`X8 spawn: ${name.replaceAll("_", " ")} works`, () => assert.equal(said.get(name), "worked", stderr));
  await t.test("X8 spawn: nothing outside has changed, and nothing of it was shown", () => {
    assert.deepEqual(watched(outside), before);
  });
});

test("X8 a sandbox has the variables that it is given, and no others", async () => {
  const path = program(
    "sandbox-environment.c",
    `#include <stdio.h>
    extern char **environ;
    int main(void) { for (char **each = environ; *each; each++) puts(*each); return 0; }`,
  );
  const env = { SECRET: "secret", SHOWN: "shown" };
  const run = (...options: string[]) => banyan(["run", "-q", ...options, path], { ...patient, env });
  // Its rank and the number of ranks are no secret.
  const withoutRank = (text: string): string[] =>
    text.split("\n").filter((line) => !/^(OMPI|PMI|MPI)_[A-Z_]+=\d+$/.test(line));
  assert.deepEqual(withoutRank((await run("--sandbox")).stdout), ["PWD=/", ""]);
  const some = await run("--sandbox", "--env", "SHOWN", "--env", "A=b=c");
  assert.deepEqual(withoutRank(some.stdout).sort(), ["", "A=b=c", "PWD=/", "SHOWN=shown"], some.stderr);
  const all = (await run("--env", "A=1")).stdout.split("\n");
  for (const line of ["SECRET=secret", "SHOWN=shown", "A=1"]) assert(all.includes(line), line);
  const wrong = await run("--sandbox", "--env", "NOT_SET_ANYWHERE");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^banyan: Cannot give the program the variable NOT_SET_ANYWHERE: it is not set here/);
});

test("X8 thaw: a file that was open is looked for in the folders given, and a link out of them is not followed", async () => {
  const folder = newFolder("thawed-sandbox");
  const outside = newFolder("thawed-outside");
  writeFileSync(join(outside, "precious.txt"), "much longer than the log was when the job was frozen\n".repeat(100));
  const before = watched(outside);
  await inFolder(folder, async () => {
    const environment = { ONLY: "this" };
    const job = launch(frozen, { ranks: 1, args: ["600"], jobFolder: "job", environment });
    for await (const event of job) if (event.kind === "line" && event.text === "step 10") job.freeze();
    assert.equal((await job.done).reason.kind, "frozen");
    const kept = JSON.parse(readFileSync("job/job.json", "utf8")) as { environment: unknown };
    assert.deepEqual(kept.environment, environment);
    rmSync("frozen-0.log");
    symlinkSync(join(outside, "precious.txt"), "frozen-0.log");
    const thawed = thaw("job");
    const failures: string[] = [];
    for await (const event of thawed) if (event.kind === "failed") failures.push(event.message);
    assert.notEqual((await thawed.done).code, 0);
    assert.match(
      failures.join("\n"),
      /Cannot go on: the program appends to ".*frozen-0\.log", and now: ELOOP: it is a link/,
    );
  });
  assert.deepEqual(watched(outside), before);
});
