/**
 * Images of a rank whose memory is full of incompressible bytes: the speed of writing and reading, against a plain write and a
 * plain read of as many bytes (image-probe.ts, a process of its own); and a whole job frozen and thawed, in the waiting time of
 * its user.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Table } from "../benchmark.ts";
import { banyan } from "../contenders/contenders.ts";
import { programPath } from "../installation.ts";
import { banyanCommand, type Lab } from "../lab.ts";
import type { ChildRun } from "../measuring/child.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import { parseSamples, type Sample } from "../measuring/samples.ts";
import { medianAt, type Series } from "../measuring/series.ts";
import { textTable } from "../tables/text-table.ts";
import { bytesText, figureText, ratioText } from "../tables/units.ts";

const mibQuick = 16;
const batches = 2;
const timeLimitMs = 180_000;
/** Memory of the job's rank: the job fills it first, and stops at the next MPI call. */
const freezeAt = "500ms";
const memoryMbMax = 2047;

/** `plain`: the figure to compare with. */
const rows: readonly { text: string; metric: string; plain?: string; seconds?: string }[] = [
  { text: "plain write + fsync", metric: "plain_write_gbs" },
  { text: "capture, the program stands still", metric: "capture_gbs", plain: "plain_write_gbs" },
  {
    text: "capture, the program runs",
    metric: "capture_running_gbs",
    plain: "plain_write_gbs",
    seconds: "stopped_s",
  },
  {
    text: "job frozen, to the end of the command",
    metric: "freeze_gbs",
    plain: "plain_write_gbs",
    seconds: "freeze_s",
  },
  { text: "plain read into fresh memory", metric: "plain_read_gbs" },
  { text: "restore", metric: "restore_gbs", plain: "plain_read_gbs" },
  { text: "job thawed, from the start of the command", metric: "thaw_gbs", plain: "plain_read_gbs", seconds: "thaw_s" },
];

export const images: Benchmark = {
  name: "images",
  summary: "capture of a 1 GiB image to disk, and restore, beside plain writing and reading",
  async measure(lab) {
    const mib = lab.quick ? mibQuick : lab.sizes.imageMiB;
    const job = await jobStarts(lab, mib);
    const { series, troubles } = await lab.measure([probe(lab, mib), ...job.starts]);
    return { series, troubles: [...job.troubles, ...troubles], tables: [table(series, mib)], panels: [] };
  },
};

function probe(lab: Lab, mib: number): MeasuredStart {
  const folder = join(lab.scratch, "images");
  mkdirSync(folder, { recursive: true });
  const words = ["bench", "--image-probe", folder, "--image-mib", String(mib), "--runs", String(batches)];
  return { contender: banyan, variant: "images", command: banyanCommand(words), timeLimitMs };
}

async function jobStarts(lab: Lab, mib: number): Promise<{ starts: MeasuredStart[]; troubles: RunTrouble[] }> {
  const built = await lab.compile(programPath("image", "c"), ["-O3"]);
  if (built.kind === "unusable") return { starts: [], troubles: [{ contender: banyan, message: built.why }] };
  const folder = join(lab.scratch, "job");
  const options = ["--quiet", "--memory", String(memoryMbMax), "--freeze-at", freezeAt, "--job-dir", folder];
  const freeze = banyanCommand(["run", ...options, built.program, String(mib)]);
  const common = { contender: banyan, timeLimitMs };
  return {
    starts: [
      {
        ...common,
        variant: "freeze",
        command: async () => {
          rmSync(folder, { recursive: true, force: true });
          return freeze;
        },
        read: (run) => readFreeze(run, imageBytes(folder)),
      },
      {
        ...common,
        variant: "thaw",
        command: banyanCommand(["thaw", "--quiet", folder]),
        read: (run) => readThaw(run, imageBytes(folder)),
      },
    ],
    troubles: [],
  };
}

function imageBytes(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".image"));
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** From the last sign of life to the end of the command. Undefined without a sign or without an image. */
export function readFreeze(run: Pick<ChildRun, "stdout" | "startMs" | "ms">, bytes: number): Sample[] | undefined {
  const last = parseSamples(run.stdout).at(-1);
  if (last === undefined || bytes === 0) return undefined;
  return both("freeze", { x: last.x, bytes, seconds: (run.startMs + run.ms - last.figures[0]!) / 1000 });
}

/** From the start of the command to the first sign of life. */
export function readThaw(run: Pick<ChildRun, "stdout" | "startMs">, bytes: number): Sample[] | undefined {
  const [first] = parseSamples(run.stdout);
  if (first === undefined || bytes === 0) return undefined;
  return both("thaw", { x: first.x, bytes, seconds: (first.figures[0]! - run.startMs) / 1000 });
}

function both(name: string, { x, bytes, seconds }: { x: number; bytes: number; seconds: number }): Sample[] {
  return [
    { metric: `${name}_s`, x, figures: [seconds] },
    { metric: `${name}_gbs`, x, figures: [bytes / seconds / 1e9] },
  ];
}

function table(series: readonly Series[], mib: number): Table {
  const figure = (metric: string | undefined): number =>
    medianAt(
      series.find((one) => one.metric === metric),
      mib,
    ) ?? Number.NaN;
  const right = (heading: string) => ({ heading, align: "right" }) as const;
  const columns = [{ heading: "what", align: "left" } as const, right("GB/s"), right(": plain"), right("seconds")];
  return {
    caption: `Images of ${bytesText(mib * (1 << 20))} that cannot be compressed: GB/s, more is better; seconds that the program stands still, less is better`,
    text: textTable(
      columns,
      rows.map(({ text, metric, plain, seconds }) => [
        text,
        figureText(figure(metric)),
        plain === undefined ? "" : ratioText(figure(metric) / figure(plain)),
        seconds === undefined ? "" : figureText(figure(seconds)),
      ]),
    ),
  };
}
