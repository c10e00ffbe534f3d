/**
 * The cost of checkpoints for a program that goes on: the same steps without any and with one every 10 s, 64 MB in each rank.
 * And Fig. 9 of MPICH-V: the round trip of a checkpoint and a restart, for 1 to 7 ranks at once, with images that the node
 * writes and reads itself, and with images on a checkpoint server. All on this machine and its one disk.
 */
import type { Benchmark, Table } from "../../benchmark.ts";
import { loggingSets, plotLines } from "../../contenders/contenders.ts";
import { programPath } from "../../installation.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import { parseSamples } from "../../measuring/samples.ts";
import { type Contender, mapSeries, ofMetric, type Series } from "../../measuring/series.ts";
import { metricTable } from "../../tables/metric-table.ts";
import { probeStart } from "./probe.ts";

/** Both under message logging. */
const without: Contender = { id: "no-checkpoints", label: "none", isOurs: true };
const every: Contender = { id: "checkpoints", label: "every 10 s", isOurs: true };
/** Where images are kept. */
const local: Contender = { id: "local", label: "local", isOurs: true };
const served: Contender = { id: "served", label: "server", isOurs: true };

interface Amount {
  readonly mib: number;
  /** How long the program runs, and how often it is captured. */
  readonly seconds: number;
  readonly every: string;
  readonly passes: number;
  readonly atOnce: readonly number[];
}
const full: Amount = { mib: 64, seconds: 40, every: "10s", passes: 100, atOnce: [1, 2, 3, 4, 5, 6, 7] };
const quick: Amount = { mib: 1, seconds: 1, every: "250ms", passes: 1, atOnce: [1, 2] };
const calibrationSteps = 2_000;
const ranks = 4;
const nodes = 2;
const stepMetric = "step_us";
const trips = [
  { metric: "checkpoint_s", text: "checkpoint" },
  { metric: "restart_s", text: "restart" },
  { metric: "round_trip_s", text: "round trip" },
];
const paper = "MPICH-V: 16 checkpoints cost 6 %; Fig. 9 grows with those that are at it at once";

export const loggingCheckpoints: Benchmark = {
  name: "logging-checkpoints",
  summary: "what checkpoints every 10 s cost; a checkpoint and a restart of 1 to 7 ranks at once",
  async measure(lab) {
    const amount = lab.quick ? quick : full;
    const built = await lab.compile(programPath("steps", "c"), ["-O3"]);
    const steps = built.kind === "ready" ? await stepsFor(lab, built.program, amount) : undefined;
    if (built.kind === "unusable" || steps === undefined) {
      const message = built.kind === "unusable" ? built.why : "steps.c could not be timed";
      return { series: [], tables: [], panels: [], troubles: [{ contender: loggingSets, message }] };
    }
    const { series: measured, troubles } = await lab.measure([
      run(built.program, without, steps, amount, []),
      run(built.program, every, steps, amount, ["--checkpoint-every", amount.every]),
      ...amount.atOnce.flatMap((count) => [
        roundTrip(built.program, local, count, amount),
        roundTrip(built.program, served, count, amount),
      ]),
    ]);
    // Per step: the number of steps depends on the machine.
    const perStep = ofMetric(measured, "steps_s").map((one) => {
      const { points, ...rest } = mapSeries(one, stepMetric, (seconds, count) => (seconds / count) * 1e6);
      return { ...rest, points: points.map((point) => ({ ...point, x: amount.mib })) };
    });
    const series = [...measured, ...perStep];
    return { series, troubles, tables: tables(series, amount), panels: [panel(series, amount)] };
  },
};

const wordsOf = ({ mib, passes }: Amount, steps: number): string[] => [mib, steps, passes, 0].map(String);
const logging = ["--nodes", String(nodes), "--protocol", "logging"];

/** How many steps take as long as the program is to run. */
async function stepsFor(lab: Lab, module: string, amount: Amount): Promise<number | undefined> {
  const words = ["-n", String(ranks), ...logging, module, ...wordsOf(amount, calibrationSteps)];
  const { stdout } = await lab.run(banyanCommand(["run", "--quiet", ...words]), 120_000);
  const seconds = parseSamples(stdout)[0]?.figures[0];
  return seconds === undefined ? undefined : Math.max(100, Math.round((amount.seconds / seconds) * calibrationSteps));
}

function run(
  module: string,
  contender: Contender,
  steps: number,
  amount: Amount,
  more: readonly string[],
): MeasuredStart {
  const words = ["-n", String(ranks), ...logging, ...more, module, ...wordsOf(amount, steps)];
  return { contender, variant: "steps", command: banyanCommand(["run", "--quiet", ...words]), timeLimitMs: 300_000 };
}

function roundTrip(module: string, contender: Contender, count: number, { mib }: Amount): MeasuredStart {
  const servers = contender === served ? 1 : 0;
  const probe = { kind: "round-trip", module, ranks: count, nodes: 1, mib, servers } as const;
  return probeStart(probe, { contender, variant: `${count} at once`, timeLimitMs: 120_000 });
}

function tables(series: readonly Series[], { mib, atOnce, every: interval }: Amount): Table[] {
  return [
    {
      caption: `Checkpoints every ${interval}, ${ranks} ranks on ${nodes} nodes, ${mib} MiB each: µs for a step, less is better`,
      text: metricTable(series, [{ text: "a step", metric: stepMetric, x: mib }], {
        heading: "what",
        contenders: [without, every],
        ratios: [[every, without]],
      }),
    },
    {
      caption: `A checkpoint and a restart, ${mib} MiB in each rank: seconds, less is better (${paper})`,
      text: metricTable(
        series,
        trips.flatMap(({ metric, text }) =>
          atOnce.map((count) => ({ text: `${text}, ${count} at once`, metric, x: count })),
        ),
        { heading: "what", contenders: [local, served], ratios: [[served, local]] },
      ),
    },
  ];
}

function panel(series: readonly Series[], { mib }: Amount) {
  const lines = plotLines(ofMetric(series, "round_trip_s")).map((line, i) => ({ ...line, style: i }));
  return {
    title: `Round trip of checkpoint and restart, ${mib} MiB in each rank`,
    xLabel: "ranks at once",
    xText: String,
    yLabel: "seconds",
    lines,
  };
}
