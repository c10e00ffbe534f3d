/**
 * The waiting times of a programmer in C: an object with the compile server running, the very first program with an empty cache
 * and no server, and the start of a program that has not changed since the last time, against the same program in TypeScript.
 * Whole commands are timed, from the start of the process to its end, with caches of the bench's own.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Table } from "../benchmark.ts";
import { banyan, banyanTypeScript } from "../contenders/contenders.ts";
import { peerKinds } from "../contenders/peer.ts";
import { programPath } from "../installation.ts";
import { banyanCommand, type Lab } from "../lab.ts";
import { type ChildRun, type Command, describeTrouble } from "../measuring/child.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import type { Sample } from "../measuring/samples.ts";
import { type Contender, medianAt, type Series } from "../measuring/series.ts";
import { metricTable } from "../tables/metric-table.ts";

const ranks = 2;
const timeLimitMs = 90_000;
/** A server ends after this long without work: no later command uses the bench's servers. */
const idleMs = "10000";
const rows = [
  { text: "cc -c, warm server", metric: "object_s", x: 1 },
  { text: "first module, nothing kept", metric: "first_module_s", x: 1 },
  { text: "second run", metric: "second_run_s", x: ranks },
];
const moreMetric = "second_run_more_s";

export const compile: Benchmark = {
  name: "compile",
  summary: "time to compile C, and to start a program that is compiled already",
  async measure(lab) {
    const troubles: RunTrouble[] = await warmUp(lab);
    if (troubles.length > 0) return { series: [], tables: [], panels: [], troubles };
    const { series, troubles: more } = await lab.measure([
      object(lab),
      ...lab.peers.map((peer) => ({
        contender: peer.kind,
        variant: "object",
        command: async (): Promise<Command> => ({
          file: peer.mpicc,
          args: ["-O2", "-c", newSource(lab), "-o", join(lab.scratch, "peer.o")],
        }),
        timeLimitMs,
        read: timed("object_s", 1),
      })),
      firstModule(lab),
      secondRun(lab, banyan, "c"),
      secondRun(lab, banyanTypeScript, "ts"),
    ]);
    const whole = [...series, ...difference(series)];
    return { series: whole, troubles: more, tables: [table(whole)], panels: [] };
  },
};

/** The second run of a program needs a first one. */
async function warmUp(lab: Lab): Promise<RunTrouble[]> {
  const troubles: RunTrouble[] = [];
  for (const [contender, ending] of [
    [banyan, "c"],
    [banyanTypeScript, "ts"],
  ] as const) {
    const trouble = describeTrouble(await lab.run(runCommand(lab, ending), timeLimitMs));
    if (trouble !== undefined) troubles.push({ contender, message: `${contender.label}, first run: ${trouble}` });
  }
  return troubles;
}

function object(lab: Lab): MeasuredStart {
  const words = (source: string): string[] => ["cc", "-O2", "-c", source, "-o", join(lab.scratch, "small.o")];
  const env = cacheAt(join(lab.scratch, "cache"));
  return {
    contender: banyan,
    variant: "object",
    // Two sources that were never compiled: the first finds or starts a server, the second is measured.
    command: async () => {
      await lab.run(banyanCommand(words(newSource(lab)), env), timeLimitMs);
      return banyanCommand(words(newSource(lab)), env);
    },
    timeLimitMs,
    read: timed("object_s", 1),
  };
}

function firstModule(lab: Lab): MeasuredStart {
  let number = 0;
  return {
    contender: banyan,
    variant: "first module",
    command: async () => {
      // A folder of its own each time: a server of the run before may still listen in the old one.
      const folder = (at: number): string => join(lab.scratch, `first-${at}`);
      rmSync(folder(number), { recursive: true, force: true });
      number++;
      const source = programPath("hello", "c");
      return banyanCommand(["cc", "-O2", source, "-o", join(lab.scratch, "first.wasm")], cacheAt(folder(number)));
    },
    timeLimitMs,
    read: timed("first_module_s", 1),
  };
}

function secondRun(lab: Lab, contender: Contender, ending: "c" | "ts"): MeasuredStart {
  const command = runCommand(lab, ending);
  return { contender, variant: "second run", command, timeLimitMs, read: timed("second_run_s", ranks) };
}

function runCommand(lab: Lab, ending: "c" | "ts"): Command {
  const words = ["run", "--quiet", "-n", String(ranks), programPath("hello", ending)];
  return banyanCommand(words, cacheAt(join(lab.scratch, "cache")));
}

function cacheAt(folder: string): Readonly<Record<string, string>> {
  return { BANYAN_CACHE: folder, BANYAN_CC_IDLE_MS: idleMs };
}

let sources = 0;

/** The small program with a line that makes it unique. */
function newSource(lab: Lab): string {
  const path = join(lab.scratch, "small.c");
  writeFileSync(path, `${readFileSync(programPath("hello", "c"), "utf8")}\nint source_${process.pid}_${sources++};\n`);
  return path;
}

function timed(metric: string, x: number): (run: ChildRun) => Sample[] | undefined {
  return ({ ending, ms }) =>
    ending.kind === "exit" && ending.code === 0 ? [{ metric, x, figures: [ms / 1000] }] : undefined;
}

/** How much longer a program in C takes than the one in TypeScript. */
function difference(series: readonly Series[]): Series[] {
  const [c, typeScript] = [banyan, banyanTypeScript].map(({ id }) =>
    medianAt(
      series.find(({ contender, metric }) => contender.id === id && metric === "second_run_s"),
      ranks,
    ),
  );
  if (c === undefined || typeScript === undefined) return [];
  const more = c - typeScript;
  return [{ contender: banyan, metric: moreMetric, points: [{ x: ranks, runs: [[more]], median: more }] }];
}

function table(series: readonly Series[]): Table {
  return {
    caption: "Compiling C, and starting what is compiled: seconds of the whole command, less is better",
    text: metricTable(series, rows, {
      heading: "what",
      contenders: [banyan, banyanTypeScript, ...peerKinds],
      ratios: [[banyan, banyanTypeScript], ...peerKinds.map((kind) => [banyan, kind] as const)],
    }),
  };
}
