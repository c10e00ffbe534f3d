/** `banyan cc` and `banyan c++` as a user calls them: their files, their messages, their leftovers. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { long } from "../../test/long.ts";
import { timeLimit } from "../../test/patience.ts";
import { compileProgram } from "./compile-program.ts";
import { findInstallation } from "./installation.ts";
import { make, Session } from "./testing/session.ts";

const session = new Session();
after(() => session.end());
const limit = timeLimit(120_000);

const hello = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("hello from %d\\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
`;

function moduleAt(path: string): { exports: string[]; imports: string[]; section: Record<string, unknown> } {
  const module = new WebAssembly.Module(readFileSync(path));
  const [section] = WebAssembly.Module.customSections(module, "banyan");
  return {
    exports: WebAssembly.Module.exports(module).map(({ name }) => name),
    imports: WebAssembly.Module.imports(module).map(({ module: from, name }) => `${from}.${name}`),
    section: JSON.parse(Buffer.from(section!).toString()) as Record<string, unknown>,
  };
}

describe("M6 banyan cc", { concurrency: false }, () => {
  it("several first calls at once: all compile, one server stays", limit, async () => {
    const cwd = session.write("first", { "a.c": hello, "b.c": "int b;\n", "c.c": "int c;\n" });
    const ended = await Promise.all(["a", "b", "c"].map((name) => session.run(cwd, `cc -c ${name}.c`)));
    for (const { code, stdout, stderr } of ended) assert.deepEqual([code, stdout, stderr], [0, "", ""]);
    for (const name of ["a", "b", "c"]) assert(existsSync(join(cwd, `${name}.o`)), name);
    assert.equal(session.servers().length, 1);
    const folder = join(session.cache, "cc/server");
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    const socket = readdirSync(folder).find((name) => name.endsWith(".sock"))!;
    assert.equal(statSync(join(folder, socket)).mode & 0o777, 0o600);
  });

  it("a loop on which this clang's vectorizer breaks down is compiled without it", { ...limit, ...long }, async () => {
    const source = `#include <math.h>
    double largest(const double *a, const double *b, int n) {
      double m = 0;
      for (int i = 0; i < n; i++) m = fmax(m, fabs(a[i] - b[i]));
      return m;
    }
    `;
    const cwd = session.write("breaks", { "largest.c": source });
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -O3 -c largest.c")), [0, ""]);
    assert(existsSync(join(cwd, "largest.o")));
  });

  it("a loop with a sum is vectorised but for the sum, which keeps its order", limit, async () => {
    const source = `#include <stdio.h>
    #include <stdlib.h>
    static double of_order(int n, double *out, const double *in) {
      double sum = 0;
      for (int i = 0; i < n; i++) {
        out[i] = 4 * in[i] - in[i + 1];
        sum += in[i] * out[i];
      }
      return sum;
    }
    int main(int argc, char **argv) {
      int n = atoi(argv[1]);
      double in[1001], out[1000];
      for (int i = 0; i <= n; i++) in[i] = 1.0 / (3 * i + 1) - (i % 7) * 1e10;
      double sum = of_order(n, out, in);
      volatile double one_by_one = 0;
      for (int i = 0; i < n; i++) one_by_one += in[i] * out[i];
      printf("%s\\n", sum == one_by_one ? "equal" : "not equal");
    }
    `;
    const cwd = session.write("order", { "order.c": source });
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -O2 -S order.c")), [0, ""]);
    assert.match(readFileSync(join(cwd, "order.s"), "utf8"), /f64x2\.sub/);
    for (const count of [1000, 999]) {
      const { code, stdout } = await session.run(cwd, `run order.c ${count}`);
      assert.deepEqual([code, stdout], [0, "equal\n"]);
    }
    const off = "cc -O2 -S -mllvm -force-ordered-reductions=false order.c";
    assert.deepEqual(await codeAndText(session.run(cwd, off)), [0, ""]);
    assert.doesNotMatch(readFileSync(join(cwd, "order.s"), "utf8"), /f64x2\.sub/);
  });

  it("a program is a module as the contract has it, and may be executed", limit, async () => {
    const cwd = session.write("hello", { "hello.c": hello });
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -O2 hello.c")), [0, ""]);
    const { exports, imports, section } = moduleAt(join(cwd, "a.out"));
    for (const name of ["_start", "__stack_pointer", "__indirect_function_table", "banyan_memory"])
      assert(exports.includes(name), name);
    for (const name of ["start_unwind", "stop_unwind", "start_rewind", "stop_rewind", "get_state"])
      assert(exports.includes(`asyncify_${name}`), name);
    assert.equal(imports[0], "env.memory");
    for (const name of ["MPI_Init", "MPI_Comm_rank", "MPI_Barrier", "MPI_Finalize", "callback"])
      assert(imports.includes(`mpi.${name}`), name);
    assert.deepEqual(
      imports.filter((name) => !/^(env\.memory$|mpi\.|wasi_snapshot_preview1\.|banyan\.)/.test(name)),
      [],
    );
    assert.equal(section["contract"], 2);
    assert.equal(section["stackBytes"], 8 << 20);
    assert.equal(statSync(join(cwd, "a.out")).mode & 0o111, 0o111 & ~process.umask());
    assert.equal(existsSync(join(cwd, "hello.o")), false);
  });

  it("--no-capture leaves the functions as clang made them, and says so in the section", limit, async () => {
    const cwd = session.write("no-capture", { "hello.c": hello });
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -O2 hello.c")), [0, ""]);
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -O2 --no-capture hello.c -o plain")), [0, ""]);
    const { exports, imports, section } = moduleAt(join(cwd, "plain"));
    const { exports: usual, imports: usualImports, section: usualSection } = moduleAt(join(cwd, "a.out"));
    assert.deepEqual([...exports].sort(), [...usual].sort());
    assert.deepEqual(imports, usualImports);
    assert.deepEqual(section, { ...usualSection, capture: false });
    assert(statSync(join(cwd, "plain")).size < statSync(join(cwd, "a.out")).size, "nothing was added");
  });

  it("an error reads as clang prints it, with the path as it was written, and clang's exit code", limit, async () => {
    const cwd = session.write("errors/build", {
      "../src/bad.c": '#include "bad.h"\nint main(void) { return nothing; }\n',
      "../src/bad.h": 'static int unused = "text";\n',
    });
    const { code, stderr, stdout } = await session.run(cwd, "cc -c ../src/bad.c");
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.equal(
      stderr,
      [
        "In file included from ../src/bad.c:1:",
        "../src/bad.h:1:12: warning: incompatible pointer to integer conversion initializing 'int' with an expression of type 'char[5]' [-Wint-conversion]",
        '    1 | static int unused = "text";',
        "      |            ^        ~~~~~~",
        "../src/bad.c:2:25: error: use of undeclared identifier 'nothing'",
        "    2 | int main(void) { return nothing; }",
        "      |                         ^~~~~~~",
        "1 warning and 1 error generated.",
        "",
      ].join("\n"),
    );
    assert.equal(existsSync(join(cwd, "bad.o")), false);
    assert.match(
      (await session.run(cwd, "cc -c nothing.c")).stderr,
      /^clang: error: no such file or directory: 'nothing.c'\n$/,
    );
    assert.match((await session.run(cwd, "cc -c --wrong ../src/bad.c")).stderr, /clang: error: .*'--wrong'/);
  });

  it("two sources, an object and an archive; what is missing is named, each in a line", limit, async () => {
    const cwd = session.write("parts", {
      "main.c":
        '#include "part.h"\n#include <math.h>\nint main(int n, char **v) { return one(n) + two() + (int)sqrt(n); }\n',
      "one.c": '#include "part.h"\nint one(int n) { return n; }\n',
      "lib/two.c": '#include "part.h"\nint two(void) { return three(); }\n',
      "lib/three.c": "int three(void) { return 3; }\n",
      "include/part.h": "#pragma once\nint one(int); int two(void); int three(void);\n",
    });
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -Iinclude -c lib/two.c lib/three.c")), [0, ""]);
    assert.equal(spawnSync("ar", ["rcs", "lib/libparts.a", "two.o", "three.o"], { cwd }).status, 0);
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -Iinclude main.c one.c -Llib -lparts -lm -o app")), [
      0,
      "",
    ]);
    assert(moduleAt(join(cwd, "app")).exports.includes("_start"));
    const { code, stderr } = await session.run(cwd, "cc -Iinclude main.c two.o -o broken");
    assert.equal(code, 1);
    assert.deepEqual(stderr.split("\n").sort().slice(1), [
      "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
      "wasm-ld: error: main.o: undefined symbol: one",
      "wasm-ld: error: two.o: undefined symbol: three",
    ]);
    assert.equal(existsSync(join(cwd, "broken")), false);
  });

  it("main comes from an archive and may have three parameters; one that is missing is named", {
    ...limit,
    ...long,
  }, async () => {
    const cwd = session.write("main", {
      "two.c":
        '#include <stdio.h>\nint main(int n, char **words) { return printf("%s of %d\\n", words[n - 1], n) < 0; }\n',
      "three.c": "int main(int n, char **words, char **environment) { return n == 1 && environment[0] ? 6 : 7; }\n",
      "none.c": "int part(void) { return 1; }\n",
    });
    for (const name of ["two", "three", "none"]) {
      assert.deepEqual(await codeAndText(session.run(cwd, `cc -c ${name}.c`)), [0, ""]);
      assert.equal(spawnSync("ar", ["rcs", `lib${name}.a`, `${name}.o`], { cwd }).status, 0);
    }
    assert.deepEqual(await codeAndText(session.run(cwd, "cc libtwo.a -o two")), [0, ""]);
    assert.deepEqual(await codeAndText(session.run(cwd, "cc libthree.a -o three")), [0, ""]);
    assert.equal((await session.run(cwd, "run ./two a word")).stdout, "word of 3\n");
    assert.equal((await session.run(cwd, "run ./three")).code, 6);
    const { code, stderr } = await session.run(cwd, "cc none.c libnone.a -o none");
    assert.equal(code, 1);
    assert.match(stderr, /^wasm-ld: error: .*: undefined symbol: main$/m);
    assert.equal(existsSync(join(cwd, "none")), false);
  });

  it("C++ with its library; setjmp, signals and long double link as well", { ...limit, ...long }, async () => {
    const cwd = session.write("cxx", {
      "vector.cpp":
        '#include <cstdio>\n#include <stdexcept>\n#include <vector>\nint main(int n, char **) {\n  std::vector<int> ones(n, 1);\n  if (ones.size() > 9) throw std::runtime_error("many");\n  std::printf("%zu\\n", ones.size());\n}\n',
      "io.cpp":
        '#include <iostream>\n#include <stdexcept>\nint main(int n, char **) {\n  if (n > 9) throw std::runtime_error("many");\n  std::cout << n << std::endl;\n}\n',
      "old.c":
        '#include <setjmp.h>\n#include <signal.h>\n#include <stdio.h>\n#include <time.h>\nstatic jmp_buf back;\nmain(n) {\n  long double third = n / 3.0L;\n  signal(SIGINT, SIG_IGN);\n  if (setjmp(back) == 0) longjmp(back, 1);\n  return printf("%Lf %g", third, (double)clock());\n}\n',
    });
    // Streams are most of the library: to link them and prepare them for capture takes longer than all else that is compiled here.
    const source = long.skip === undefined ? "io" : "vector";
    assert.deepEqual(await codeAndText(session.run(cwd, `c++ -O1 ${source}.cpp -o with-library`)), [0, ""]);
    assert(moduleAt(join(cwd, "with-library")).exports.includes("_start"));
    const old = await session.run(cwd, "cc -O1 old.c -o old");
    assert.equal(old.code, 0, old.stderr);
    assert.match(old.stderr, /warning: type specifier missing, defaults to 'int'/);
  });

  it("preprocessing, dependencies, standard input, response files", limit, async () => {
    const cwd = session.write("ways", {
      "a.c": '#include "sub/x.h"\n#include VALUE_HEADER\nint value = VALUE;\n',
      "sub/x.h": '#define VALUE_HEADER "sub/value.h"\n',
      "sub/value.h": "#define VALUE 42\n",
      "flags.rsp": "-E -P\n'-DMORE=1'",
    });
    assert.match((await session.run(cwd, "cc -E -P a.c")).stdout, /^int value = 42;\n$/);
    const { code, stdout, stderr } = await session.run(cwd, "cc @flags.rsp -", { stdin: "int more = MORE;\n" });
    assert.deepEqual([code, stdout, stderr], [0, "int more = 1;\n", ""]);
    assert.equal((await session.run(cwd, "cc -MM a.c")).stdout, "a.o: a.c sub/x.h sub/value.h\n");
    await session.run(cwd, "cc -MMD -MP -c a.c -o sub/a.o");
    assert.equal(
      readFileSync(join(cwd, "sub/a.d"), "utf8"),
      "sub/a.o: a.c sub/x.h sub/value.h\nsub/x.h:\nsub/value.h:\n",
    );
    assert.match((await session.run(cwd, "cc --version")).stdout, /^clang version/);
    assert.equal((await session.run(cwd, "cc -dumpmachine")).stdout, "wasm32-unknown-wasip1\n");
    assert.match((await session.run(cwd, "cc -show a.c")).stdout, /^clang .*-c a\.c\nwasm-ld .*-o a\.out\n$/);
  });

  it("somebody else's Makefile: builds, does nothing the second time, rebuilds what a header changed", limit, () => {
    const cwd = session.write("project", {
      Makefile:
        "OBJECTS = main.o util.o\nCFLAGS = -O1 -Wall -march=native -MMD -Iinclude\napp: $(OBJECTS) libextra.a\n\t$(CC) -o $@ $(OBJECTS) -L. -lextra -lm\nlibextra.a: extra.o\n\t$(AR) rcs $@ $^\nclean:\n\trm -f *.o *.a app\n-include $(wildcard *.d)\n",
      "main.c": '#include "util.h"\nint main(void) { return util() + extra() + SIZE; }\n',
      "util.c": '#include "util.h"\nint util(void) { return 1; }\n',
      "extra.c": "int extra(void) { return 2; }\n",
      "include/util.h": "#define SIZE 3\nint util(void);\nint extra(void);\n",
    });
    const words = ["-j2", `CC=${process.execPath} ${join(process.cwd(), "bin/banyan.js")} cc`];
    const first = make(cwd, words, session.env);
    assert.equal(first.code, 0, first.stderr);
    assert(moduleAt(join(cwd, "app")).exports.includes("_start"));
    assert.match(make(cwd, words, session.env).stdout, /up to date/);
    const soon = new Date(Date.now() + 2000);
    utimesSync(join(cwd, "include/util.h"), soon, soon);
    const again = make(cwd, [...words, "-n"], session.env).stdout;
    assert.match(again, /main\.c/);
    assert.match(again, /util\.c/);
    assert.doesNotMatch(again, /extra\.c/);
  });

  it("a server that was killed is replaced", limit, async () => {
    const cwd = session.write("killed", { "a.c": "int killed;\n" });
    const [before] = session.servers();
    await session.killServers();
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -c a.c")), [0, ""]);
    const now = session.servers();
    assert.equal(now.length, 1);
    assert.notEqual(now[0], before);
  });

  it("a compiler that breaks down is a message; the next compile is not disturbed", limit, async () => {
    const cwd = session.write("crash", { "crash.c": "#pragma clang __debug crash\n", "a.c": "int after_crash;\n" });
    const { code, stderr } = await session.run(cwd, "cc -c crash.c");
    assert.equal(code, 1);
    assert.match(stderr, /^banyan: Cannot compile crash\.c: clang broke down/);
    assert.deepEqual(await codeAndText(session.run(cwd, "cc -c a.c")), [0, ""]);
    assert.equal(session.servers().length, 1);
  });

  it("a client that is interrupted takes its compile with it", limit, async () => {
    const cwd = session.write("endless", {
      "endless.cpp":
        "constexpr long f() { long s = 0; for (long i = 0; i < 2000000000; i++) s += i & 1; return s; }\nstatic_assert(f() == 1);\n",
    });
    const cache = session.newCache("endless-cache");
    const env = { BANYAN_CACHE: cache, BANYAN_CC_IDLE_MS: "300" };
    const client = session.start(cwd, ["c++", "-c", "-fconstexpr-steps=4000000000", "endless.cpp"], env);
    // The server is at work once it has computed for longer than clang takes to load.
    while (!session.servers(cache).some((pid) => secondsOf(pid) > 3)) await sleep(20);
    client.kill("SIGINT");
    // Only an idle server ends itself; this compile alone would take minutes.
    while (session.servers(cache).length > 0) await sleep(50);
    assert.deepEqual(readdirSync(join(cache, "cc/server")), []);
  });

  it("what is kept is used, with its warnings; an entry that is damaged is made anew", limit, async () => {
    const cwd = session.write("kept", { "a.c": "int f(void) { int unused; return 7; }\n" });
    const first = await session.run(cwd, "cc -Wall -c a.c");
    const object = readFileSync(join(cwd, "a.o"));
    await session.killServers();
    const kept = await session.run(cwd, "cc -Wall -c a.c");
    assert.match(kept.stderr, /warning: unused variable/);
    assert.deepEqual([kept.code, kept.stderr], [first.code, first.stderr]);
    assert.deepEqual(session.servers(), [], "no server was needed");
    for (const name of readdirSync(join(session.cache, "cc/entries"), { recursive: true, encoding: "utf8" })) {
      const path = join(session.cache, "cc/entries", name);
      if (statSync(path).isFile()) writeFileSync(path, readFileSync(path).subarray(0, -1));
    }
    const again = await session.run(cwd, "cc -Wall -c a.c");
    assert.deepEqual([again.code, again.stderr], [first.code, first.stderr]);
    assert.deepEqual(readFileSync(join(cwd, "a.o")), object);
    assert.equal(session.servers().length, 1);
  });
});

describe("M6 compileProgram, for banyan run", { concurrency: false }, () => {
  const options = {
    installation: findInstallation(join(process.cwd(), "dist")),
    environment: { ...session.env, BANYAN_CC_IDLE_MS: "2000" },
  };

  it("compiles, and knows an unchanged program again without the compiler", limit, async () => {
    const cwd = session.write("program", {
      "hello.c": hello.replace("<stdio.h>", '<stdio.h>\n#include "h.h"'),
      "h.h": "",
    });
    const first = await compileProgram(["hello.c"], { ...options, cwd });
    assert(first.kind === "compiled", JSON.stringify(first));
    assert.equal(first.kept, false);
    assert(moduleAt(first.wasm).exports.includes("_start"));
    await session.killServers();
    const second = await compileProgram(["hello.c"], { ...options, cwd });
    assert.deepEqual(second, { ...first, kept: true });
    assert.deepEqual(session.servers(), []);
    writeFileSync(join(cwd, "h.h"), "static int more = 3;\nint use(void) { return more; }\n");
    const third = await compileProgram([join(cwd, "hello.c")], { ...options, cwd });
    assert(third.kind === "compiled" && !third.kept);
    // Named in full, it is the same wherever it is started from.
    const fourth = await compileProgram([join(cwd, "hello.c")], { ...options, cwd: session.folder });
    assert.deepEqual(fourth, { ...third, kept: true });
  });

  it("a mistake is a value, with clang's messages and code", limit, async () => {
    const cwd = session.write("mistake", { "bad.c": "int main(void) { return x; }\n" });
    const failed = await compileProgram(["bad.c"], { ...options, cwd });
    assert(failed.kind === "failed");
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^bad\.c:1:25: error: use of undeclared identifier 'x'\n/);
  });
});

/** The processor time of a process. */
function secondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function codeAndText(run: Promise<{ code: number | null; stderr: string }>): Promise<[number | null, string]> {
  const { code, stderr } = await run;
  return [code, stderr];
}
