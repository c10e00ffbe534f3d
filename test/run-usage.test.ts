/** Bad input: one clear line on standard error, exit code 2 or 1, nothing left running. Row X7. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, folderOf, messages, program } from "./harness.ts";

const fine = program("fine.ts", `console.log(process.argv.slice(2).join("|"));`);
const cases: { what: string; args: string[]; code: number; says: RegExp }[] = [
  {
    what: "an unknown flag",
    args: ["run", "--frobnicate", fine],
    code: 2,
    says: /unknown option '--frobnicate'; see banyan run --help$/,
  },
  { what: "an unknown command", args: ["rnu", fine], code: 2, says: /unknown command 'rnu'/ },
  { what: "no program", args: ["run", "-n", "2"], code: 2, says: /missing required argument 'program'/ },
  {
    what: "a program that is not there",
    args: ["run", folderOf("nowhere.ts")],
    code: 2,
    says: /Cannot run .*nowhere\.ts: there is no such file$/,
  },
  { what: "a folder as program", args: ["run", folderOf("")], code: 2, says: /it is not a file$/ },
  {
    what: "a program of an unknown kind",
    args: ["run", program("a.txt", "hello")],
    code: 2,
    says: /programs end in \.ts, \.mts, \.js, \.mjs$/,
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
];
for (const { what, args, code, says } of cases) {
  test(`X7: ${what}: one line, exit code ${code}`, async () => {
    const run = await banyan(args);
    assert.equal(run.code, code);
    assert.equal(run.stdout, "");
    const lines = run.stderr.trimEnd().split("\n");
    assert.equal(lines.length, 1, run.stderr);
    assert.match(lines[0]!, /^banyan: Cannot /);
    assert.match(lines[0]!, says);
  });
}

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
