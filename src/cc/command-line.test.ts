import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Build, parseCommandLine, stackBytesDefault } from "./command-line.ts";

function build(words: string, driver: "cc" | "c++" = "cc"): Build {
  const line = parseCommandLine(words.split(" "), driver);
  assert(line.kind === "build", `${words} is a ${line.kind}${line.kind === "refused" ? `: ${line.message}` : ""}`);
  return line;
}

/** Inputs in one line: sources with their language, libraries and words as they are written. */
function inputs(words: string, driver: "cc" | "c++" = "cc"): string {
  return build(words, driver)
    .inputs.map((input) => {
      if (input.kind === "source") return `${input.path}:${input.language}`;
      if (input.kind === "library") return `-l${input.name}`;
      return input.kind === "file" ? input.path : input.word;
    })
    .join(" ");
}

function refusal(words: string): string {
  const line = parseCommandLine(words.split(" "), "cc");
  assert(line.kind === "refused", `${words} is not refused`);
  return line.message;
}

describe("M6 the command line of mpicc", () => {
  const stages: readonly (readonly [words: string, stage: string, output?: string])[] = [
    ["a.c", "link"],
    ["a.c -o app", "link", "app"],
    ["a.c -oapp", "link", "app"],
    ["-c a.c", "object"],
    ["a.c -c -o x/a.o", "object", "x/a.o"],
    ["-S a.c", "assembly"],
    ["-E a.c", "preprocess"],
    ["-c -E a.c", "preprocess"],
    ["-E -c a.c", "preprocess"],
    ["-fsyntax-only a.c", "syntax"],
    ["-M a.c", "dependencies"],
    ["-MM a.c", "dependencies"],
    ["-MMD -c a.c", "object"],
  ];
  for (const [words, stage, output] of stages) {
    it(`${words} → ${stage}`, () => {
      const line = build(words);
      assert.equal(line.stage, stage);
      assert.equal(line.output, output);
    });
  }

  const flags: readonly (readonly [words: string, flags: string])[] = [
    ["-O3 -g -std=c99 -Wall -Wno-unused -fno-math-errno a.c", "-O3 -g -std=c99 -Wall -Wno-unused -fno-math-errno"],
    [
      "-Iinc -I ../inc -isystem sys -isystemsys2 -iquote q a.c",
      "-I inc -I ../inc -isystem sys -isystem sys2 -iquote q",
    ],
    ["-DN=100 -D M -UX a.c", "-D N=100 -D M -U X"],
    ["-include config.h -imacros m.h a.c", "-include config.h -imacros m.h"],
    ["-Xclang -fdump-record-layouts a.c", "-Xclang -fdump-record-layouts"],
    ["--some-option=new a.c", "--some-option=new"],
    ["-mno-simd128 -mbulk-memory a.c", "-mno-simd128 -mbulk-memory"],
    ["-dM -E a.c", "-dM"],
    // Native processors, shared libraries, threads: ignored.
    ["-march=native -mtune=generic -mavx2 -msse4.2 -m64 -mcmodel=large a.c", ""],
    ["-fPIC -fpic -pie -static -pthread -pipe -rdynamic -fstack-protector-strong a.c", ""],
    ["-flto -flto=auto -fwhole-program a.c", ""],
    ["-Wl,-rpath,/opt/lib -Wl,--as-needed -Wl,-z,relro -Wl,-O1 a.c", ""],
    ["-Wp,-DX=1,-Iinc a.c", "-D X=1 -I inc"],
  ];
  for (const [words, expected] of flags) {
    it(`${words}: clang gets ${expected || "nothing"}`, () => assert.equal(build(words).flags.join(" "), expected));
  }

  const links: readonly (readonly [words: string, inputs: string])[] = [
    ["a.c b.cpp c.S d.ll", "a.c:c b.cpp:c++ c.S:assembler-with-cpp d.ll:ir"],
    ["a.o libx.a -lfoo -l bar b.lo", "a.o libx.a -lfoo -lbar b.lo"],
    ["-x c++ a.c -x none b.c", "a.c:c++ b.c:c"],
    ["-xc -", "-:c"],
    ["-", "-:c"],
    ["a.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive", "a.o --whole-archive libx.a --no-whole-archive"],
    ["a.o -Wl,--start-group,x.a,-ly,--end-group", "a.o x.a -ly"],
    ["-Xlinker --whole-archive x.a", "--whole-archive x.a"],
  ];
  for (const [words, expected] of links) it(`${words} links ${expected}`, () => assert.equal(inputs(words), expected));

  it("c++ takes .c for C++ and links the C++ library; so does -lstdc++", () => {
    assert.equal(inputs("a.c b.cc -x c c.c", "c++"), "a.c:c++ b.cc:c++ c.c:c");
    assert.equal(build("a.o", "c++").link.withCxx, true);
    assert.equal(build("a.o").link.withCxx, false);
    assert.equal(build("a.o -lstdc++").link.withCxx, true);
  });

  it("options of the link", () => {
    const { link } = build("a.o -Lx -L y -s -u start -e main -Wl,--no-gc-sections -Wl,-Lz");
    assert.deepEqual(link.folders, ["x", "y", "z"]);
    assert.deepEqual(link.flags, ["--undefined", "start", "--entry=main", "--no-gc-sections"]);
    assert.equal(link.strip, true);
    assert.equal(link.stackBytes, stackBytesDefault);
    for (const words of ["-Wl,-z,stack-size=65536", "-Wl,-zstack-size=65536", "-z stack-size=65536"]) {
      assert.equal(build(`${words} a.o`).link.stackBytes, 65536, words);
    }
    assert.equal(build("-r a.o b.o").link.relocatable, true);
    const bare = build("-nostdlib a.o").link;
    assert.deepEqual([bare.withStart, bare.withLibraries], [false, false]);
  });

  it("dependency files", () => {
    const plain = { path: undefined, targets: [], withSystem: true, phony: false };
    assert.deepEqual(build("-MD -c a.c").dependencies, plain);
    assert.deepEqual(build("-MMD -MP -MF x.d -MT one -MTtwo -MQ $(o) -c a.c").dependencies, {
      path: "x.d",
      targets: ["one", "two", "$$(o)"],
      withSystem: false,
      phony: true,
    });
    assert.deepEqual(build("-Wp,-MD,.deps/a.d -c a.c").dependencies, { ...plain, path: ".deps/a.d" });
    assert.equal(build("-MF x.d -c a.c").dependencies, undefined);
  });

  it("what the scan for includes has to know", () => {
    const line = build("-Ia -iquote q -isystem s -idirafter z -include f.h -DH=<x.h> -DN a.c");
    assert.deepEqual(line.folders, { quote: ["q"], all: ["a", "s", "z"] });
    assert.deepEqual(line.forced, ["f.h"]);
    assert.deepEqual(line.macros, ["H=<x.h>", "N"]);
  });

  it("questions go to clang, or are mpicc's own", () => {
    for (const words of ["--version", "-dumpmachine", "-print-search-dirs", "-print-file-name=libc.a", "-v"]) {
      assert.deepEqual(parseCommandLine([words], "cc"), { kind: "ask", words: [words] }, words);
    }
    assert.equal(parseCommandLine(["--help"], "cc").kind, "help");
    const shown = { "-show": "command", "-showme": "command", "-showme:compile": "compile", "-link_info": "link" };
    for (const [word, what] of Object.entries(shown)) {
      const line = parseCommandLine([word, "a.c"], "cc");
      assert(line.kind === "show", word);
      assert.equal(line.what, what);
    }
    assert.equal(build("-v a.c").verbose, true);
    assert.equal(build("-### a.c").dryRun, true);
  });

  const refused: readonly (readonly [words: string, message: RegExp])[] = [
    ["-shared a.o", /^Cannot make a shared library \(-shared\)/],
    ["-mtail-call a.c", /tail calls cannot be captured/],
    ["-mrelaxed-simd a.c", /differ between processors/],
    ["-cc=gcc a.c", /only the clang that comes with Banyan/],
    ["--target=x86_64-linux-gnu a.c", /^Cannot compile for another machine/],
    ["-target arm a.c", /^Cannot compile for another machine/],
    ["solver.f90", /none for Fortran/],
    ["-c x.h", /^Cannot precompile a header/],
    ["-c a.c b.c -o x.o", /^Cannot write 2 results into one file/],
    ["a.c -o", /-o wants a word after it/],
    ["-lm", /no input files/],
  ];
  for (const [words, message] of refused) it(`${words} is refused`, () => assert.match(refusal(words), message));

  it("-fopenmp is left out with a line", () => {
    const line = build("-fopenmp a.c");
    assert.deepEqual(line.flags, []);
    assert.match(line.notes.join("\n"), /^-fopenmp is left out: a rank is one thread/);
  });

  it("our own target may be named", () => assert.deepEqual(build("-target wasm32-wasip1 a.c").flags, []));
});
