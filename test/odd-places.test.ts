/** X7: disks that are full and names that cannot be said, in the way of `banyan run`. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { banyan, newFolder, program } from "./harness.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const launcher = join(process.cwd(), "bin/banyan.js");

const programs = {
  "program.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
  "program.ts": 'console.log("hello");\n',
  "module.ts": 'import "node:fs";\nawait Promise.resolve();\nconsole.log("hello");\n',
};

describe("X7 run where TMPDIR is full", limit, () => {
  for (const [name, text] of Object.entries(programs)) {
    it(`says so in one line, ${name}`, async (t) => {
      if (process.geteuid?.() !== 0) {
        t.skip("only root can mount a small disk");
        return;
      }
      const source = program(`full/${name}`, text);
      const place = newFolder(`full-${name}`);
      if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k", "banyan-test", place]).status !== 0) {
        t.skip("a file system cannot be mounted here");
        return;
      }
      try {
        assert.throws(() => writeFileSync(join(place, "filler"), Buffer.alloc(1 << 20)), { code: "ENOSPC" });
        assert.equal(statfsSync(place).bfree, 0);
        const { code, stdout, stderr } = await banyan(["run", "-n", "2", source], { env: { TMPDIR: place } });
        assert.equal(stdout, "");
        assert.match(stderr, /^banyan: Cannot (run|make)[^\n]*: the disk is full; let TMPDIR name [^\n]*\n$/);
        assert.equal(code, 1);
        assert.deepEqual(readdirSync(place), ["filler"]);
      } finally {
        spawnSync("umount", ["-l", place]);
      }
    });
  }
});

describe("X7 run a program whose name is not UTF-8", limit, () => {
  const place = newFolder("odd-name");
  const said = Buffer.from("caf\xe9", "latin1");
  const pathOf = (folder: string, ending: string): Buffer =>
    Buffer.concat([Buffer.from(`${folder}/`), said, Buffer.from(ending)]);
  /** Through a shell: Node cannot pass such a word on. */
  const run = (folder: string, words: string) =>
    spawnSync("sh", ["-c", `exec "$0" "$1" run -q ${words}`, process.execPath, launcher], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, TMPDIR: newFolder("odd-name-tmp") },
    });

  it("in C and in TypeScript, with what lies beside it", () => {
    writeFileSync(join(place, "beside.h"), '#define TEXT "hello"\n');
    writeFileSync(join(place, "beside.ts"), 'export const text = "hello";\n');
    const c =
      '#include <stdio.h>\n#include "beside.h"\nint main(int n, char **w) { puts(n > 1 ? w[1] : TEXT); return 0; }\n';
    writeFileSync(pathOf(place, ".c"), c);
    writeFileSync(pathOf(place, ".ts"), 'import { text } from "./beside.ts";\nconsole.log(process.argv[2] ?? text);\n');
    for (const ending of [".c", ".ts"]) {
      for (const [args, expected] of [
        ["", "hello\n"],
        [" world", "world\n"],
      ] as const) {
        const { status, stdout, stderr } = run(place, `"$(printf 'caf\\351')"${ending}${args}`);
        assert.deepEqual([stderr, stdout, status], ["", expected, 0]);
      }
    }
    assert.deepEqual(readdirSync(newFolder("odd-name-tmp")), ["empty.txt"]);
  });

  it("or of its folder: one line says what to do", () => {
    const folder = pathOf(place, "");
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/program.ts")]), "");
    const { status, stderr } = run(place, `"$(printf 'caf\\351')"/program.ts`);
    assert.match(stderr, /^banyan: Cannot run [^\n]*: the name of its folder is not UTF-8; rename the folder\n$/);
    assert.equal(status, 1);
  });

  it("and one that is not there is missed as any other", () => {
    const { status, stderr } = run(place, `"$(printf 'no\\351')".c`);
    assert.match(stderr, /^banyan: Cannot run no\ufffd\.c: there is no such file\n$/);
    assert.equal(status, 2);
  });
});

describe("X7 run with few open files", limit, () => {
  for (const [name, text] of Object.entries(programs)) {
    it(`says so in one line, ${name}`, () => {
      const source = program(`few-files/${name}`, text);
      const { status, stdout, stderr } = spawnSync(
        "sh",
        ["-c", 'ulimit -n 24; exec "$0" "$1" run -q -n 2 "$2"', process.execPath, launcher, source],
        { encoding: "utf8" },
      );
      const said = "Cannot start a job of 1 node with at most 24 open files: give it at least 36, with ulimit -n";
      assert.deepEqual([stdout, stderr, status], ["", `banyan: ${said}\n`, 2]);
    });
  }
});
