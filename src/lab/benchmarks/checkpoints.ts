/**
 * What checkpoints cost a program in C that goes on: the same steps without any and with one every second, or every ten seconds. A
 * rank for each processor (two), so that everything that a checkpoint does takes time from the program.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { programPath } from "../installation.ts";
import { banyanCommand, type Lab } from "../lab.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import { parseSamples, type Sample } from "../measuring/samples.ts";
import { type Contender, medianAt, type Series } from "../measuring/series.ts";
import { textTable } from "../tables/text-table.ts";
import { figureText } from "../tables/units.ts";

/** Both under message logging. */
const without: Contender = { id: "no-checkpoints", label: "none", isOurs: true };
const taken: Contender = { id: "checkpoints", label: "checkpoints", isOurs: true };

interface Row {
  readonly text: string;
  readonly metric: string;
  readonly mib: number;
  /** How much of the memory changes between two checkpoints. */
  readonly percent: number;
  readonly every: string;
  /** How long the program runs. */
  readonly seconds: number;
}

const rows: readonly Row[] = [
  { text: "every second, all changing", metric: "all_us", mib: 8, percent: 100, every: "1s", seconds: 20 },
  { text: "every second, 5 % changing", metric: "few_us", mib: 8, percent: 5, every: "1s", seconds: 20 },
  { text: "every 10 s, all changing", metric: "large_us", mib: 64, percent: 100, every: "10s", seconds: 60 },
];
const quickRows: readonly Row[] = rows.map((row) => ({ ...row, every: "200ms", seconds: 0.5 }));

const ranks = 2;
const passes = 100;
const calibrationSteps = 500;
const timeLimitMs = 300_000;

export const checkpoints: Benchmark = {
  name: "checkpoints",
  summary: "what checkpoints cost a program in C that goes on, 8 and 64 MB in each rank",
  async measure(lab) {
    const built = await lab.compile(programPath("steps", "c"), ["-O3"]);
    if (built.kind === "unusable") {
      return { series: [], tables: [], panels: [], troubles: [{ contender: taken, message: built.why }] };
    }
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    const measured = lab.quick ? quickRows : rows;
    for (const row of measured) {
      const steps = await stepsFor(lab, built.program, row);
      if (steps === undefined) troubles.push({ contender: taken, message: `${row.text}: steps.c could not be timed` });
      else starts.push(run(built.program, without, steps, row), run(built.program, taken, steps, row));
    }
    const { series, troubles: more } = await lab.measure(starts);
    return { series, troubles: [...troubles, ...more], tables: [table(series, measured)], panels: [] };
  },
};

const commandOf = (module: string, steps: number, { mib, percent }: Row, options: readonly string[] = []) => {
  const logging = ["-n", String(ranks), "--protocol", "logging", ...options];
  return banyanCommand(["run", "--quiet", ...logging, module, ...[mib, steps, passes, 0, percent].map(String)]);
};

/** How many steps take as long as the program is to run. */
async function stepsFor(lab: Lab, module: string, row: Row): Promise<number | undefined> {
  const { stdout } = await lab.run(commandOf(module, calibrationSteps, row), 120_000);
  const seconds = parseSamples(stdout)[0]?.figures[0];
  return seconds === undefined ? undefined : Math.max(100, Math.round((row.seconds / seconds) * calibrationSteps));
}

function run(module: string, contender: Contender, steps: number, row: Row): MeasuredStart {
  const options = contender === taken ? ["--checkpoint-every", row.every] : [];
  return {
    contender,
    variant: row.text,
    command: commandOf(module, steps, row, options),
    timeLimitMs,
    read: ({ stdout }) => readSteps(stdout, row),
  };
}

/** Per step: the number of steps depends on the machine. */
function readSteps(stdout: string, { metric, mib }: Row): Sample[] | undefined {
  const sample = parseSamples(stdout).find((one) => one.metric === "steps_s");
  if (sample === undefined) return undefined;
  return [{ metric, x: mib, figures: sample.figures.map((seconds) => (seconds / sample.x) * 1e6) }];
}

function table(series: readonly Series[], measured: readonly Row[]): Table {
  const figure = ({ id }: Contender, { metric, mib }: Row): number =>
    medianAt(
      series.find((one) => one.contender.id === id && one.metric === metric),
      mib,
    ) ?? Number.NaN;
  const right = (heading: string) => ({ heading, align: "right" }) as const;
  const columns = [{ heading: "what", align: "left" } as const, right("none"), right("checkpoints"), right("more")];
  return {
    caption: `Checkpoints of ${ranks} ranks on one node: µs for a step, less is better`,
    text: textTable(
      columns,
      measured.map((row) => {
        const [before, after] = [figure(without, row), figure(taken, row)];
        const more = `${((after / before - 1) * 100).toFixed(1)} %`;
        return [`${row.text}, ${row.mib} MiB`, figureText(before), figureText(after), more];
      }),
    ),
  };
}
