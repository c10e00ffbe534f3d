// Random calls of MPI's functions from C, with right, nearly right and absurd arguments (test/programs/c/abi-fuzz).
//   node scripts/fuzz-abi.mjs [--calls 1000000] [--each 100000] [--seed 1] [--jobs 2]
//                                                                              many jobs of several sizes, so many at a time
//   node scripts/fuzz-abi.mjs --ranks 2 --nodes 1 --seed 7 --calls 2000 --trace [--episode 12]
//                                                                              one of them again, with its last calls
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandFor, compileFuzzer, fuzzSizes, lastCalls, runFuzzer } from "./fuzz-runs.mjs";
import { givenOptions } from "./given-options.mjs";

const { values } = givenOptions({
  options: {
    calls: { type: "string", default: "1000000" },
    each: { type: "string", default: "100000" },
    jobs: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    ranks: { type: "string" },
    nodes: { type: "string", default: "1" },
    episode: { type: "string" },
    seconds: { type: "string", default: "1800" },
    trace: { type: "boolean", default: false },
    counts: { type: "boolean", default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), "banyan-fuzz-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const module = compileFuzzer(folder);
const seconds = Number(values.seconds);
const episodes = values.episode === undefined ? ["0", `${2 ** 30}`] : [values.episode, "1"];

/** One job of a size that is given. */
async function once() {
  const size = { ranks: Number(values.ranks), nodes: Number(values.nodes) };
  const more = [...episodes, ...(values.trace ? ["trace"] : values.counts ? ["counts"] : [])];
  const run = await runFuzzer(module, {
    ...size,
    seed: Number(values.seed),
    calls: Number(values.calls),
    seconds,
    more,
  });
  process.stdout.write(run.stdout);
  if (values.trace) console.log(lastCalls(run.stderr, size.ranks).join("\n"));
  console.log(run.problem === "" ? "nothing was wrong" : run.problem);
  return run.problem === "" ? 0 : 1;
}

/** Many jobs, until so many calls were made. */
async function many() {
  const total = { jobs: 0, calls: 0, errors: 0, failed: 0 };
  const wanted = Number(values.calls);
  const each = Math.min(Number(values.each), wanted);
  const first = Number(values.seed);
  let started = 0;
  const one = async () => {
    while (started * each < wanted) {
      const seed = first + started;
      const size = fuzzSizes[started++ % fuzzSizes.length];
      count(seed, size, await runFuzzer(module, { ...size, seed, calls: each, seconds }));
    }
  };
  const count = (seed, size, run) => {
    total.jobs++;
    // What a job that failed has called nobody knows.
    total.calls += run.calls;
    total.errors += run.errors;
    if (run.problem !== "") {
      total.failed++;
      console.log(`FAILED: ${run.problem}\n  again: ${commandFor({ ...size, seed, calls: each })}`);
    } else console.log(`seed ${seed}, ${size.ranks} on ${size.nodes}: ${run.stdout.trim()}`);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, one));
  const { jobs, calls, errors, failed } = total;
  console.log(`${jobs} jobs, ${calls} calls, ${errors} errors returned: ${failed} jobs failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await (values.ranks === undefined ? many() : once());
