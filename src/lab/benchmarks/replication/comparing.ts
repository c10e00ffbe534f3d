/**
 * What it costs to compare messages (D1): programs in C with two and three replicas, without and with `--compare hash`. Where processes are more than cores,
 * seconds tell little and processor time tells more: both are measured, of the whole job.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { comparedThrice, comparedTwice, replicasParallel, replicasThrice } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { ChildRun, Command } from "../../measuring/child.ts";
import type { MeasuredStart, RunTrouble } from "../../measuring/measure.ts";
import type { Sample } from "../../measuring/samples.ts";
import type { Contender, Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";

interface Kernel {
  readonly name: string;
  readonly args: readonly string[];
}

const ranks = 2;
const quick: readonly Kernel[] = [{ name: "hpccg", args: ["8", "8", "8", "5"] }];
const kernelsOf = ({ sizes }: Lab): Kernel[] => [
  ...["cg", "ft", "is", "mg"].map((name) => ({ name, args: [sizes.kernelClass] })),
  { name: "hpccg", args: [] },
];

interface Mode {
  readonly contender: Contender;
  readonly replicas: number;
  readonly options: readonly string[];
}

const compare = ["--compare", "hash"];
const modes: readonly Mode[] = [
  { contender: replicasParallel, replicas: 2, options: [] },
  { contender: comparedTwice, replicas: 2, options: compare },
  { contender: replicasThrice, replicas: 3, options: [] },
  { contender: comparedThrice, replicas: 3, options: compare },
];
const ratios = [
  [comparedTwice, replicasParallel],
  [comparedThrice, replicasThrice],
] as const;

const units = [
  { word: "s", text: "seconds of the timed section" },
  { word: "cpu_s", text: "seconds of processor time, user, of the whole job" },
] as const;
const metricOf = (name: string, unit: string): string => `${name}_${unit}`;

export const replicationComparing: Benchmark = {
  name: "replication-comparing",
  summary: "what it costs to compare all messages of two and three replicas",
  async measure(lab) {
    const chosen = lab.quick ? quick : kernelsOf(lab);
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const kernel of chosen) {
      const built = await lab.compile(kernelPath(kernel.name), ["-O3"]);
      if (built.kind === "ready") starts.push(...modes.map((mode) => start(built.program, kernel, mode)));
      else troubles.push({ contender: replicasParallel, message: built.why });
    }
    const { series, troubles: more } = await lab.measure(starts);
    const names = chosen.map(({ name }) => name);
    const tables = units.map((unit) => table(lab, series, names, unit));
    return { series, troubles: [...troubles, ...more], tables, panels: [] };
  },
};

function start(module: string, { name, args }: Kernel, { contender, replicas, options }: Mode): MeasuredStart {
  const protocol = ["--nodes", `${replicas}`, "--protocol", "replication", "--replicas", `${replicas}`];
  const command = banyanCommand(["run", "--quiet", "-n", String(ranks), ...protocol, ...options, module, ...args]);
  return {
    contender,
    variant: name,
    command: timed(command),
    timeLimitMs: 300_000,
    read: (run) => read(name, run),
  };
}

/** The shell tells the processor time of the job when that is over. */
const timed = ({ file, args }: Command): Command => ({
  file: "/bin/sh",
  args: ["-c", '"$@"; code=$?; times; exit $code', "sh", file, ...args],
});

function read(name: string, run: Pick<ChildRun, "stdout">): Sample[] | undefined {
  const seconds = readKernel(metricOf(name, "s"), run);
  const used = [...run.stdout.matchAll(/^(\d+)m([\d.]+)s \d+m[\d.]+s$/gm)].at(-1);
  if (seconds === undefined || used === undefined) return undefined;
  return [...seconds, { metric: metricOf(name, "cpu_s"), x: ranks, figures: [60 * Number(used[1]) + Number(used[2])] }];
}

function table(
  lab: Lab,
  series: readonly Series[],
  names: readonly string[],
  { word, text }: (typeof units)[number],
): Table {
  const rows = names.map((name) => ({ text: name, metric: metricOf(name, word), x: ranks }));
  const size = lab.quick ? "tiny problems" : `class ${lab.sizes.kernelClass} of NPB; hpccg as it is`;
  const caption = `Messages compared, ${ranks} ranks, a node for each world; ${size}: ${text}, less is better (RedMPI: 0 to 30 %)`;
  return {
    caption,
    text: metricTable(series, rows, {
      heading: "kernel",
      contenders: modes.map(({ contender }) => contender),
      ratios,
    }),
  };
}
