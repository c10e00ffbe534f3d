/**
 * Measures in turn: one run of each start, then the next run of each. A disturbance of the machine disturbs all of them, so
 * that their ratios stand.
 */
import { type ChildRun, type Command, describeTrouble, runChild } from "./child.ts";
import { parseSamples, type Sample } from "./samples.ts";
import { type Contender, type Series, SeriesCollector } from "./series.ts";

/** One program to start, again and again. */
export interface MeasuredStart {
  readonly contender: Contender;
  /** Distinguishes this start of the contender from its others in messages: "8 ranks". May be empty. */
  readonly variant: string;
  /** A function is called before each run, and its time does not count: it prepares the program's input. */
  readonly command: Command | (() => Promise<Command>);
  readonly timeLimitMs: number;
  /** From the output to samples; the printed samples themselves if absent. Undefined: the run does not count. */
  readonly read?: (run: ChildRun) => readonly Sample[] | undefined;
}

export interface RunTrouble {
  readonly contender: Contender;
  /** A sentence for people. */
  readonly message: string;
}

export interface Measurement {
  readonly series: readonly Series[];
  readonly troubles: readonly RunTrouble[];
}

interface MeasureOptions {
  readonly runs: number;
  readonly interrupt: AbortSignal;
  /** Called before each run with a description of it. */
  readonly progress: (text: string) => void;
  /** Starts a program; tests replace it. */
  readonly run?: typeof runChild;
}

/** A start that fails is not tried again; its earlier measurements count. */
export async function measure(starts: readonly MeasuredStart[], options: MeasureOptions): Promise<Measurement> {
  const { runs, interrupt, progress, run = runChild } = options;
  const collector = new SeriesCollector();
  const troubles: RunTrouble[] = [];
  const failed = new Set<MeasuredStart>();
  for (let number = 1; number <= runs; number++) {
    for (const start of starts) {
      if (failed.has(start) || interrupt.aborted) continue;
      const name = nameOf(start);
      progress(`run ${number} of ${runs}: ${name}`);
      const command = typeof start.command === "function" ? await start.command() : start.command;
      const outcome = await run(command, { timeLimitMs: start.timeLimitMs, interrupt });
      const samples = start.read === undefined ? parseSamples(outcome.stdout) : start.read(outcome);
      for (const sample of samples ?? []) collector.add(start.contender, sample);
      const trouble = describeTrouble(outcome) ?? ((samples?.length ?? 0) === 0 ? "printed no figures" : undefined);
      if (trouble === undefined) continue;
      failed.add(start);
      troubles.push({ contender: start.contender, message: `${name}: ${trouble}` });
    }
  }
  return { series: collector.series(), troubles };
}

function nameOf({ contender, variant }: MeasuredStart): string {
  return variant === "" ? contender.label : `${contender.label}, ${variant}`;
}
