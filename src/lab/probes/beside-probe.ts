/**
 * How fast other ranks are while a clone is made: a job in which rank 0 has the memory, loses a replica and gets it back, and rank 1 computes. A process of
 * its own: `banyan bench --probe …`. Sample, at the size of the memory in MiB: beside, pieces of work in a second from the loss until the
 * clone is back, in relation to those before.
 */
import { launch } from "../../real/job/launch.ts";

export interface BesideProbe {
  /** The compiled program `beside.c`. */
  readonly module: string;
  readonly mib: number;
  readonly percent: number;
  /** Processes that compute: replicas of rank 1. */
  readonly workers: 1 | 2;
}

const timeoutMs = 120_000;
/** So long the others are watched before. */
const beforeMs = 2_000;
/** The memory of the spare is made ready first. */
const settledMs = 1_500;

export async function probeBeside({ module, mib, percent, workers }: BesideProbe): Promise<void> {
  const job = launch(module, {
    protocol: "replication",
    ranks: 2,
    // What is killed is a replica of rank 0 alone.
    nodes: workers * 2,
    ...(workers === 1 ? { replicateRanks: "0" } : {}),
    sustain: true,
    spares: 1,
    memoryMb: mib + Math.ceil(mib / 8) + 64,
    args: [`${mib}`, `${percent}`],
    timeoutMs,
  });
  const workedMs: number[] = [];
  let [victim, lostMs, backMs] = [0, Number.POSITIVE_INFINITY, 0];
  for await (const event of job) {
    if (event.kind === "started") victim = event.pids[workers]!;
    if (event.kind === "line" && event.text === "worked") workedMs.push(performance.now());
    if (event.kind === "line" && event.text === "at work") {
      setTimeout(() => {
        lostMs = performance.now();
        process.kill(victim, "SIGKILL");
      }, settledMs + beforeMs);
    }
    if (event.kind === "note" && event.message.includes(" came back, ")) {
      backMs = performance.now();
      job.kill();
    }
  }
  await job.done;
  if (backMs === 0) throw new Error("no replica has come back");
  const perMs = (fromMs: number, toMs: number): number =>
    workedMs.filter((ms) => ms >= fromMs && ms < toMs).length / (toMs - fromMs);
  console.log(`sample beside ${mib} ${perMs(lostMs, backMs) / perMs(lostMs - beforeMs, lostMs)}`);
}
