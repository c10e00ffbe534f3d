// Kills nodes of real jobs under message logging, at random moments and in rare windows, and compares what comes out.
//   node scripts/kills.mjs [--runs 50] [--aimed 20] [--seed 1] [--only words of a plan]
// Of the runs so many are aimed by the fault plan at the windows below; a table says what came of each.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile, problemOf, programs, randomOf, runOnce } from "./kill-runs.mjs";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "50" },
    aimed: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const runs = Number(values.runs);
const aimed = Math.min(runs, Number(values.aimed));
const random = randomOf(Number(values.seed));
const below = (count) => Math.floor(random() * count);
const oneOf = (all) => all[below(all.length)];

const on2 = { ranks: 4, nodes: 2 };
const on4 = { ranks: 4, nodes: 4 };
const often = { checkpointEveryMs: 150 };

/** `T` and `U`: moments in the middle of the run; each is the same in all of a plan. */
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
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const names = Object.keys(programs);
const known = new Map();

/** What a program prints when nothing fails, and for how long it runs. */
async function faultFree(name, ranks, nodes) {
  const key = `${name} ${ranks} ${nodes}`;
  if (known.has(key)) return known.get(key);
  const module = known.get(name) ?? compile(name, folder);
  known.set(name, module);
  const { args } = programs[name];
  let startedMs = 0;
  const run = await runOnce(module, { ranks, nodes, args, protocol: "logging", timeoutMs: 120_000 }, (event) => {
    if (event.kind === "started") startedMs = performance.now();
  });
  if (run.code !== 0) throw new Error(`${key} fails without any fault: ${run.said.join("; ")}`);
  const result = { module, args, lines: run.lines, runMs: performance.now() - startedMs };
  known.set(key, result);
  return result;
}

const counts = { good: 0, bad: 0, faults: 0 };
console.log(`seed ${values.seed}`);
console.log("| # | program | options | plan | outcome | faults | time |\n|---|---|---|---|---|---|---|");
for (let i = 0; i < runs; i++) {
  const { plan: planned, ...options } = i < aimed ? windows[i % windows.length] : randomCase();
  const name = i < aimed ? names[(i + Math.floor(i / windows.length)) % names.length] : oneOf(names);
  if (!planned.includes(values.only)) continue;
  const { module, args, lines, runMs } = await faultFree(name, options.ranks, options.nodes);
  const moment = () => `${Math.round(50 + random() * 0.7 * runMs)}ms`;
  const plan = planned.replaceAll(/\bT\b/g, moment()).replaceAll(/\bU\b/g, moment());
  const all = { ...options, args, protocol: "logging", faults: plan, timeoutMs: 90_000 };
  const run = await runOnce(module, all);
  const problem = problemOf(name, run, lines);
  counts[problem === "" ? "good" : "bad"]++;
  const faults = run.said.filter((text) => /^fault plan: (killed|stopped|cut)/.test(text)).length;
  counts.faults += faults;
  const { ranks, nodes, sets = "node", checkpointEveryMs = "none" } = options;
  const how = `${ranks} on ${nodes}, sets ${sets}, checkpoints ${checkpointEveryMs}`;
  const outcome = problem === "" ? "right" : `WRONG: ${problem}`;
  console.log(`| ${i} | ${name} | ${how} | ${plan} | ${outcome} | ${faults} | ${(run.ms / 1000).toFixed(1)} s |`);
  if (problem !== "") for (const text of run.said) console.log(`    ${text}`);
}
console.log(`${counts.good + counts.bad} runs with ${counts.faults} faults: ${counts.good} right, ${counts.bad} wrong`);
process.exitCode = counts.bad === 0 ? 0 : 1;
