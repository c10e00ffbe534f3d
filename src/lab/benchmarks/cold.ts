/**
 * The first calls of a program: 8-byte ping-pongs and allreduces of 2 and 8 ranks, from C and from TypeScript, in windows of 1, 9, 90,
 * 900 … calls without any warm-up. All other benchmarks measure programs that have been running for a while; a user's has not.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { banyanC, banyanTypeScript, plotLines } from "../contenders/contenders.ts";
import { sourcePath } from "../installation.ts";
import type { Lab } from "../lab.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { ofMetric, type Series } from "../measuring/series.ts";
import { comparisonTable } from "../tables/comparison-table.ts";
import { thousandsText } from "../tables/units.ts";

const flags = ["-O3"];
const windows = 6;
/** With more ranks than cores a call takes up to a hundred times as long. */
const windowsCrowded = 5;
const windowsQuick = 3;

interface Kind {
  readonly kind: "ping-pong" | "allreduce";
  readonly ranks: number;
  readonly metric: string;
  readonly what: string;
}

const kinds: readonly Kind[] = [2, 8].flatMap((ranks) => [
  { kind: "ping-pong", ranks, metric: `ping_pong_${ranks}_us`, what: `half a ping-pong of ${ranks} ranks` },
  { kind: "allreduce", ranks, metric: `allreduce_${ranks}_us`, what: `an allreduce of ${ranks} ranks` },
]);

export const cold: Benchmark = {
  name: "cold",
  summary: "the first 1, 9, 90, 900 … calls of a program: 8-byte ping-pong and allreduce, C and TypeScript",
  async measure(lab) {
    const built = await lab.compile(sourcePath("cold"), flags);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: banyanC, message: built.why }] };
    const chosen = kinds.filter(({ ranks }) => !lab.quick || ranks === 2);
    const { series, troubles } = await lab.measure(chosen.flatMap((kind) => startsOf(lab, kind, built.program)));
    return {
      series,
      troubles,
      tables: chosen.map((kind) => table(lab, kind, series)),
      panels: chosen.map(({ metric, what }) => ({
        title: `The first calls: ${what}`,
        xLabel: "up to call",
        xText: thousandsText,
        yLabel: "mean of the window, µs",
        lines: plotLines(ofMetric(series, metric)),
      })),
    };
  },
};

function startsOf(lab: Lab, { kind, ranks }: Kind, module: string): MeasuredStart[] {
  const count = lab.quick ? windowsQuick : ranks > lab.cores ? windowsCrowded : windows;
  const args = [kind, String(count)];
  const options = { timeLimitMs: 120_000, variant: `${kind} of ${ranks} ranks` };
  return [
    lab.ownModule({ contender: banyanC, module, args, ranks }, options),
    lab.own({ contender: banyanTypeScript, program: "cold", args, ranks }, options),
    // MPICH spins: with more ranks than cores one of its rounds takes milliseconds.
    ...lab.ofPeers(
      {
        program: "cold",
        flags,
        ranks,
        args: (peer) => (peer.kind.id === "mpich" && ranks > lab.cores ? undefined : args),
      },
      options,
    ),
  ];
}

function table(lab: Lab, { metric, what }: Kind, series: readonly Series[]): Table {
  return {
    caption: `The first calls on ${lab.cores} cores: ${what}, mean of the calls after the row before in µs, less is better`,
    text: comparisonTable(ofMetric(series, metric), { heading: "up to call", xText: thousandsText, better: "less" }),
  };
}
