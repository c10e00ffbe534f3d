/** Bad input: one clear line on standard error, exit code 2 or 1, nothing left running. Row X7. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { banyan, type Ended, folderOf, messages, program } from "./harness.ts";

const fine = program("fine.ts", `console.log(process.argv.slice(2).join("|"));`);
const cases: { what: string; args: string[]; code: number; says: RegExp }[] = [
  {
    what: "an unknown flag",
    args: ["run", "--frobnicate", fine],
    code: 2,
    says: /unknown option '--frobnicate'; see banyan run --help$/,
  },
  {
    what: "a flag nearly right",
    args: ["run", "--lable", fine],
    code: 2,
    says: /unknown option '--lable' \(Did you mean --label\?\); see banyan run --help$/,
  },
  {
    what: "a command nearly right",
    args: ["rnu", fine],
    code: 2,
    says: /unknown command 'rnu' \(Did you mean run\?\); see banyan --help$/,
  },
  {
    what: "a program in the place of the command",
    args: [fine],
    code: 2,
    says: /; did you mean banyan run \S+fine\.ts\?$/,
  },
  { what: "the help of nothing", args: ["help", "rnu"], code: 2, says: /unknown command 'rnu'; see banyan --help$/ },
  {
    what: "a name of two lines",
    args: ["run", "no such\nprogram.c"],
    code: 2,
    says: /Cannot run no such\\nprogram\.c: there is no such file$/,
  },
  { what: "an empty name", args: ["run", ""], code: 2, says: /Cannot run "": it names no program$/ },
  { what: "a flag without its number", args: ["run", "-n"], code: 2, says: /'-n, --ranks <number>' argument missing/ },
  { what: "fewer than no ranks", args: ["run", "-n", "-1", fine], code: 2, says: /Cannot use "-1" for --ranks/ },
  { what: "an unknown command", args: ["rnu", fine], code: 2, says: /unknown command 'rnu'/ },
  { what: "no program", args: ["run", "-n", "2"], code: 2, says: /missing required argument 'program'/ },
  {
    what: "a program that is not there",
    args: ["run", folderOf("nowhere.ts")],
    code: 2,
    says: /Cannot run .*nowhere\.ts: there is no such file$/,
  },
  {
    what: "a program in C that is not there, for more ranks than there are cores",
    args: ["run", "-n", "200", folderOf("nowhere.c")],
    code: 2,
    says: /Cannot run .*nowhere\.c: there is no such file$/,
  },
  {
    what: "one of two programs that is not there, likewise",
    args: [
      "run",
      "-n",
      "200",
      program("here.c", "int main(void) { return 0; }"),
      ":",
      "-n",
      "200",
      folderOf("nowhere.c"),
    ],
    code: 2,
    says: /Cannot run .*nowhere\.c: there is no such file$/,
  },
  {
    what: "a module that is not there, likewise",
    args: ["run", "-n", "200", folderOf("nowhere.wasm")],
    code: 2,
    says: /Cannot run .*nowhere\.wasm: there is no such file$/,
  },
  { what: "a folder as program", args: ["run", folderOf("")], code: 2, says: /it is not a file$/ },
  { what: "a folder, for more ranks", args: ["run", "-n", "200", folderOf("")], code: 2, says: /it is not a file$/ },
  {
    what: "a program of an unknown kind",
    args: ["run", program("a.txt", "hello")],
    code: 2,
    says: /Cannot run .*a\.txt: programs end in \.ts, \.mts, \.js, \.mjs, /,
  },
  {
    what: "two protocols",
    args: ["run", "--protocol", "ulfm", "--fault-layer", fine],
    code: 2,
    says: /Cannot use --protocol ulfm and --fault-layer together: --fault-layer is short for --protocol fault-layer$/,
  },
  {
    what: "two protocols in the simulator",
    args: ["sim", "--fault-layer", "--protocol", "logging"],
    code: 2,
    says: /Cannot use --protocol logging and --fault-layer together: /,
  },
  {
    what: "a fault plan with a slip",
    args: ["run", "--faults", "seed 7; kil rank 3", fine],
    code: 2,
    says: /Cannot read the fault plan: entry 2, "kil rank 3": "kil" does not fit here; allowed: seed, kill, /,
  },
  {
    what: "a fault plan for another job",
    args: ["run", "-n", "8", "--faults", "kill rank 9 at 3s", fine],
    code: 2,
    says: /Cannot use the fault plan: entry 1, "kill rank 9 at 3s": there is no rank 9; the job has ranks 0 to 7$/,
  },
  {
    what: "a fault plan that waits for checkpoints where there are none",
    args: ["run", "--faults", "kill node 0 at checkpoint 2", fine],
    code: 2,
    says: /: the job's protocol takes no checkpoints and has no sets; choose another with --protocol$/,
  },
  {
    what: "a fault plan that counts calls of a program in TypeScript",
    args: ["run", "--faults", "kill rank 0 at call 9", fine],
    code: 2,
    says: /"kill rank 0 at call 9": calls are counted of programs in C and C\+\+ only$/,
  },
  {
    what: "a fault plan in a file that is not there",
    args: ["run", "--faults", "@nowhere.txt", fine],
    code: 2,
    says: /Cannot read the fault plan nowhere\.txt: there is no such file$/,
  },
  { what: "no ranks", args: ["run", "-n", "0", fine], code: 2, says: /Cannot start 0 ranks: a job has 1 to \d+$/ },
  {
    what: "a number that is none",
    args: ["run", "-n", "four", fine],
    code: 2,
    says: /Cannot use "four" for --ranks: it must be a whole number$/,
  },
  { what: "half a rank", args: ["run", "-n", "1.5", fine], code: 2, says: /Cannot use "1\.5" for --ranks/ },
  {
    what: "more nodes than ranks",
    args: ["run", "-n", "2", "--nodes", "3", fine],
    code: 2,
    says: /Cannot use 3 nodes for 2 ranks: give 1 to 2/,
  },
  {
    what: "too little memory",
    args: ["run", "-n", "100", "--memory", "16", fine],
    code: 2,
    says: /Cannot put 100 ranks into 16 MB of shared memory/,
  },
  {
    what: "an unknown protocol",
    args: ["run", "--protocol", "magic", fine],
    code: 2,
    says: /Cannot use protocol "magic": there is none/,
  },
  {
    what: "no time at all",
    args: ["run", "--timeout", "0", fine],
    code: 2,
    says: /Cannot end the job after 0 s: give a time above 0$/,
  },
  {
    what: "too little patience",
    args: ["run", "--patience", "10", fine],
    code: 2,
    says: /give at least twice as long$/,
  },
  {
    what: "a trace in no folder",
    args: ["run", "--trace", folderOf("no/where.json"), fine],
    code: 1,
    says: /Cannot write the trace to .*: its folder does not exist; name another file$/,
  },
  {
    what: "a folder as the trace",
    args: ["run", "--trace", folderOf(""), fine],
    code: 1,
    says: /Cannot write the trace to .*: it is a folder; name another file$/,
  },
  {
    what: "a syntax error",
    args: ["run", "-n", "3", program("syntax.ts", "const a = 1;\nconst b = (a;\n")],
    code: 1,
    says: /Cannot run syntax\.ts: .*syntax\.ts:2:13: Expected "\)" but found ";"$/,
  },
  {
    what: "a package that is not there",
    args: ["run", program("package.ts", `import "no-such-package";`)],
    code: 1,
    says: /package\.ts:1:8: Could not resolve "no-such-package"$/,
  },
  {
    what: "a file of the program's that is not there",
    args: ["run", program("file.ts", `import "./nowhere.ts";`)],
    code: 1,
    says: /file\.ts:1:8: Could not resolve "\.\/nowhere\.ts"$/,
  },
];
for (const { what, args, code, says } of cases) {
  test(`X7: ${what}: one line, exit code ${code}`, async () => assertOneLine(await banyan(args), code, says));
}

function assertOneLine(run: Ended, code: number, says: RegExp): void {
  assert.equal(run.code, code, run.stderr);
  assert.equal(run.stdout, "");
  const lines = run.stderr.trimEnd().split("\n");
  assert.equal(lines.length, 1, run.stderr);
  assert.match(lines[0]!, /^banyan: Cannot /);
  assert.match(lines[0]!, says);
}

test("X7: no place for the job's own files: one line, exit code 1, and an old trace stays", async () => {
  const trace = program("old-trace.json", "old");
  const env = { TMPDIR: folderOf("no/such/folder") };
  const says =
    /Cannot make a folder .*banyan-…: its folder does not exist; let TMPDIR name one that can be written to$/;
  assertOneLine(await banyan(["run", "--trace", trace, fine], { env }), 1, says);
  assert.equal(readFileSync(trace, "utf8"), "old");
  env.TMPDIR = fine;
  assertOneLine(await banyan(["run", fine], { env }), 1, /: its folder is a file; let TMPDIR name/);
});

/** A command line of a shell's, in which "$@" is `banyan run`. */
const inShell = (line: string): readonly string[] => ["sh", "-c", line, process.execPath, "bin/banyan.js", "run"];

/**
 * Loaded by every process of a run: a node may have 512 MB of addresses beyond those it has when it starts, with every V8 and on
 * every machine; the dispatcher and the bundler as many as they like.
 */
const scarce = program(
  "scarce.cjs",
  `if (/agent\\.cjs$/.test(process.argv[1] ?? "") && require("node:worker_threads").isMainThread) {
     const koffi = require(${JSON.stringify(join(process.cwd(), "node_modules/koffi"))});
     const status = require("node:fs").readFileSync("/proc/self/status", "utf8");
     const bytes = Number(/VmSize:\\s+(\\d+)/.exec(status)[1]) * 1024 + 512 * 2 ** 20;
     const addressSpace = 9; // RLIMIT_AS
     const setrlimit = koffi.load(null).func("int setrlimit(int resource, uint64_t *limits)");
     if (setrlimit(addressSpace, BigUint64Array.of(BigInt(bytes), BigInt(bytes))) !== 0) throw new Error("setrlimit");
   }`,
);

for (const { language, path, what } of [
  { language: "TypeScript", path: fine, what: "shared memory" },
  { language: "C", path: "examples/pi.c", what: "memory for each rank" },
]) {
  test(`X7: memory that cannot be had, ${language}: one line, exit code 1`, async () => {
    const env = { NODE_OPTIONS: `--require ${scarce}` };
    const says = new RegExp(
      `Cannot use node [01]: its 1024 MB of ${what} cannot be had with addresses limited to \\d+ MB; raise that limit \\(ulimit -v\\) or give less with --memory$`,
    );
    assertOneLine(await banyan(["run", "-n", "2", "--nodes", "2", path], { env }), 1, says);
  });
}

test("X7: a full disk for the output: one line, exit code 1", async () => {
  const command = inShell('"$0" "$@" > /dev/full');
  const says = /Cannot write to standard output: the disk is full; what the ranks print is lost$/;
  // A job may have finished before its last line could not be written.
  const { code, stderr } = await banyan([fine], { command });
  assert.equal(code, 1);
  assert.match(messages(stderr).join("\n"), says);
  const endless = program("endless.ts", `for (;;) console.log("x".repeat(1000));`);
  assertOneLine(await banyan(["-n", "2", endless], { command }), 1, says);
});

test("X7: a folder that was deleted meanwhile: one line, exit code 1", async () => {
  const [gone, launcher] = [folderOf("gone"), join(process.cwd(), "bin/banyan.js")];
  const command = [
    "sh",
    "-c",
    `mkdir "$1"; cd "$1"; rmdir "$1"; exec "${process.execPath}" "${launcher}" run "$2"`,
    "",
  ];
  assertOneLine(await banyan([gone, fine], { command }), 1, /the current folder does not exist any more/);
});

test("X7: a full disk for the trace is said, and the output is not lost", async () => {
  const { code, stdout, stderr } = await banyan(["run", "--trace", "/dev/full", fine]);
  assert.equal(code, 1);
  assert.equal(stdout, "\n");
  assert.match(messages(stderr).join("\n"), /Cannot write the trace to \/dev\/full: the disk is full/);
});

test("M8: options end at the program; what follows is the program's, a -- directly behind it dropped", async () => {
  assert.equal((await banyan(["run", fine, "-n", "3", "--label", "--", "x"])).stdout, "-n|3|--label|--|x\n");
  assert.equal((await banyan(["run", fine, "--", "--label", "--", "x"])).stdout, "--label|--|x\n");
  assert.equal((await banyan(["run", "--", fine, "-n"])).stdout, "-n\n");
});

test("X7: --help and --version are answered on standard output, with code 0", async () => {
  const help = await banyan(["--help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Usage: banyan/);
  const runHelp = await banyan(["run", "--help"]);
  assert.equal(runHelp.code, 0);
  assert.match(runHelp.stdout, /--nodes <number>/);
  const version = await banyan(["--version"]);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
});
