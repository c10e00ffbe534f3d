/**
 * The folder of results: `<benchmark>.jsonl` grows by one line for each contender and metric, `<benchmark>.svg` is drawn anew.
 * Each line is complete by itself: figures, machine, versions, date.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./benchmark.ts";
import { makeResultFolder } from "./folder.ts";
import { hardwareText, type MachineDescription, softwareText } from "./measuring/machine.ts";
import type { Series } from "./measuring/series.ts";
import { plotSvg } from "./plots/plot.ts";

interface Circumstances {
  /** ISO 8601, when the session began. */
  readonly date: string;
  readonly machine: MachineDescription;
  readonly quick: boolean;
}

export class Results {
  readonly #folder: string;
  readonly #circumstances: Circumstances;

  /** Throws the system's error when the folder cannot be made. */
  constructor(folder: string, circumstances: Circumstances) {
    this.#folder = folder;
    this.#circumstances = circumstances;
    makeResultFolder(folder);
  }

  /** The files that were written. */
  write(benchmark: string, { series, panels }: Finding): string[] {
    const lines = join(this.#folder, `${benchmark}.jsonl`);
    appendFileSync(lines, series.map((one) => `${resultLine(benchmark, one, this.#circumstances)}\n`).join(""));
    if (panels.length === 0) return [lines];
    const plot = join(this.#folder, `${benchmark}.svg`);
    writeFileSync(plot, plotSvg({ panels, footnotes: footnotes(this.#circumstances) }));
    return [lines, plot];
  }
}

/** `runs` are the raw figures: a list of batches for each run. */
function resultLine(benchmark: string, { contender, metric, points }: Series, around: Circumstances): string {
  const { date, machine, quick } = around;
  return JSON.stringify({
    benchmark,
    date,
    contender: contender.id,
    metric,
    quick,
    points: points.map(({ x, median, runs }) => ({ x, median, runs })),
    machine,
  });
}

function footnotes({ machine, date, quick }: Circumstances): string[] {
  const warning = quick ? ["A quick run: figures mean little."] : [];
  return [`${hardwareText(machine)}, ${date.slice(0, 10)}`, softwareText(machine), ...warning];
}
