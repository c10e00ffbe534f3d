// Kills nodes and services of real jobs under message logging, at random moments and in rare windows, and compares what comes out.
//   node scripts/kills.mjs [--runs 50] [--aimed 20] [--seed 1] [--only words of a plan] [--busy] [--minutes 10]
//   node scripts/kills.mjs --kinds starting,soak,services,together,damaged …
// Of the runs so many are aimed by the fault plan at the windows below; the others take turns among the kinds: "planned", at random
// moments, by a fault plan; the others by signals from outside (kill-harm.mjs). A table says what came of each, and counts end it.
// `--busy`: beside as many busy loops as there are cores. `--minutes`: no further run is begun after that time.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { harms } from "./kill-harm.mjs";
import { compile, problemOf, programs, randomOf, runOnce } from "./kill-runs.mjs";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "50" },
    aimed: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    kinds: { type: "string", default: "planned,starting,soak,services,together,damaged" },
    busy: { type: "boolean", default: false },
    minutes: { type: "string", default: "Infinity" },
  },
});
const kinds = values.kinds.split(",");
const unknown = kinds.find((kind) => kind !== "planned" && !(kind in harms));
if (unknown !== undefined) throw new Error(`There is no kind "${unknown}": planned, ${Object.keys(harms).join(", ")}`);
const runs = Number(values.runs);
const aimed = Math.min(runs, Number(values.aimed));
const random = randomOf(Number(values.seed));
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
process.env.TMPDIR = folder;
const loops = values.busy
  ? Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
    )
  : [];
process.on("exit", () => {
  for (const loop of loops) loop.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
const names = Object.keys(programs);
const known = new Map();

/** The output and duration of a program without failures. */
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

/** By kind. */
const counts = new Map();
const endMs = performance.now() + 60_000 * Number(values.minutes);
console.log(`seed ${values.seed}${values.busy ? `, beside ${loops.length} busy loops` : ""}`);
console.log("| # | program | options | plan | outcome | faults | time |\n|---|---|---|---|---|---|---|");
for (let i = 0; i < runs && performance.now() < endMs; i++) {
  const kind = i < aimed ? "aimed" : kinds[(i - aimed) % kinds.length];
  const chosen = { aimed: () => windows[i % windows.length], planned: randomCase }[kind] ?? (() => harmfulCase(kind));
  const { plan: planned, harm, what, ...options } = chosen();
  const name = i < aimed ? names[(i + Math.floor(i / windows.length)) % names.length] : oneOf(names);
  if (!planned.includes(values.only)) continue;
  const { module, args, lines, runMs } = await faultFree(name, options.ranks, options.nodes);
  const moment = () => `${Math.round(50 + random() * 0.7 * runMs)}ms`;
  const plan = planned.replaceAll(/\bT\b/g, moment()).replaceAll(/\bU\b/g, moment());
  const planOf = plan === "" ? {} : { faults: plan };
  const all = { ...options, ...planOf, args, protocol: "logging", timeoutMs: harm === undefined ? 90_000 : 300_000 };
  harm?.begin();
  const run = await runOnce(module, all, (event) => harm?.event(event));
  harm?.end();
  const problem = problemOf(name, run, lines);
  const faults = harm?.done.length ?? run.said.filter((text) => /^fault plan: (killed|stopped|cut)/.test(text)).length;
  const count = counts.get(kind) ?? { right: 0, wrong: 0, faults: 0 };
  counts.set(kind, count);
  count[problem === "" ? "right" : "wrong"]++;
  count.faults += faults;
  const { ranks, nodes, sets = "node", checkpointEveryMs = "none" } = options;
  const how = `${ranks} on ${nodes}, sets ${sets}, checkpoints ${checkpointEveryMs}`;
  const outcome = problem === "" ? "right" : `WRONG: ${problem}`;
  console.log(
    `| ${i} | ${name} | ${how} | ${what ?? plan} | ${outcome} | ${faults} | ${(run.ms / 1000).toFixed(1)} s |`,
  );
  if (problem !== "") for (const text of run.said) console.log(`    ${text}`);
}
const sum = { right: 0, wrong: 0, faults: 0 };
console.log("\n| kind | runs | faults | right | wrong |\n|---|---|---|---|---|");
for (const [kind, count] of counts) {
  const { right, wrong, faults } = count;
  console.log(`| ${kind} | ${right + wrong} | ${faults} | ${right} | ${wrong} |`);
  for (const key of Object.keys(sum)) sum[key] += count[key];
}
console.log(`${sum.right + sum.wrong} runs with ${sum.faults} faults: ${sum.right} right, ${sum.wrong} wrong`);
process.exitCode = sum.wrong === 0 ? 0 : 1;
// Busy loops end with this process.
process.exit();
