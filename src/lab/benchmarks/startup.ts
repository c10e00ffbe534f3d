/**
 * From the start of the process (`node bin/banyan.js`, `mpirun`) until 16 ranks have passed their first barrier: the last rank
 * prints the time, on the clock that the bench reads before the start.
 */
import type { Benchmark } from "../benchmark.ts";
import { banyan } from "../contenders/contenders.ts";
import type { ChildRun } from "../measuring/child.ts";
import { parseSamples, type Sample } from "../measuring/samples.ts";
import { comparisonTable } from "../tables/comparison-table.ts";

const ranks = 16;
const timeLimitMs = 60_000;

export const startup: Benchmark = {
  name: "startup",
  summary: "start of the process until 16 ranks have passed a barrier",
  async measure(lab) {
    const options = { timeLimitMs, read: readStartup };
    const job = { program: "startup", ranks };
    const { series, troubles } = await lab.measure([
      lab.own({ ...job, contender: banyan, args: [] }, options),
      ...lab.ofPeers({ ...job, args: () => [] }, options),
    ]);
    return {
      series,
      troubles,
      tables: [
        {
          caption: `Start of ${ranks} ranks to the first barrier passed, on ${lab.cores} cores: ms, less is better`,
          text: comparisonTable(series, { heading: "ranks", xText: String, better: "less" }),
        },
      ],
      panels: [],
    };
  },
};

/** Undefined when a rank is missing. */
export function readStartup({ stdout, startMs }: Pick<ChildRun, "stdout" | "startMs">): Sample[] | undefined {
  const passed = parseSamples(stdout).filter(({ metric }) => metric === "passed_ms");
  if (passed.length !== ranks) return undefined;
  const last = Math.max(...passed.flatMap(({ figures }) => figures));
  return [{ metric: "startup_ms", x: ranks, figures: [last - startMs] }];
}
