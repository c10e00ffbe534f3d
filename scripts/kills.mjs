// Kills nodes and services of real jobs, at random moments and in rare windows, and compares what comes out.
//   node scripts/kills.mjs [--runs 50] [--aimed 20] [--seed 1] [--only words of a plan] [--programs cg,collectives] [--busy] [--minutes 10]
//   node scripts/kills.mjs --kinds starting,soak,services,together,damaged …
//   node scripts/kills.mjs --aimed 0 --kinds moves,moves-logging,moves-none [--references known.json] …
//   node scripts/kills.mjs --aimed 0 --kinds volatile,volatile-resume …
// Of the runs so many are aimed by the fault plan at the windows below; the others take turns among the kinds: "planned", at random
// moments, by a fault plan; some by signals from outside (kill-harm.mjs), all of these under message logging; in "moves" ranks are moved and
// killed, under replication and under what the name says (move-harm.mjs); in "volatile" nodes and memories die under channel memories (volatile-harm.mjs), and every process of the job at
// once in "volatile-resume" (dispatcher-harm.mjs). A table says what came of each, and counts end it: "ended" are jobs that
// could not go on, and said so; "hung" those whose time was over. A run is drawn from a seed of its own, which the table has: the same kind
// with that seed, `--aimed 0` and `--runs 1` is that run again. Of one that went wrong the job's folder and a log are kept.
// `--busy`: beside as many busy loops as there are cores. `--minutes`: no further run is begun after that time. `--references`: a file
// that keeps what programs print when nothing fails, from one call to the next.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { powerCutCase } from "./dispatcher-harm.mjs";
import { givenOptions, refuse } from "./given-options.mjs";
import { harms } from "./kill-harm.mjs";
import { compile, isBeginning, movedPrograms, problemOf, programs, randomOf, runOnce } from "./kill-runs.mjs";
import { moveCase, moveKinds } from "./move-harm.mjs";
import { volatileCase } from "./volatile-harm.mjs";

/** Kinds whose jobs and programs are their own. */
const ownCases = {
  ...Object.fromEntries(moveKinds.map((it) => [it, (means) => moveCase(it, means)])),
  volatile: volatileCase,
  "volatile-resume": powerCutCase,
};
const ownKinds = Object.keys(ownCases);

const { values } = givenOptions({
  options: {
    runs: { type: "string", default: "50" },
    aimed: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    programs: { type: "string", default: "" },
    kinds: { type: "string", default: ["planned", ...Object.keys(harms), ...ownKinds].join() },
    references: { type: "string", default: "" },
    busy: { type: "boolean", default: false },
    minutes: { type: "string", default: "Infinity" },
  },
});
const kinds = values.kinds.split(",");
const known = ["planned", ...Object.keys(harms), ...ownKinds];
const unknown = kinds.find((kind) => !known.includes(kind));
if (unknown !== undefined) refuse(`There is no kind "${unknown}": ${known.join(", ")}`);
const wantedPrograms = values.programs === "" ? null : values.programs.split(",");
const runs = Number(values.runs);
const aimed = Math.min(runs, Number(values.aimed));
/** Of the run that is drawn. */
let random = randomOf(0);
const below = (count) => Math.floor(random() * count);
const oneOf = (all) => all[below(all.length)];

const on2 = { ranks: 4, nodes: 2 };
const on3 = { ranks: 4, nodes: 3 };
const on4 = { ranks: 4, nodes: 4 };
const often = { checkpointEveryMs: 150 };

/** `T` and `U`: moments in the middle of the run; each has one value in a plan. */
const windows = [
  { ...on2, plan: "kill node 0 at init" },
  { ...on4, plan: "kill node 3 at init; kill node 0 at init of rank 2" },
  { ...on2, ...often, plan: "kill node 1 at call 40" },
  { ...on2, ...often, plan: "kill node 1 at checkpoint 1 before" },
  { ...on2, ...often, plan: "kill node 1 at checkpoint 2 while" },
  { ...on2, ...often, plan: "kill node 1 every 60ms times 3 from T" },
  { ...on2, ...often, plan: "kill node 1 at commit 1" },
  { ...on2, ...often, plan: "kill node 0 at commit 2" },
  { ...on2, ...often, plan: "kill node 1 at checkpoint 2 after" },
  { ...on2, ...often, plan: "kill node 1 at T; kill node 1 in recovery" },
  { ...on2, plan: "kill node 1 at T; kill node 0 in recovery of set 1" },
  { ...on2, ...often, plan: "kill node 1 at T; kill node 1 in recovery number 1; kill node 1 in recovery number 2" },
  { ...on4, ...often, plan: "kill node 0 at T; kill node 1 at T" },
  { ...on4, plan: "kill node 0 at T; kill node 1 at T; kill node 2 at T; kill node 3 at T" },
  { ...on2, ...often, plan: "kill node 1 at finish" },
  { ...on4, plan: "kill node 0 at finish" },
  { ...on2, sets: "rank", plan: "kill rank 1 at call 100" },
  { ...on2, ...often, sets: "rank", plan: "kill rank 1 at T; kill node 1 in recovery of set 1" },
  { ...on2, keepSuspects: true, plan: "stop node 1 at T for 3s" },
  { ...on4, ...often, plan: "cut link 0-1 at T for 500ms; kill node 1 at T" },
];

/** Signals from outside: the harm, and the options of the job. */
function harmfulCase(kind) {
  const size = oneOf(kind === "starting" ? [on3, on4] : [on2, on3, on4]);
  const kills = { starting: 1 + below(3), soak: 12, services: 8, together: 8, damaged: 1 }[kind];
  const options = { ...size, ...often, ...(kind === "services" ? { checkpointServers: 1 } : {}) };
  const how = {
    everyMs: kind === "soak" ? oneOf([500, 1000, 2000]) : oneOf([700, 1500]),
    isRoundRobin: random() < 0.5,
  };
  const harm = harms[kind]({ random, folder, kills, nodes: size.nodes, setOfNode: (node) => node, ...how });
  const order = kind === "soak" ? (how.isRoundRobin ? " round robin" : " at random") : "";
  const pace = ["soak", "services", "together"].includes(kind) ? ` every ${how.everyMs} ms` : "";
  return { ...options, plan: "", harm, what: `${kind}: up to ${kills}${pace}${order}` };
}

function randomCase() {
  const size = oneOf([on2, on4]);
  const node = () => below(size.nodes);
  const checkpoints = oneOf([{}, often, { checkpointEveryMs: 400 }]);
  const sets = oneOf(["node", "node", "rank"]);
  const victim = node();
  const plan = oneOf([
    `kill node ${victim} at T`,
    `kill node ${victim} at T; kill rank ${below(size.ranks)} at U`,
    `kill node ${victim} at T; kill node ${(victim + 1) % size.nodes} at T`,
    `kill node ${victim} at T; kill node ${victim} at U`,
    `kill rank ${below(size.ranks)} at T`,
  ]);
  return { ...size, ...checkpoints, sets, plan };
}

const folder = mkdtempSync(join(tmpdir(), "banyan-kills-"));
let isKept = false;
process.env.TMPDIR = folder;
const loops = values.busy
  ? Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
    )
  : [];
/** A run that is interrupted is looked at, too. */
process.once("SIGINT", () => {
  isKept = true;
  console.log(`    kept in ${folder}`);
  process.exit(1);
});
process.on("exit", () => {
  for (const loop of loops) loop.kill("SIGKILL");
  if (!isKept) rmSync(folder, { recursive: true, force: true });
});

/** Programs whose every receive names its source, where that is needed. */
function programFor(kind, { replication, checkpointEveryMs }) {
  if (!ownKinds.includes(kind)) return programs;
  const needsNames = replication === "mirror";
  // Programs in TypeScript are not moved where nothing is kept, and take their checkpoints themselves.
  const isForC = kind === "moves-none" || checkpointEveryMs !== undefined;
  const can = ([, { named, source, isOfRank0 = false }]) =>
    (!needsNames || named !== null) &&
    (!isForC || !source.endsWith(".ts")) &&
    ((kind !== "moves-dispatcher" && kind !== "volatile-resume") || isOfRank0);
  return Object.fromEntries(
    Object.entries(movedPrograms)
      .filter(can)
      .map(([name, it]) => [name, { ...it, args: (needsNames ? it.named : null) ?? it.args }]),
  );
}

const modules = new Map();
const isStored = values.references !== "" && existsSync(values.references);
const references = isStored ? JSON.parse(readFileSync(values.references, "utf8")) : {};

/** The output and duration of a program without failures. */
async function faultFree(name, program, { ranks, nodes, protocol = "logging", replicas }) {
  const { args, source } = program;
  if (!modules.has(source)) modules.set(source, compile(name, folder, program));
  const module = modules.get(source);
  const size = { ranks, nodes, protocol, ...(replicas === undefined ? {} : { replicas }) };
  const key = [source, ...args, ...Object.values(size)].join(" ");
  if (references[key] === undefined) {
    let startedMs = 0;
    const run = await runOnce(module, { ...size, args, timeoutMs: 120_000 }, (event) => {
      if (event.kind === "started") startedMs = performance.now();
    });
    if (run.code !== 0) throw new Error(`${key} fails without any fault: ${run.said.join("; ")}`);
    references[key] = { lines: run.lines, runMs: performance.now() - startedMs };
    if (values.references !== "") writeFileSync(values.references, JSON.stringify(references));
  }
  return { module, args, ...references[key] };
}

/** "right", "ended", "hung" or "wrong", and what is wrong. */
function judged({ name, program, run, lines, harm }) {
  if (run.code === 124) return { outcome: "hung", problem: "its time was over" };
  const problem = problemOf(name, run, lines, program);
  if (problem === "") return { outcome: "right", problem };
  const hasEnded = harm?.mayEnd?.(run) === true && isBeginning(run, lines);
  return hasEnded ? { outcome: "ended", problem: "" } : { outcome: "wrong", problem };
}

/** By kind. */
const counts = new Map();
const endMs = performance.now() + 60_000 * Number(values.minutes);
console.log(`seed ${values.seed}${values.busy ? `, beside ${loops.length} busy loops` : ""}`);
console.log("| seed | program | options | plan | outcome | faults | time |\n|---|---|---|---|---|---|---|");
for (let i = 0; i < runs && performance.now() < endMs; i++) {
  const kind = i < aimed ? "aimed" : kinds[(i - aimed) % kinds.length];
  const seed = Number(values.seed) + i;
  random = randomOf(seed);
  const logFile = join(folder, `${kind}-${seed}.log`);
  const startMs = performance.now();
  const logEntry = (text) => appendFileSync(logFile, `${((performance.now() - startMs) / 1000).toFixed(3)} ${text}\n`);
  const caseOf = {
    aimed: () => windows[i % windows.length],
    planned: randomCase,
    ...Object.fromEntries(ownKinds.map((it) => [it, () => ownCases[it]({ random, logEntry })])),
  };
  const { plan: planned, harm, what, ...options } = (caseOf[kind] ?? (() => harmfulCase(kind)))();
  const choice = programFor(kind, options);
  const names = Object.keys(choice).filter((it) => wantedPrograms === null || wantedPrograms.includes(it));
  if (names.length === 0)
    refuse(`None of the programs "${values.programs}" can be used for "${kind}": ${Object.keys(choice).join(", ")}`);
  const name = i < aimed ? names[(i + Math.floor(i / windows.length)) % names.length] : oneOf(names);
  const program = choice[name];
  if (!planned.includes(values.only)) continue;
  const { module, args, lines, runMs } = await faultFree(name, program, options);
  const moment = () => `${Math.round(50 + random() * 0.7 * runMs)}ms`;
  const plan = planned.replaceAll(/\bT\b/g, moment()).replaceAll(/\bU\b/g, moment());
  const planOf = plan === "" ? {} : { faults: plan };
  const isOwn = ownKinds.includes(kind);
  const jobFolder = join(folder, `job-${kind}-${seed}`);
  const timeoutMs = isOwn ? 60_000 + 5 * runMs : harm === undefined ? 90_000 : 300_000;
  const all = { protocol: "logging", ...options, ...planOf, ...(isOwn ? { jobFolder } : {}), args, timeoutMs };
  harm?.begin();
  const played = harm?.play?.(module, all);
  const run = await (played ?? runOnce(module, all, (event, job) => harm?.event(event, job)));
  harm?.end();
  const { outcome, problem } = judged({ name, program, run, lines, harm });
  const faults = harm?.done.length ?? run.said.filter((text) => /^fault plan: (killed|stopped|cut)/.test(text)).length;
  const count = counts.get(kind) ?? {
    right: 0,
    ended: 0,
    wrong: 0,
    hung: 0,
    faults: 0,
    orders: 0,
    moved: 0,
    refused: 0,
  };
  counts.set(kind, count);
  count[outcome]++;
  count.faults += faults;
  count.orders += harm?.ordered ?? 0;
  count.moved += harm?.moved ?? 0;
  count.refused += harm?.refused ?? 0;
  const { ranks, nodes, sets = "node", checkpointEveryMs = "none" } = options;
  const how = `${ranks} on ${nodes}, ${isOwn ? "" : `sets ${sets}, `}checkpoints ${checkpointEveryMs}`;
  const isBad = outcome === "wrong" || outcome === "hung";
  const moves =
    harm?.ordered !== undefined ? `, ${harm.ordered} orders, ${harm.refused} refused, ${harm.moved} moved` : "";
  const said = isBad ? `${outcome.toUpperCase()}: ${problem}` : outcome;
  const row = [seed, name, how, what ?? plan, said, `${faults}${moves}`, `${(run.ms / 1000).toFixed(1)} s`];
  console.log(`| ${row.join(" | ")} |`);
  if (!isBad) {
    for (const path of [jobFolder, logFile]) rmSync(path, { recursive: true, force: true });
    continue;
  }
  isKept = true;
  const printed = run.lines.flatMap((texts, rank) => texts.map((text) => `rank ${rank}: ${text}`));
  for (const line of [...run.said, "", ...printed]) logEntry(line);
  console.log(`    kept in ${folder}: node scripts/kills.mjs --aimed 0 --runs 1 --kinds ${kind} --seed ${seed}`);
  for (const text of run.said) console.log(`    ${text}`);
}
const sum = { right: 0, ended: 0, wrong: 0, hung: 0, faults: 0, orders: 0, moved: 0, refused: 0 };
const runsOf = ({ right, ended, wrong, hung }) => right + ended + wrong + hung;
console.log(
  "\n| kind | runs | faults | orders to move | refused | moved | right | ended | wrong | hung |\n|---|---|---|---|---|---|---|---|---|---|",
);
for (const [kind, count] of counts) {
  const { right, ended, wrong, hung, faults, orders, moved, refused } = count;
  console.log(`| ${[kind, runsOf(count), faults, orders, refused, moved, right, ended, wrong, hung].join(" | ")} |`);
  for (const key of Object.keys(sum)) sum[key] += count[key];
}
console.log(
  `${runsOf(sum)} runs with ${sum.faults} faults: ${sum.right} right, ${sum.ended} ended, ${sum.wrong} wrong, ${sum.hung} hung`,
);
process.exitCode = sum.wrong + sum.hung === 0 ? 0 : 1;
// Busy loops end with this process.
process.exit();
