// Runs of C programs under message logging in which processes are killed, and the output that they must have all the same. For
// scripts/kills.mjs and test/logging-kills.test.ts.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { launch } from "banyan";

/** Lines with times in them differ from run to run. */
const isTimed = (text) => /^(Seconds|Mop\/s|\s*time|\s*rate)\b/.test(text);

/**
 * By name: the source, its arguments, and a function that compares the output of a rank with its output in a run without
 * failures.
 */
export const programs = {
  cg: { source: "examples/kernels/cg.c", args: ["S"], check: sameLines },
  hpccg: { source: "examples/kernels/hpccg.c", args: ["10", "10", "10", "120"], check: sameLines },
  mg: { source: "examples/kernels/mg.c", args: ["S"], check: sameLines },
  ft: { source: "examples/kernels/ft.c", args: ["S"], check: sameLines },
  bt: { source: "examples/kernels/bt.c", args: ["12", "40"], check: sameLines },
  is: { source: "examples/kernels/is.c", args: ["S"], check: sameLines },
  orders: { source: "test/programs/c/orders.c", args: ["200", "2000"], check: checkOrders },
  collectives: { source: "test/programs/c/long-collectives.c", args: ["500", "50"], check: sameLines },
};

/**
 * The same for runs in which ranks are moved: each takes some seconds. All are send-deterministic; `named` are the arguments with which a
 * program names the source of every message, null: it does not. Of some rank 0 alone prints.
 */
export const movedPrograms = {
  exchange: {
    source: "test/programs/c/replicas.c",
    args: ["250", "10000"],
    named: ["250", "10000", "named"],
    check: sameLines,
  },
  messages: { source: "test/programs/c/moved.c", args: ["150", "10000", "10000"], named: null, check: sameLines },
  poisson: { source: "examples/poisson.c", args: ["191"], isOfRank0: true, check: sameLines },
  bt: { source: "examples/kernels/bt.c", args: ["12", "400"], isOfRank0: true, check: sameLines },
  cg: { source: "examples/kernels/cg.c", args: ["W"], isOfRank0: true, check: sameLines },
  hpccg: {
    source: "examples/kernels/hpccg.c",
    args: ["12", "12", "12", "600"],
    named: null,
    isOfRank0: true,
    check: sameLines,
  },
  collectives: {
    source: "test/programs/c/long-collectives.c",
    args: ["1000", "100"],
    isOfRank0: true,
    check: sameLines,
  },
  rounds: { source: "test/programs/rounds.ts", args: ["200", "20"], check: sameLines },
};

function sameLines(lines, wanted) {
  const [got, expected] = [lines, wanted].map((all) => all.filter((text) => !isTimed(text)));
  for (let i = 0; i < Math.max(got.length, expected.length); i++) {
    if (got[i] !== expected[i]) return `line ${i} is ${quoted(got[i])}, not ${quoted(expected[i])}`;
  }
  return "";
}

const quoted = (text) => (text === undefined ? "missing" : JSON.stringify(text));

/** States differ from run to run; the rounds do not, and the line before the last is a hash of all states printed. */
function checkOrders(lines, wanted) {
  const withoutStates = (all) => all.map((text) => text.replace(/[0-9a-f]{16}$/, ""));
  const problem = sameLines(withoutStates(lines), withoutStates(wanted));
  if (problem !== "") return problem;
  const [states, rest] = [lines.slice(0, -2), lines.at(-2)].map((text) => [text].flat().map((it) => it.slice(-16)));
  const hash = states.reduce((sum, state) => mixed(sum, BigInt(`0x${state}`)), 0n);
  const printed = hash.toString(16).padStart(16, "0");
  return printed === rest[0] ? "" : `what was printed adds up to ${printed}, the program says ${rest[0]}`;
}

/** As in orders.c. */
function mixed(before, value) {
  const mask = (1n << 64n) - 1n;
  let hash = before ^ ((value + 0x9e3779b97f4a7c15n + ((before << 6n) & mask) + (before >> 2n)) & mask);
  hash = (hash * 0xff51afd7ed558ccdn) & mask;
  return hash ^ (hash >> 33n);
}

/** Compiles a program once for all runs; returns the path of its module. One in TypeScript is its own. */
export function compile(name, folder, { source } = programs[name]) {
  if (source.endsWith(".ts")) return source;
  const out = join(folder, `${name}.wasm`);
  const { status, stderr } = spawnSync(process.execPath, ["bin/banyan.js", "cc", source, "-O2", "-lm", "-o", out]);
  if (status !== 0) throw new Error(`Cannot compile ${source}: ${stderr}`);
  return out;
}

/**
 * One run: the output of each rank, the messages about the job, its exit code and its time. `onEvent` gets every event, and may
 * do harm of its own.
 */
export async function runOnce(module, options, onEvent = () => {}) {
  const startMs = performance.now();
  const lines = Array.from({ length: options.ranks }, () => []);
  const said = [];
  const unfinished = new Set();
  const job = launch(module, options);
  for await (const event of job) {
    if (event.kind === "line" && event.rank !== null) {
      const of = lines[event.rank];
      if (unfinished.has(event.rank) && event.number === of.length - 1) of[event.number] += event.text;
      else of.push(event.text);
      if (event.ended) unfinished.delete(event.rank);
      else unfinished.add(event.rank);
    } else if ("message" in event) said.push(event.message);
    onEvent(event, job);
  }
  const { code } = await job.done;
  return { lines, said, code, ms: performance.now() - startMs };
}

/** The problem of a run; empty: none. */
export function problemOf(name, run, wanted, { check } = programs[name]) {
  if (run.code !== 0) {
    // What ended the job begins so; losses that were noticed later may stand behind it.
    const reason = run.said.findLast((text) => text.startsWith("Cannot ")) ?? run.said.at(-1);
    return `exit ${run.code}: ${reason ?? ""}`;
  }
  for (const [rank, lines] of run.lines.entries()) {
    const problem = check(lines, wanted[rank]);
    if (problem !== "") return `rank ${rank}: ${problem}`;
  }
  return "";
}

/** Of a run that came to no end: has each rank printed what it prints first? Of its last line perhaps a part. */
export const isBeginning = (run, wanted) =>
  run.lines.every((lines, rank) =>
    lines.every((text, i) =>
      i < lines.length - 1
        ? isTimed(text) || text === wanted[rank][i]
        : isTimed(text) || wanted[rank][i]?.startsWith(text),
    ),
  );

/** Numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixedState = Math.imul(state ^ (state >>> 15), state | 1);
    mixedState ^= mixedState + Math.imul(mixedState ^ (mixedState >>> 7), mixedState | 61);
    return ((mixedState ^ (mixedState >>> 14)) >>> 0) / 2 ** 32;
  };
}
