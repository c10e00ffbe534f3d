/**
 * What checkpoints cost a program that goes on, from within one run: two runs of a program that computes on memory differ by more than that where
 * others use the machine's memory too, and so do two seconds of one. So the steps around each checkpoint are compared with those just before and just after, and what they took longer is what the
 * checkpoint has cost. A process of its own: `banyan bench --probe …`. Samples, at the size of the memory in MiB: <word>_quiet_us, a step beside
 * checkpoints, and <word>_us, a step with its part of one; medians over the checkpoints.
 */
import { launch } from "../../real/job/launch.ts";
import { median } from "../measuring/median.ts";
import { parseSamples } from "../measuring/samples.ts";

export interface CheckpointProbe {
  /** The compiled program `steps.c`. */
  readonly module: string;
  readonly ranks: number;
  readonly mib: number;
  readonly passes: number;
  /** How much of the memory changes between two checkpoints. */
  readonly percent: number;
  readonly everyMs: number;
  /** How many of them are looked at. */
  readonly checkpoints: number;
  readonly word: string;
}

/** Steps between two time stamps: some milliseconds. */
const stampEvery = 20;
/** The first images of a job are whole, and made by code that is cold. */
const checkpointsBefore = 2;
/** What a checkpoint may still do when it counts: so long at least, or as long as it took until then. */
const afterwardsMsMin = 100;
/** Before the order to stop is heard. */
const beforeMs = 20;

/** How far rank 0 was, and when, in milliseconds since 1970. */
interface Stamp {
  readonly step: number;
  readonly ms: number;
}

export async function probeCheckpoints(probe: CheckpointProbe): Promise<void> {
  const { module, ranks, mib, passes, percent, everyMs, checkpoints, word } = probe;
  const timeoutMs = (checkpoints + checkpointsBefore + 4) * everyMs * 3 + 60_000;
  const args = [mib, 0, passes, stampEvery, percent].map(String);
  const job = launch(module, { protocol: "logging", ranks, checkpointEveryMs: everyMs, args, timeoutMs });
  const stamps: Stamp[] = [];
  const taken: Taken[] = [];
  const enough = checkpointsBefore + checkpoints + 1;
  for await (const event of job) {
    if (event.kind === "line") {
      const [sample] = parseSamples(`${event.text}\n`);
      if (sample?.metric === "step_ms") stamps.push({ step: sample.x, ms: sample.figures[0]! });
    }
    if (event.kind === "checkpoint" && taken.push({ atMs: Date.now(), tookMs: event.committedMs }) >= enough)
      job.kill();
  }
  await job.done;
  const costs = taken.slice(checkpointsBefore, -1).flatMap((one, i) => {
    const periodMs = one.atMs - taken[checkpointsBefore + i - 1]!.atMs;
    const cost = costOf(stamps, one);
    return Number.isFinite(cost.lostMs) ? [{ ...cost, periodMs }] : [];
  });
  if (costs.length === 0) throw new Error("no checkpoint was taken between others");
  const quiet = median(costs.map(({ quietUs }) => quietUs));
  const more = median(costs.map(({ lostMs, periodMs }) => lostMs / periodMs));
  console.log(`sample ${word}_quiet_us ${mib} ${quiet}`);
  console.log(`sample ${word}_us ${mib} ${quiet / (1 - more)}`);
}

/** When it counted, and how long after it was begun. */
interface Taken {
  readonly atMs: number;
  readonly tookMs: number;
}

function costOf(stamps: readonly Stamp[], { atMs, tookMs }: Taken): { quietUs: number; lostMs: number } {
  const fromMs = atMs - tookMs - beforeMs;
  const toMs = atMs + Math.max(afterwardsMsMin, tookMs);
  const besideMs = toMs - fromMs;
  const quietUs = (stepUs(stamps, fromMs - besideMs, fromMs) + stepUs(stamps, toMs, toMs + besideMs)) / 2;
  return { quietUs, lostMs: besideMs * (1 - quietUs / stepUs(stamps, fromMs, toMs)) };
}

/** Microseconds for a step in that time, by the stamps next to its ends. */
function stepUs(stamps: readonly Stamp[], fromMs: number, toMs: number): number {
  const [from, to] = [lastBefore(stamps, fromMs), lastBefore(stamps, toMs)];
  if (from === undefined || to === undefined || from.step === to.step) return Number.NaN;
  return ((to.ms - from.ms) / (to.step - from.step)) * 1000;
}

function lastBefore(stamps: readonly Stamp[], ms: number): Stamp | undefined {
  for (let i = stamps.length - 1; i >= 0; i--) if (stamps[i]!.ms <= ms) return stamps[i];
  return undefined;
}
