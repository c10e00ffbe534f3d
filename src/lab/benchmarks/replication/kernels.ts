/**
 * Tables 1 and 2: whole programs in C (examples/kernels) with two replicas of each rank. hpccg receives from any source. The figure is the time
 * that a program prints for its own timed section, if its result is right.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { plainNone, replicasMirror } from "../../contenders/contenders.ts";
import { kernelPath } from "../../installation.ts";
import type { Lab } from "../../lab.ts";
import type { MeasuredStart, RunTrouble } from "../../measuring/measure.ts";
import type { Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { readKernel } from "../kernels.ts";
import {
  contendersOf,
  crowdedText,
  modesOf,
  placements,
  replicationRatios,
  startReplicas,
  type WorldPlacement,
} from "./modes.ts";

interface Kernel {
  readonly name: string;
  readonly args: readonly string[];
  /** Receives from any source, which mirrored replicas refuse. */
  readonly takesAny?: true;
}

const ranks = 2;
const quick: readonly Kernel[] = [
  { name: "is", args: ["S"] },
  { name: "hpccg", args: ["8", "8", "8", "5"], takesAny: true },
];
const paper = "SDR-MPI, Tables 1 and 2: bt 1.49, cg 4.92, ft 3.04, mg 2.56, sp 2.41 %; HPCCG ~0 %";

export const replicationKernels: Benchmark = {
  name: "replication-kernels",
  summary: "Tables 1 and 2: programs in C with replicas, against none",
  async measure(lab) {
    const chosen = lab.quick ? quick : kernelsOf(lab);
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const kernel of chosen) {
      const built = await lab.compile(kernelPath(kernel.name), ["-O3"]);
      if (built.kind === "ready") starts.push(...startsOf(built.program, kernel));
      else troubles.push({ contender: plainNone, message: built.why });
    }
    const { series, troubles: more } = await lab.measure(starts);
    const names = chosen.map(({ name }) => name);
    const tables = placements.map((placement) => table(lab, series, names, placement));
    return { series, troubles: [...troubles, ...more], tables, panels: [] };
  },
};

const kernelsOf = ({ sizes }: Lab): Kernel[] => [
  ...["bt", "sp"].map((name) => ({ name, args: [] as string[] })),
  { name: "hpccg", args: [], takesAny: true },
  ...["cg", "ft", "mg"].map((name) => ({ name, args: [sizes.kernelClass] })),
];

const kernelMetric = (name: string, { word }: Pick<WorldPlacement, "word">): string => `${name}_${word}_s`;

function startsOf(module: string, { name, args, takesAny }: Kernel): MeasuredStart[] {
  return placements.flatMap((placement) => {
    const metric = kernelMetric(name, placement);
    const read = readKernel.bind(null, metric);
    const job = { module, args, ranks, variant: `${name}, ${placement.word}`, read };
    return modesOf(placement)
      .filter(({ contender }) => takesAny === undefined || contender !== replicasMirror)
      .map((mode) => startReplicas(job, placement, mode));
  });
}

function table(lab: Lab, series: readonly Series[], names: readonly string[], placement: WorldPlacement): Table {
  const size = lab.quick ? "tiny problems" : `class ${lab.sizes.kernelClass} of NPB; bt, sp and hpccg as they are`;
  const rows = names.map((name) => ({ text: name, metric: kernelMetric(name, placement), x: ranks }));
  const where = `${placement.text}${crowdedText(lab, ranks)}`;
  return {
    caption: `Kernels on ${ranks} ranks with replicas, ${where}; ${size}: seconds, less is better (${paper})`,
    text: metricTable(series, rows, {
      heading: "kernel",
      contenders: contendersOf(placement),
      ratios: replicationRatios,
    }),
  };
}
