/** Whole programs in C (examples/kernels) on two ranks of one node, under ulfm and under none: what the protocol costs without a death. */
import type { Benchmark } from "../benchmark.ts";
import { banyanNone, banyanUlfm } from "../contenders/contenders.ts";
import { kernelPath } from "../installation.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import { metricTable } from "../tables/metric-table.ts";
import { means, readKernel } from "./kernels.ts";

const ranks = 2;
const classed = ["cg", "is", "mg"];
const contenders = [banyanNone, banyanUlfm];

export const ulfmKernels: Benchmark = {
  name: "ulfm-kernels",
  summary: "programs in C under protocol ulfm, against none",
  async measure(lab) {
    const chosen = lab.quick ? ["is"] : classed;
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const name of chosen) {
      const built = await lab.compile(kernelPath(name), ["-O3"]);
      if (built.kind === "unusable") {
        troubles.push({ contender: banyanUlfm, message: built.why });
        continue;
      }
      for (const contender of contenders) {
        const options = contender === banyanUlfm ? ["--protocol", "ulfm"] : [];
        const args = [lab.quick ? "S" : lab.sizes.kernelClass];
        const reading = { timeLimitMs: 180_000, variant: name, read: readKernel.bind(null, `${name}_s`) };
        starts.push(lab.ownModule({ contender, module: built.program, args, ranks, options }, reading));
      }
    }
    const { series, troubles: more } = await lab.measure(starts);
    const whole = [
      ...series,
      ...means(
        series,
        chosen.map((name) => `${name}_s`),
      ),
    ];
    const rows = [...chosen, "kernels"].map((name) => ({ text: name, metric: `${name}_s`, x: ranks }));
    const options = { heading: "kernel", contenders, ratios: [[banyanUlfm, banyanNone]] } as const;
    const caption = "Kernels on 2 ranks, the last one their geometric mean: seconds, less is better";
    const tables = [{ caption, text: metricTable(whole, rows, options) }];
    return { series: whole, troubles: [...troubles, ...more], tables, panels: [] };
  },
};
