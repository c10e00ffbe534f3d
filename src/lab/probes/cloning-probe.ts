/**
 * A job with two replicas of each rank, of which one is killed and comes back on a spare: what its clone took. A process of its own: `banyan bench
 * --probe …`. Samples, at the size of the program's memory in MiB: copy_mbs, from the order to copy until all is there; pause_ms, for which
 * the source stood still; window_ms, for which the rank had one replica; rounds.
 */
import { launch } from "../../real/job/launch.ts";

export interface CloningProbe {
  /** The compiled program `cloned.c`. */
  readonly module: string;
  readonly mib: number;
  /** Of its pages that change in a second. */
  readonly percent: number;
}

/** The first has all the memory. */
const ranks = 2;
const timeoutMs = 120_000;
/** The program has begun, nothing is new any more, and the spare is ready. */
const settledMs = 3000;
/** Longer than the job lives. */
const steps = 1_000_000;

export async function probeCloning({ module, mib, percent }: CloningProbe): Promise<void> {
  const job = launch(module, {
    protocol: "replication",
    ranks,
    nodes: ranks * 2,
    sustain: true,
    spares: 1,
    memoryMb: mib + Math.ceil(mib / 8) + 64,
    args: [`${mib}`, `${percent}`, `${steps}`],
    timeoutMs,
  });
  let victim = 0;
  let isKilling = false;
  for await (const event of job) {
    if (event.kind === "started") victim = event.pids[0]!;
    if (event.kind === "line" && event.text === "at work" && !isKilling) {
      isKilling = true;
      setTimeout(() => process.kill(victim, "SIGKILL"), settledMs);
    }
    if (event.kind === "note" && event.message.includes(" came back, ")) job.kill();
  }
  const { protocol } = await job.done;
  const [clone] = protocol.clones ?? [];
  if (clone === undefined) throw new Error("no replica has come back");
  const { bytes, copyMs, pauseMs, afterMs, rounds } = clone;
  const sample = (metric: string, figure: number): void => console.log(`sample ${metric} ${mib} ${figure}`);
  sample("copy_mbs", bytes / 1000 / copyMs);
  sample("pause_ms", pauseMs);
  sample("window_ms", afterMs);
  sample("rounds", rounds);
}
