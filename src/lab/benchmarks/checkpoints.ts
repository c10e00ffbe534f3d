/**
 * What checkpoints cost a program in C that goes on, one every second or every ten, within its run (probes/checkpoint-probe.ts). A rank for each
 * processor (two), so that everything that a checkpoint does takes time from the program.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { programPath } from "../installation.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { type Contender, medianAt, type Series } from "../measuring/series.ts";
import { probeCommand } from "../probes/probe.ts";
import { textTable } from "../tables/text-table.ts";
import { figureText } from "../tables/units.ts";

/** Under message logging. */
const taken: Contender = { id: "checkpoints", label: "checkpoints", isOurs: true };

interface Row {
  readonly text: string;
  /** Begins its metrics. */
  readonly word: string;
  readonly mib: number;
  /** How much of the memory changes between two checkpoints. */
  readonly percent: number;
  readonly everyMs: number;
  /** How many are looked at. */
  readonly count: number;
}

const rows: readonly Row[] = [
  { text: "every second, all changing", word: "all", mib: 8, percent: 100, everyMs: 1000, count: 16 },
  { text: "every second, 5 % changing", word: "few", mib: 8, percent: 5, everyMs: 1000, count: 16 },
  { text: "every 10 s, all changing", word: "large", mib: 64, percent: 100, everyMs: 10_000, count: 4 },
];
const quickRows: readonly Row[] = rows.map((row) => ({ ...row, everyMs: 400, count: 2 }));

const ranks = 2;
const passes = 100;
const timeLimitMs = 300_000;

export const checkpoints: Benchmark = {
  name: "checkpoints",
  summary: "what checkpoints cost a program in C that goes on, 8 and 64 MB in each rank",
  async measure(lab) {
    const built = await lab.compile(programPath("steps", "c"), ["-O3"]);
    if (built.kind === "unusable") {
      return { series: [], tables: [], panels: [], troubles: [{ contender: taken, message: built.why }] };
    }
    const measured = lab.quick ? quickRows : rows;
    const { series, troubles } = await lab.measure(measured.map((row) => startOf(built.program, row)));
    return { series, troubles, tables: [table(series, measured)], panels: [] };
  },
};

function startOf(module: string, { text, word, mib, percent, everyMs, count }: Row): MeasuredStart {
  const command = probeCommand({
    of: "checkpoints",
    module,
    ranks,
    mib,
    passes,
    percent,
    everyMs,
    checkpoints: count,
    word,
  });
  return { contender: taken, variant: text, command, timeLimitMs };
}

function table(series: readonly Series[], measured: readonly Row[]): Table {
  const figure = (metric: string, x: number): number =>
    medianAt(
      series.find((one) => one.metric === metric),
      x,
    ) ?? Number.NaN;
  const right = (heading: string) => ({ heading, align: "right" }) as const;
  const columns = [{ heading: "what", align: "left" } as const, right("beside"), right("checkpoints"), right("more")];
  return {
    caption: `Checkpoints of ${ranks} ranks on one node: µs for a step beside one, and with its part of one, less is better`,
    text: textTable(
      columns,
      measured.map(({ text, word, mib }) => {
        const [quiet, whole] = [figure(`${word}_quiet_us`, mib), figure(`${word}_us`, mib)];
        const more = `${((whole / quiet - 1) * 100).toFixed(1)} %`;
        return [`${text}, ${mib} MiB`, figureText(quiet), figureText(whole), more];
      }),
    ),
  };
}
