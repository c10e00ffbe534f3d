/**
 * Whole programs in C (examples/kernels) on two ranks: compiled by `banyan cc -O3`, by the same without Asyncify, and by gcc
 * -O3 for Open MPI. The figure is the time that a program prints for its own timed section, without start and set-up, and only
 * if the program verified its result.
 *
 * Programs are compared by the geometric mean of their times: the ratio of two such means is the mean of the ratios, so no
 * program counts more because it runs longer.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { banyan, banyanNoCapture } from "../contenders/contenders.ts";
import { type PeerRuntime, peerKinds } from "../contenders/peer.ts";
import { kernelPath } from "../installation.ts";
import type { Lab } from "../lab.ts";
import type { ChildRun } from "../measuring/child.ts";
import { geometricMean } from "../measuring/geometric-mean.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import type { Sample } from "../measuring/samples.ts";
import { type Contender, medianAt, type Series } from "../measuring/series.ts";
import { metricTable } from "../tables/metric-table.ts";

interface Kernel {
  readonly name: string;
  readonly args: readonly string[];
  /**
   * Seconds of the timed section. The name includes the class: figures of different classes must not be mistaken for each
   * other.
   */
  readonly metric: string;
}

const ranks = 2;
const flags = ["-O3"];
/** Kernels of the NAS Parallel Benchmarks, each with a class. */
const classed = ["cg", "ep", "ft", "is", "mg"];
/** Kernels with sizes of their own, run at their default size. */
const others = ["bt", "sp", "hpccg"];
const quick: readonly Kernel[] = [
  { name: "is", args: ["S"], metric: "is_class_s_s" },
  { name: "hpccg", args: ["32", "32", "32", "20"], metric: "hpccg_s" },
];
const openMpi = peerKinds.find(({ id }) => id === "openmpi")!;
const meanMetric = "kernels_s";

export const kernels: Benchmark = {
  name: "kernels",
  summary: "programs in C on 2 ranks, against gcc -O3 and Open MPI; what Asyncify costs",
  async measure(lab) {
    const chosen = lab.quick ? quick : kernelsOf(lab);
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const kernel of chosen) {
      const made = await startsOf(lab, kernel);
      starts.push(...made.starts);
      troubles.push(...made.troubles);
    }
    const { series, troubles: more } = await lab.measure(starts);
    const metrics = chosen.map(({ metric }) => metric);
    const whole = [...series, ...means(series, metrics)];
    return { series: whole, troubles: [...troubles, ...more], tables: [table(lab, whole, chosen)], panels: [] };
  },
};

function kernelsOf({ sizes }: Lab): Kernel[] {
  return [
    ...classed.map((name) => ({
      name,
      args: [sizes.kernelClass],
      metric: `${name}_class_${sizes.kernelClass.toLowerCase()}_s`,
    })),
    ...others.map((name) => ({ name, args: [], metric: `${name}_s` })),
  ];
}

async function startsOf(
  lab: Lab,
  { name, args, metric }: Kernel,
): Promise<{ starts: MeasuredStart[]; troubles: RunTrouble[] }> {
  const source = kernelPath(name);
  const options = {
    timeLimitMs: lab.quick ? 20_000 : 180_000,
    variant: name,
    read: (run: ChildRun) => readKernel(metric, run),
  };
  const starts: MeasuredStart[] = [];
  const troubles: RunTrouble[] = [];
  const ways: readonly (readonly [Contender, readonly string[]])[] = [
    [banyan, flags],
    [banyanNoCapture, [...flags, "--no-capture"]],
  ];
  for (const [contender, words] of ways) {
    const built = await lab.compile(source, words);
    if (built.kind === "unusable") troubles.push({ contender, message: built.why });
    else starts.push(lab.ownModule({ contender, module: built.program, args, ranks }, options));
  }
  const argsOf = ({ kind }: PeerRuntime): readonly string[] | undefined => (kind.id === openMpi.id ? args : undefined);
  return {
    starts: [...starts, ...lab.ofPeers({ program: name, source, flags, ranks, args: argsOf }, options)],
    troubles,
  };
}

/** Undefined: the result is wrong or missing. */
export function readKernel(metric: string, { stdout }: Pick<ChildRun, "stdout">): Sample[] | undefined {
  const seconds = Number(/^(?:Seconds:|\s+time)\s+([\d.]+)/m.exec(stdout)?.[1]);
  if (!/Verification: SUCCESSFUL/.test(stdout) || !(seconds > 0)) return undefined;
  return [{ metric, x: ranks, figures: [seconds] }];
}

/** The mean of each contender, over the kernels that all of them ran: otherwise the means would not be comparable. */
export function means(series: readonly Series[], metrics: readonly string[]): Series[] {
  const contenders = [...new Map(series.map(({ contender }) => [contender.id, contender])).values()];
  const figure = ({ id }: Contender, metric: string): number | undefined =>
    medianAt(
      series.find((one) => one.contender.id === id && one.metric === metric),
      ranks,
    );
  const common = metrics.filter((metric) => contenders.every((contender) => figure(contender, metric) !== undefined));
  if (common.length === 0) return [];
  return contenders.map((contender) => {
    const mean = geometricMean(common.map((metric) => figure(contender, metric)!));
    return { contender, metric: meanMetric, points: [{ x: ranks, runs: [[mean]], median: mean }] };
  });
}

function table(lab: Lab, series: readonly Series[], chosen: readonly Kernel[]): Table {
  const size = lab.quick ? "tiny problems" : `class ${lab.sizes.kernelClass} of NPB; bt, sp and hpccg as they are`;
  return {
    caption: `Kernels in C on ${ranks} ranks, ${size}: seconds of the timed section, less is better`,
    text: metricTable(
      series,
      [
        ...chosen.map(({ name, metric }) => ({ text: name, metric, x: ranks })),
        { text: "geometric mean", metric: meanMetric, x: ranks },
      ],
      {
        heading: "kernel",
        contenders: [banyan, banyanNoCapture, openMpi],
        ratios: [
          [banyan, openMpi],
          [banyan, banyanNoCapture],
        ],
      },
    ),
  };
}
