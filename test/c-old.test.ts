/** Old C, as it runs elsewhere: functions without a prototype, variables in several files, pointers that lie. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { banyan, program } from "./harness.ts";
import { long, longUnless } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

/** Compiles the files with these options and runs the program. */
async function compileAndRun(name: string, options: readonly string[], files: Readonly<Record<string, string>>) {
  const paths = Object.entries(files).map(([file, text]) => program(`${name}-${file}`, text));
  const out = `${dirname(paths[0]!)}/${name}.wasm`;
  const made = await banyan(["cc", ...options, ...paths, "-o", out], patient);
  assert.equal(made.code, 0, made.stderr);
  const run = await banyan(["run", out], patient);
  return { ...run, warnings: made.stderr };
}

const strangers = `#include <stdio.h>
int main(void) {
  /* No header for time, and none of these is declared. */
  printf("%d\\n", (int)(time(0) > 1000));
  takes_less(1, 2);
  takes_more(3);
  printf("%d\\n", widens(-10));
  mixed(4, 0.5, 5);
  printf("%d\\n", ((int)narrow(7)));
  return 0;
}
`;
const others = `#include <stdio.h>
void takes_less(int a) { printf("takes_less %d\\n", a); }
void takes_more(int a, int b, double c) { printf("takes_more %d %d %g\\n", a, b, c); }
int widens(long long x) { return (int)(x / 2); }
/* Native code has whole and floating-point numbers in registers of their own. */
void mixed(double x, int a, int b) { printf("mixed %g %d %d\\n", x, a, b); }
short narrow(short x) { return (short)(x * 2); }
`;
const said = "1\ntakes_less 1\ntakes_more 3 0 0\n-5\nmixed 0.5 4 5\n14\n";

for (const options of [["-O0"], ["-O2"], ["-O2", "-s"]]) {
  test(
    `M6 old C: functions without a prototype get what native code would pass: ${options.join(" ")}`,
    longUnless(options.join() === "-O2"),
    async () => {
      const files = { "a.c": strangers, "b.c": others };
      const { code, stdout, stderr, warnings } = await compileAndRun(`undeclared${options.length}`, options, files);
      assert.equal(stdout, said, stderr);
      assert.equal(code, 0, stderr);
      assert.match(warnings, /function signature mismatch: takes_less/);
      assert.match(warnings, /banyan: .*passed on as native code would.*time/);
    },
  );
}

test("M6 old C: a void function that is called before it is declared", async () => {
  const text = `#include <stdio.h>
  int main(void) { later(5); return 0; }
  void later(int x) { printf("later %d\\n", x); }
  `;
  const { code, stdout, stderr, warnings } = await compileAndRun("void", [], { "a.c": text });
  assert.equal(stdout, "later 5\n", stderr);
  assert.equal(code, 0, stderr);
  assert.match(warnings, /warning: conflicting types for 'later'/);
  assert.doesNotMatch(warnings, /error/);
});

const declares = (size: number, given: string) => `int counter; double list[${size}]; int given${given};\n`;
const user = `${declares(10, "")}#include <stdio.h>
void set(void);
int main(void) { set(); printf("%d %g %d\\n", counter, list[9], given); return 0; }
`;
const setter = `${declares(20, " = 5")}void set(void) { counter = 7; for (int i = 0; i < 20; i++) list[i] = i; }\n`;

for (const order of [
  ["a.c", "b.c"],
  ["b.c", "a.c"],
]) {
  test(
    `M6 old C: -fcommon makes one variable of what several files declare, ${order.join(" ")}`,
    longUnless(order[0] === "a.c"),
    async () => {
      const files = Object.fromEntries(order.map((name) => [name, name === "a.c" ? user : setter]));
      const { code, stdout, stderr } = await compileAndRun(`common-${order[0]}`, ["-fcommon"], files);
      assert.equal(stdout, "7 9 5\n", stderr);
      assert.equal(code, 0, stderr);
    },
  );
}

test("M6 old C: without -fcommon a variable has one definition, as with gcc since version 10", async () => {
  const paths = [program("twice-a.c", user), program("twice-b.c", setter)];
  const { code, stderr } = await banyan(["cc", ...paths, "-o", `${dirname(paths[0]!)}/twice.wasm`], patient);
  assert.notEqual(code, 0);
  assert.match(stderr, /duplicate symbol: counter/);
});

const lies = `#include <stdio.h>
static double real(double x, int y) { return x + y; }
typedef int (*liar)(int);
__attribute__((noinline)) static int inner(volatile liar f) { return f(3); }
__attribute__((noinline)) static int outer(liar f) { return inner(f) + 1; }
int main(void) { printf("%d\\n", outer((liar)(void *)real)); return 0; }
`;

test("M6 old C: a call through a pointer that lies is named", async () => {
  const { code, stderr } = await compileAndRun("lies", ["-O0"], { "a.c": lies });
  assert.equal(code, 139);
  assert.match(
    stderr,
    /SIGSEGV: a pointer .* is called as a function in inner\n {4}at inner\n {4}at outer\n {4}at main\n/,
  );
});

test("M6 old C: a call through a pointer that lies is named in the simulator", long, async () => {
  const { code, stderr, stdout } = await banyan(["sim", "-n", "1", program("lies-sim.c", lies)], patient);
  assert.equal(code, 139);
  assert.match(stderr + stdout, /SIGSEGV: a pointer .* is called as a function in inner$/m);
});
