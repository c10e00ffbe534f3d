import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { type ClosureRequest, includeClosure, isFindable } from "./include-closure.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-closure-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** A project in a folder of its own. */
function project(name: string, files: Record<string, string>): string {
  mkdirSync(join(root, name), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, path)), { recursive: true });
    writeFileSync(join(root, name, path), text);
  }
  return join(root, name);
}

function request(cwd: string, given: Partial<ClosureRequest> & { all?: string[]; quote?: string[] }): ClosureRequest {
  const { all = [], quote = [], ...rest } = given;
  return { cwd, sources: [], folders: { all, quote }, forced: [], macros: [], whole: [], ...rest };
}

function found(asked: ClosureRequest): string[] {
  return includeClosure(asked)
    .map(({ path }) => relative(asked.cwd, path))
    .sort();
}

describe("M6 the files that clang is given", () => {
  it("headers of headers, through the folders of the command line and beside the including file", () => {
    const cwd = project("plain/build", {
      "../src/a.c": '#include "x.h"\n#include <y.h>\n#include <stdio.h>\n',
      "../src/x.h": '#include "deep/z.h"\n',
      "../src/deep/z.h": "",
      "../include/y.h": '#include "w.h"\n',
      "../include/w.h": "",
      "../include/unused.h": "",
    });
    assert.deepEqual(found(request(cwd, { sources: ["../src/a.c"], all: ["../include"] })), [
      ...["../include/w.h", "../include/y.h", "../src/a.c", "../src/deep/z.h", "../src/x.h"],
    ]);
  });

  it("all folders that have a header, for #include_next; a circle ends", () => {
    const cwd = project("next", {
      "a.c": "#include <h.h>",
      "one/h.h": "#include_next <h.h>",
      "two/h.h": '#include "../a.c"',
    });
    assert.deepEqual(found(request(cwd, { sources: ["a.c"], all: ["one", "two"] })), ["a.c", "one/h.h", "two/h.h"]);
  });

  it("-include, -iquote, standard input and whole folders", () => {
    const cwd = project("ways", { "f.h": "", "q/q.h": "", "in.h": "", "all/deep/one.h": "", "all/two.h": "" });
    const asked = request(cwd, {
      forced: ["f.h"],
      quote: ["q"],
      stdin: Buffer.from('#include "q.h"\n#include "in.h"\n'),
      whole: [join(cwd, "all")],
    });
    assert.deepEqual(found(asked), ["all/deep/one.h", "all/two.h", "f.h", "in.h", "q/q.h"]);
  });

  it("an include by macro: its definitions if there are any, else every header", () => {
    const cwd = project("macro", {
      "known.c": '#define CONFIG "conf/a.h"\n#include CONFIG\n',
      "given.c": "#include GIVEN\n",
      "unknown.c": "#include JOIN(conf/, b.h)\n",
      "inc/conf/a.h": "",
      "inc/conf/b.h": "",
      "inc/notes.txt": "",
    });
    const all = ["inc"];
    assert.deepEqual(found(request(cwd, { sources: ["known.c"], all })), ["inc/conf/a.h", "known.c"]);
    const macros = ["GIVEN=<conf/b.h>"];
    assert.deepEqual(found(request(cwd, { sources: ["given.c"], all, macros })), ["given.c", "inc/conf/b.h"]);
    assert.deepEqual(found(request(cwd, { sources: ["unknown.c"], all })), [
      ...["inc/conf/a.h", "inc/conf/b.h", "unknown.c"],
    ]);
    assert.equal(isFindable("conf/b.h", request(cwd, { all })), true);
    assert.equal(isFindable("conf/c.h", request(cwd, { all })), false);
  });

  it("two names of one file are one identity; folders and missing files are no files", () => {
    const cwd = project("names", {
      "a.c": '#include "x.h"\n#include "link.h"\n#include "dir"\n#include "a.c/x"\n',
      "x.h": "",
    });
    mkdirSync(join(cwd, "dir"));
    symlinkSync("x.h", join(cwd, "link.h"));
    const files = includeClosure(request(cwd, { sources: ["a.c"] }));
    assert.deepEqual(files.map(({ path }) => relative(cwd, path)).sort(), ["a.c", "link.h", "x.h"]);
    assert.equal(new Set(files.map(({ identity }) => identity)).size, 2);
  });

  it("this machine's own C library is never given", () => {
    const cwd = project("host", { "a.c": "#include <stdio.h>\n" });
    assert.deepEqual(found(request(cwd, { sources: ["a.c"], all: ["/usr/include"] })), ["a.c"]);
  });
});
