// Runs of the fuzzer of the ABI (test/programs/c/abi-fuzz), for scripts/fuzz-abi.mjs and test/abi-fuzz.test.ts.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { callsHeader } from "./abi-fuzz-calls.mjs";

const launcher = resolve("bin/banyan.js");
const sources = resolve("test/programs/c/abi-fuzz");

/** Compiles the fuzzer with the table of calls from include/mpi.h; returns the path of the module. */
export function compileFuzzer(folder) {
  const out = join(folder, "abi-fuzz.wasm");
  writeFileSync(join(folder, "calls.h"), callsHeader());
  const args = ["cc", "-O1", "-I", folder, "-I", sources, join(sources, "main.c"), "-o", out];
  const { status, stderr } = spawnSync(process.execPath, [launcher, ...args]);
  if (status !== 0) throw new Error(`Cannot compile the fuzzer: ${stderr}`);
  return out;
}

/** As `ranks on nodes`; some on one node, some on two, with a thread for each rank or one for all. */
export const fuzzSizes = [
  { ranks: 2, nodes: 1 },
  { ranks: 2, nodes: 2 },
  { ranks: 3, nodes: 1 },
  { ranks: 4, nodes: 2 },
  { ranks: 4, nodes: 1 },
  { ranks: 3, nodes: 2 },
];

/** One job. It must end by itself: a run longer than `seconds` is a hang. */
export async function runFuzzer(module, { ranks, nodes, seed, calls, seconds = 240, more = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "banyan-fuzz-run-"));
  const size = ["-n", `${ranks}`, "--nodes", `${nodes}`, "--memory", "256", "--timeout", `${seconds}s`];
  const args = [launcher, "run", "-q", ...size, module, `${seed}`, `${calls}`, ...more];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const code = await new Promise((done) => child.on("close", (status, signal) => done(status ?? signal)));
  rmSync(folder, { recursive: true, force: true });
  return { code, stdout, stderr, ...countsIn(stdout), problem: problemIn(code, stdout, stderr) };
}

function countsIn(stdout) {
  const found = stdout.match(/^abi-fuzz: (\d+) calls, (\d+) errors returned.*?(\d+) called, (\d+) succeeded/m);
  const [calls = 0, errors = 0, called = 0, succeeded = 0] = (found ?? []).slice(1).map(Number);
  return { calls, errors, called, succeeded };
}

/** Empty: no problem. */
function problemIn(code, stdout, stderr) {
  const said = [...stdout.split("\n").filter((line) => line.startsWith("abi-fuzz failed")), ...stderr.split("\n")];
  const what = said
    .filter((line) => line !== "" && !line.startsWith("rank "))
    .slice(0, 8)
    .join("\n");
  if (code !== 0) return `exit ${code}: ${what}`;
  return stderr === "" || stderr.startsWith("rank ") ? "" : what;
}

/** The command that repeats the run. */
export function commandFor({ ranks, nodes, seed, calls }) {
  return `node scripts/fuzz-abi.mjs --ranks ${ranks} --nodes ${nodes} --seed ${seed} --calls ${calls} --trace`;
}

/** The last calls of every rank, from a run with `trace`. */
export function lastCalls(stderr, ranks, count = 6) {
  const lines = stderr.split("\n");
  return Array.from({ length: ranks }, (_, rank) =>
    lines.filter((line) => line.startsWith(`rank ${rank}`) && /^rank \d+( of|:)/.test(line)).slice(-count),
  ).flat();
}
