/**
 * Figure 13 of MPICH-V: where the time of bt goes, with as many channel memories as nodes. The paper's bars are plain MPICH, memories that only relay,
 * memories that keep what they relay, and those with checkpoints; each is divided into computing and communicating. And what fewer memories cost.
 *
 * A memory that only relays is none that anybody could use, and there is none here. In its place stand memories whose files are in a file system of the
 * machine's memory (`/dev/shm`): what is left of keeping is a copy.
 *
 * Computing is what one rank alone takes for all of it, divided by the processors that ranks can have: a clock around each call would be one more
 * event for each, which memories keep. All else is communicating: messages, memories, waits, and processors that others had.
 */
import { existsSync } from "node:fs";
import type { Benchmark, Finding, Table } from "../../benchmark.ts";
import { memoriesEach, memoriesInCore, memoriesWhole, plainNone, plotLines } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { type Contender, mapSeries, medianAt, ofMetric, type Series } from "../../measuring/series.ts";
import type { Panel } from "../../plots/plot.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import { optionsOfMemories } from "./options.ts";

interface Amount {
  readonly ranks: readonly number[];
  /** Of the grid, and how many steps. */
  readonly size: number;
  readonly steps: number;
  readonly checkpointEvery: string;
  /** Fewer and fewer memories for so many ranks. */
  readonly fewerFor: number;
  readonly fewer: readonly number[];
}
const full: Amount = {
  ranks: [4, 9],
  size: 36,
  steps: 20,
  checkpointEvery: "1s",
  fewerFor: 9,
  fewer: [9, 5, 3, 1],
};
const quick: Amount = { ranks: [4], size: 12, steps: 10, checkpointEvery: "1s", fewerFor: 4, fewer: [2] };

const whole = "bt_s";
const alone = "computing_s";
const talk = "communicating_s";
const fewer = "fewer_memories_s";
/** Ranks that one checkpoint server has, as in the paper. */
const ranksOfServer = 4;
const inCoreFolder = "/dev/shm";
const contenders = [plainNone, memoriesInCore, memoriesEach, memoriesWhole];

export const memoryBreakdown: Benchmark = {
  name: "channel-memory-breakdown",
  summary: "Figure 13: where the time of bt goes, through channel memories, and what fewer of them cost",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(kernelPath("bt"), ["-O3"]);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: plainNone, message: built.why }] };
    const amount = lab.quick ? quick : full;
    const { series: times, troubles } = await lab.measure(startsOf(lab, built.program, amount));
    const series = [...times, ...communication(lab, times)];
    return { series, troubles, tables: tables(series, amount), panels: panels(series, amount) };
  },
};

/** One job of it. */
interface Job {
  readonly contender: Contender;
  readonly metric: string;
  readonly x: number;
  readonly ranks: number;
  readonly memories: number;
  readonly options?: readonly string[];
  readonly folder?: string;
}

function startsOf(lab: Lab, module: string, amount: Amount): MeasuredStart[] {
  const hasCore = existsSync(inCoreFolder);
  if (!hasCore) lab.remark(`memories in core are left out: there is no ${inCoreFolder}`);
  const jobs: Job[] = [{ contender: plainNone, metric: alone, x: 1, ranks: 1, memories: 0 }];
  for (const ranks of amount.ranks) {
    const all = { metric: whole, x: ranks, ranks };
    jobs.push({ ...all, contender: plainNone, memories: 0 });
    if (hasCore) jobs.push({ ...all, contender: memoriesInCore, memories: ranks, folder: inCoreFolder });
    jobs.push({ ...all, contender: memoriesEach, memories: ranks });
    const servers = `${Math.ceil(ranks / ranksOfServer)}`;
    const options = ["--checkpoint-every", amount.checkpointEvery, "--checkpoint-servers", servers];
    jobs.push({ ...all, contender: memoriesWhole, memories: ranks, options });
  }
  const { fewerFor: ranks } = amount;
  for (const memories of amount.fewer)
    jobs.push({ contender: memoriesEach, metric: fewer, x: memories, ranks, memories });
  return jobs.map((job) => start(module, job, amount));
}

function start(module: string, job: Job, { size, steps }: Amount): MeasuredStart {
  const { contender, metric, x, ranks, memories, options = [], folder } = job;
  const words = [
    ...["run", "-n", `${ranks}`, "--nodes", `${ranks}`, ...optionsOfMemories(memories), ...options],
    ...[module, `${size}`, `${steps}`],
  ];
  return {
    contender,
    variant: `${ranks} ranks, ${memories} memories`,
    command: banyanCommand(words, folder === undefined ? {} : { TMPDIR: folder }),
    timeLimitMs: 300_000,
    read: (run) => readKernel(metric, run)?.map((sample) => ({ ...sample, x })),
  };
}

function communication({ cores }: Lab, series: readonly Series[]): Series[] {
  const computing = medianAt(ofMetric(series, alone)[0], 1) ?? Number.NaN;
  return ofMetric(series, whole).map((one) =>
    mapSeries(one, talk, (seconds, ranks) => seconds - computing / Math.min(ranks, cores)),
  );
}

function tables(series: readonly Series[], { ranks, checkpointEvery, fewerFor, fewer: counts }: Amount): Table[] {
  const ratios = contenders.slice(1).map((contender) => [contender, plainNone] as const);
  const rows = (metric: string) => ranks.map((count) => ({ text: `${count} nodes`, metric, x: count }));
  return [
    {
      caption: `bt, a rank on each node, as many memories, checkpoints every ${checkpointEvery}: seconds, less is better (MPICH-V, Fig. 13: close to P4 but for checkpoints)`,
      text: metricTable(series, rows(whole), { heading: "bt on", contenders, ratios }),
    },
    {
      caption:
        "The same, without what one rank alone computes, divided by processors: seconds of communication, less is better",
      text: metricTable(series, rows(talk), { heading: "bt on", contenders, ratios: [] }),
    },
    {
      caption: `bt on ${fewerFor} nodes with fewer memories: seconds, less is better (MPICH-V, §4.4.3, 49 nodes: 6 % more with half as many, 20 % with a quarter)`,
      text: metricTable(
        series,
        counts.map((count) => ({ text: `${count}`, metric: fewer, x: count })),
        { heading: "memories", contenders: [memoriesEach], ratios: [] },
      ),
    },
  ];
}

function panels(series: readonly Series[], { fewerFor }: Amount): Panel[] {
  const panel = (metric: string, title: string, xLabel: string): Panel => ({
    title,
    xLabel,
    xText: String,
    yLabel: "seconds",
    lines: plotLines(ofMetric(series, metric)),
  });
  return [
    panel(whole, "Figure 13: bt with as many memories as nodes", "nodes"),
    panel(talk, "Figure 13: of which communication", "nodes"),
    panel(fewer, `bt on ${fewerFor} nodes with fewer memories`, "memories"),
  ];
}
