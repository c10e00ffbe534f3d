/** How the cost of an agreement and of a revocation grows with the processes: in the simulator, where there may be thousands. */
import { type Growth, growthOf } from "../../sim/ulfm/growth.ts";
import type { Benchmark, Finding } from "../benchmark.ts";
import type { Contender, Series } from "../measuring/series.ts";
import type { Panel } from "../plots/plot.ts";
import { metricTable } from "../tables/metric-table.ts";

const sizes = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];
const quickMax = 256;

const matters = [
  { what: "agree", contender: { id: "agree", label: "agree", isOurs: true } },
  { what: "revoke", contender: { id: "revoke", label: "revoke", isOurs: true } },
] as const;
const metrics = [
  {
    metric: "packets_max",
    title: "Packets",
    yLabel: "of the process that sends most",
    of: ({ packetsMax }: Cost) => packetsMax,
  },
  { metric: "time_us", title: "Time", yLabel: "virtual µs", of: ({ timeNs }: Cost) => timeNs / 1000 },
] as const;

type Cost = Growth["agree"];

export const ulfmGrowth: Benchmark = {
  name: "ulfm-growth",
  summary: "agree and revoke among 16 to 16 384 simulated processes",
  measure(lab): Promise<Finding> {
    const measured = sizes.filter((size) => !lab.quick || size <= quickMax).map(growthOf);
    const series = metrics.flatMap((metric) => matters.map((matter) => seriesOf(measured, metric, matter)));
    return Promise.resolve({ series, troubles: [], tables: metrics.map(tableOf), panels: metrics.map(panelOf) });

    function tableOf({ metric, title, yLabel }: (typeof metrics)[number]) {
      const rows = measured.map(({ ranks }) => ({ text: `${ranks} processes`, metric, x: ranks }));
      const contenders: Contender[] = matters.map(({ contender }) => contender);
      return {
        caption: `${title}, ${yLabel}: less is better`,
        text: metricTable(series, rows, { heading: "", contenders, ratios: [] }),
      };
    }

    function panelOf({ metric, title, yLabel }: (typeof metrics)[number]): Panel {
      const lines = matters.map(({ contender }, style) => {
        const its = series.find((one) => one.metric === metric && one.contender.id === contender.id);
        return {
          label: contender.label,
          style: 2 * style,
          points: its?.points.map(({ x, median }) => ({ x, y: median })) ?? [],
        };
      });
      return { title: `${title} of agree and revoke`, xLabel: "processes", xText: String, yLabel, lines };
    }
  },
};

function seriesOf(
  measured: readonly Growth[],
  { metric, of }: (typeof metrics)[number],
  { what, contender }: (typeof matters)[number],
): Series {
  const points = measured.map((growth) => {
    const figure = of(growth[what]);
    return { x: growth.ranks, runs: [[figure]], median: figure };
  });
  return { contender, metric, points };
}
