// Kills ranks and nodes of the programs in examples/ulfm at random moments, under --protocol ulfm, and judges what comes out.
//   node scripts/ulfm-kills.mjs [--kills 200] [--seed 1] [--only words of a file name] [--kinds node,rank,…] [--minutes 30] [files…]
// Kinds: "node" and "rank", one by the fault plan; "two", nodes at once; "again", a second one later; "starting", by a signal from outside
// before all ranks have begun; "ending", in the last tenth of the run. An example prints its answer in its last line, which must be that
// of a run without deaths, up to the last digits of numbers; it ends with 0. "hung": it was not over after ten times its usual time.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { launch } from "banyan";
import { givenOptions, refuse } from "./given-options.mjs";
import { processes } from "./kill-harm.mjs";
import { randomOf } from "./kill-runs.mjs";

const { values, positionals } = givenOptions({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    kinds: { type: "string", default: "node,rank,two,again,starting,ending" },
    ranks: { type: "string", default: "8" },
    nodes: { type: "string", default: "4" },
    minutes: { type: "string", default: "Infinity" },
  },
});
const folder = "examples/ulfm";
const files = (positionals.length > 0 ? positionals : readdirSync(folder).map((name) => join(folder, name)))
  .filter((file) => /\.(c|ts)$/.test(file) && file.includes(values.only))
  .sort();
if (files.length === 0) refuse(`There are no programs in ${folder}`);
const [ranks, nodes] = [Number(values.ranks), Number(values.nodes)];
const kinds = values.kinds.split(",");
const random = randomOf(Number(values.seed));
const below = (count) => Math.floor(random() * count);
let nextNode = below(1000);

/** A manager that is lost is beyond what a bag of tasks survives: its rank 0 lives. */
const needsFirst = (file) => basename(file).startsWith("tasks");

/**
 * The faults of a run that takes that long: a plan, and how many are killed by signals while it starts. Of two nodes at once the second is
 * the next one: the copies of a buddy checkpoint lie half the ranks away.
 */
function harmOf(kind, { runMs, spared }) {
  const at = (from, to) => `${Math.round(runMs * (from + random() * (to - from)))}ms`;
  const ofNodes = nodes - (spared ? 1 : 0);
  const [node, other] = [0, 1].map((next) => ((nextNode + next) % ofNodes) + (spared ? 1 : 0));
  nextNode = below(1000);
  const rank = spared ? 1 + below(ranks - 1) : below(ranks);
  const moment = at(0.02, 0.7);
  switch (kind) {
    case "node":
      return { plan: `kill node ${node} at ${moment}`, signals: 0 };
    case "rank":
      return { plan: `kill rank ${rank} at ${moment}`, signals: 0 };
    case "two":
      return { plan: `kill node ${node} at ${moment}; kill node ${other} at ${moment}`, signals: 0 };
    case "again":
      return {
        plan: `kill rank ${rank} at ${at(0.02, 0.4)}; kill node ${node} at ${at(0.4, 0.8)}`,
        signals: 0,
      };
    case "starting":
      return { plan: "", signals: 1 };
    case "ending":
      return { plan: `kill node ${node} at ${at(0.9, 1)}`, signals: 0 };
    default:
      throw new Error(`There is no kind "${kind}"`);
  }
}

async function run(file, { plan = "", signals = 0, spared = false, timeoutMs }) {
  const startMs = performance.now();
  const said = [];
  const out = [];
  /** By rank: the place of its line that has not ended. */
  const unfinished = new Map();
  let [begunMs, killed] = [0, 0];
  const faults = plan === "" ? {} : { faults: plan };
  const job = launch(file, { ranks, nodes, protocol: "ulfm", timeoutMs, ...faults });
  const kill = () => {
    const found = begunMs === 0 ? processes("node") : [];
    if (found.length < nodes) return;
    // In the order of their numbers.
    found.sort((a, b) => a - b);
    process.kill(found[spared ? 1 + below(found.length - 1) : below(found.length)], "SIGKILL");
    killed++;
  };
  const timer = signals > 0 ? setTimeout(kill, 100 + random() * 500) : undefined;
  for await (const event of job) {
    if (event.kind === "started") begunMs = performance.now();
    if (event.kind === "line" && event.stream === "stdout") {
      const { rank, text, ended } = event;
      const place = unfinished.get(rank) ?? out.push("") - 1;
      out[place] += text;
      if (ended) unfinished.delete(rank);
      else unfinished.set(rank, place);
    }
    if (!("message" in event)) continue;
    said.push(event.message);
    if (/^fault plan: killed/.test(event.message)) killed++;
  }
  clearTimeout(timer);
  const { code, reason } = await job.done;
  const nowMs = performance.now();
  return { code, reason, said, killed, last: out.at(-1) ?? "", ms: nowMs - startMs, runMs: nowMs - begunMs };
}

/** Sums in another order differ in their last digits. */
function isSame(last, wanted) {
  const number = /-?\d+(\.\d+)?(e[-+]?\d+)?/gi;
  if (last.replaceAll(number, "#") !== wanted.replaceAll(number, "#")) return false;
  const [got, expected] = [last, wanted].map((text) => (text.match(number) ?? []).map(Number));
  return got.every((value, i) => Math.abs(value - expected[i]) <= 1e-6 * Math.max(1, Math.abs(expected[i])));
}

const known = new Map();
async function usual(file) {
  if (!known.has(file)) {
    await run(file, { timeoutMs: 120_000 });
    const result = await run(file, { timeoutMs: 120_000 });
    if (result.code !== 0) throw new Error(`${file} fails without any death: ${result.said.join("; ")}`);
    known.set(file, result);
  }
  return known.get(file);
}

const counts = new Map();
let kills = 0;
const endMs = performance.now() + 60_000 * Number(values.minutes);
console.log(`seed ${values.seed}, ${ranks} ranks on ${nodes} nodes\n| # | program | harm | killed | outcome | time |`);
console.log("|---|---|---|---|---|---|");
for (let i = 0; kills < Number(values.kills) && performance.now() < endMs; i++) {
  const file = files[i % files.length];
  const kind = kinds[Math.floor(i / files.length) % kinds.length];
  const { last, ms, runMs } = await usual(file);
  const spared = needsFirst(file);
  const harm = harmOf(kind, { runMs, spared });
  const result = await run(file, { ...harm, spared, timeoutMs: 10 * ms + 30_000 });
  const isHung = result.reason.kind === "timeout";
  const isRight = result.code === 0 && isSame(result.last, last);
  const outcome = isHung ? "hung" : isRight ? "right" : "wrong";
  const count = counts.get(basename(file)) ?? { right: 0, wrong: 0, hung: 0, killed: 0 };
  counts.set(basename(file), count);
  count[outcome]++;
  count.killed += result.killed;
  kills += result.killed;
  const what = harm.plan === "" ? `${kind}: a signal` : harm.plan;
  const row = [i, basename(file), what, result.killed, outcome.toUpperCase(), `${(result.ms / 1000).toFixed(1)} s`];
  console.log(`| ${row.join(" | ")} |`);
  if (outcome === "right") continue;
  console.log(`    exit ${result.code}, last line ${JSON.stringify(result.last)}, wanted ${JSON.stringify(last)}`);
  for (const text of result.said) console.log(`    ${text}`);
}
const sum = { right: 0, wrong: 0, hung: 0, killed: 0 };
console.log("\n| program | runs | killed | right | wrong | hung |\n|---|---|---|---|---|---|");
for (const [name, count] of counts) {
  const { right, wrong, hung, killed } = count;
  console.log(`| ${name} | ${right + wrong + hung} | ${killed} | ${right} | ${wrong} | ${hung} |`);
  for (const key of Object.keys(sum)) sum[key] += count[key];
}
console.log(`${sum.killed} killed: ${sum.right} runs right, ${sum.wrong} wrong, ${sum.hung} hung`);
process.exitCode = sum.wrong + sum.hung === 0 ? 0 : 1;
