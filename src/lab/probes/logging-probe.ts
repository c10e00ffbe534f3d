/**
 * Jobs under message logging whose figures are not in their output: the volume of logs, the duration of checkpoints and
 * recoveries. The probe launches them, kills their nodes and prints samples. A process of its own: `banyan bench
 * --probe …`, which the benchmarks start like any other program.
 */
import { unreachable } from "../../core/base/assert.ts";
import { loggingReport } from "../../core/ft/logging/report.ts";
import { type LaunchOptions, launch, type RunningJob } from "../../real/job/launch.ts";
import type { CheckpointEvent, JobEvent } from "../../real/job/report/job-event.ts";
import { parseSamples } from "../measuring/samples.ts";

interface Common {
  /** The compiled program. */
  readonly module: string;
  readonly ranks: number;
  readonly nodes: number;
}

/** Bytes that each rank logs in one round of each collective. Samples: <collective>_<word>_bytes, with a figure for each rank. */
interface VolumeProbe extends Common {
  readonly kind: "volume";
  readonly sets: "node" | "rank";
  readonly word: string;
  readonly collectives: readonly string[];
  readonly sizes: readonly number[];
  readonly rounds: number;
}

/** Checkpoints of a small program. Samples: settled_us, barrier_us, with a figure for each checkpoint, at the set's ranks. */
interface SynchronisationProbe extends Common {
  readonly kind: "synchronisation";
  readonly everyMs: number;
  readonly checkpoints: number;
}

/**
 * A node is lost some time after a checkpoint of its set. Samples: resumed_s, running_s, caught_up_s and a word, at the MiB.
 */
interface RecoveryProbe extends Common {
  readonly kind: "recovery";
  readonly mib: number;
  readonly passes: number;
  readonly everyMs: number;
  readonly afterCheckpointMs: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
  readonly word: string;
}

/** All ranks of one node are captured and then restarted at once. Samples: checkpoint_s, restart_s, round_trip_s, at the ranks. */
interface RoundTripProbe extends Common {
  readonly kind: "round-trip";
  readonly mib: number;
  /** Checkpoint servers; 0: images are in the job's folder. */
  readonly servers: number;
}

export type LoggingProbe = VolumeProbe | SynchronisationProbe | RecoveryProbe | RoundTripProbe;

const timeoutMs = 120_000;
/** Steps between two time stamps of `steps.c`, and the stamps after a recovery that prove progress. */
const stampEvery = 5;
const stampsAfter = 5;

export async function probeLogging(probe: LoggingProbe): Promise<void> {
  switch (probe.kind) {
    case "volume":
      return volume(probe);
    case "synchronisation":
      return synchronisation(probe);
    case "recovery":
      return recovery(probe);
    case "round-trip":
      return roundTrip(probe);
    default:
      return unreachable(probe);
  }
}

function start({ module, ranks, nodes }: Common, options: LaunchOptions): RunningJob {
  return launch(module, { protocol: "logging", ranks, nodes, timeoutMs, ...options });
}

async function volume(probe: VolumeProbe): Promise<void> {
  const { collectives, sizes, rounds, word } = probe;
  // Messages at the start and at the end of every program do not count.
  const none = await loggedBytes(probe, [collectives[0]!, "4", "0"]);
  for (const collective of collectives) {
    for (const bytes of sizes) {
      const some = await loggedBytes(probe, [collective, String(bytes), String(rounds)]);
      const perRank = some.map((logged, rank) => (logged - none[rank]!) / rounds);
      sample(`${collective}_${word}_bytes`, bytes, perRank);
    }
  }
}

async function loggedBytes(probe: VolumeProbe, args: readonly string[]): Promise<number[]> {
  const { code, protocol } = await start(probe, { sets: probe.sets, args }).done;
  if (code !== 0) throw new Error(`collective ${args.join(" ")} ended with ${code}`);
  return loggingReport(protocol).perRank.map((logged) => sum(logged?.bytesTo ?? []));
}

async function synchronisation(probe: SynchronisationProbe): Promise<void> {
  const { everyMs, checkpoints, ranks } = probe;
  const job = start(probe, { checkpointEveryMs: everyMs, args: ["0", "0", "1", "0"] });
  const times: CheckpointEvent[] = [];
  for await (const event of job) {
    complain(event);
    if (event.kind !== "checkpoint") continue;
    times.push(event);
    if (times.length === checkpoints) job.kill();
  }
  if (times.length === 0) return;
  const inUs = (ms: number): number => ms * 1000;
  sample(
    "settled_us",
    ranks,
    times.map(({ settledMs }) => inUs(settledMs)),
  );
  sample(
    "barrier_us",
    ranks,
    times.map(({ barrierMs }) => inUs(barrierMs)),
  );
}

async function recovery(probe: RecoveryProbe): Promise<void> {
  const { mib, passes, everyMs, afterCheckpointMs, signal, word, nodes } = probe;
  const args = [mib, 0, passes, stampEvery].map(String);
  const job = start(probe, { checkpointEveryMs: everyMs, args });
  const victim = nodes - 1;
  const stampsMs: number[] = [];
  let pids: readonly number[] = [];
  let lostMs = 0;
  let noticedMs = 0;
  let recovered: (JobEvent & { kind: "recovered" }) | undefined;
  let stampsLeft = stampsAfter;
  for await (const event of job) {
    complain(event);
    switch (event.kind) {
      case "started":
        pids = event.pids;
        break;
      case "line":
        stampsMs.push(...parseSamples(`${event.text}\n`).map(({ figures }) => figures[0]!));
        if (recovered !== undefined && --stampsLeft === 0) job.kill();
        break;
      case "checkpoint":
        // Sets have the numbers of their nodes. The first image may be older than the filled memory.
        if (event.set !== victim || event.number < 2 || lostMs !== 0) break;
        lostMs = Number.POSITIVE_INFINITY;
        setTimeout(() => {
          lostMs = Date.now();
          process.kill(pids[victim]!, signal);
        }, afterCheckpointMs);
        break;
      case "node-lost":
        noticedMs = Date.now() - lostMs;
        break;
      case "recovered":
        recovered = event;
        break;
      default:
        break;
    }
  }
  const resumedMs = resumption(stampsMs, lostMs);
  if (recovered === undefined || resumedMs === undefined) return;
  sample(`${word}_resumed_s`, mib, [resumedMs / 1000]);
  sample(`${word}_running_s`, mib, [(noticedMs + recovered.runningMs) / 1000]);
  sample(`${word}_caught_up_s`, mib, [(noticedMs + recovered.caughtUpMs) / 1000]);
}

/**
 * The time from the loss until the other ranks continue: rank 0's longest wait that ends after the loss. No rank gets further
 * than a step without the others, but earlier messages are still on their way. Undefined: the ranks never continued.
 */
export function resumption(stampsMs: readonly number[], lostMs: number): number | undefined {
  let longest = 0;
  let endMs: number | undefined;
  for (const [i, stamp] of stampsMs.entries()) {
    const wait = stamp - (stampsMs[i - 1] ?? stamp);
    if (stamp <= lostMs || wait < longest) continue;
    longest = wait;
    endMs = stamp;
  }
  return endMs === undefined ? undefined : endMs - lostMs;
}

async function roundTrip(probe: RoundTripProbe): Promise<void> {
  const { ranks, mib, servers } = probe;
  const job = start(probe, { checkpointEveryMs: 1_000, checkpointServers: servers, args: [mib, 0, 1, 0].map(String) });
  let pid = 0;
  let checkpoint: CheckpointEvent | undefined;
  for await (const event of job) {
    complain(event);
    switch (event.kind) {
      case "started":
        pid = event.pids[0]!;
        break;
      case "checkpoint":
        if (event.number < 2 || checkpoint !== undefined) break;
        checkpoint = event;
        process.kill(pid, "SIGKILL");
        break;
      case "recovered": {
        const [stored, back] = [checkpoint!.committedMs / 1000, event.caughtUpMs / 1000];
        sample("checkpoint_s", ranks, [stored]);
        sample("restart_s", ranks, [back]);
        sample("round_trip_s", ranks, [stored + back]);
        job.kill();
        break;
      }
      default:
        break;
    }
  }
}

function sample(metric: string, x: number, figures: readonly number[]): void {
  process.stdout.write(`sample ${metric} ${x} ${figures.map((figure) => figure.toFixed(6)).join(" ")}\n`);
}

/** Prints an error where the bench looks for it. */
function complain(event: JobEvent): void {
  if (event.kind === "note" || (event.kind === "failed" && event.reason.kind !== "interrupted"))
    process.stderr.write(`${event.message}\n`);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
