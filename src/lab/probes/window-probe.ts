/**
 * A program with two replicas of each rank, in two worlds, of which one is lost and comes back on a spare. A process of its own: `banyan bench
 * --probe …`. Samples, at the number of ranks: window_ms, from the loss until the last replica was back; pause_ms, the longest time for which a source stood
 * still; moved_mb, of all memories together.
 */
import { launch } from "../../real/job/launch.ts";

export interface WindowProbe {
  /** A compiled kernel that runs for some seconds. */
  readonly module: string;
  readonly args: readonly string[];
  readonly ranks: number;
}

const timeoutMs = 170_000;
/** The program is at work by then. */
const settledMs = 700;

export async function probeWindow({ module, args, ranks }: WindowProbe): Promise<void> {
  const job = launch(module, { protocol: "replication", ranks, nodes: 2, sustain: true, spares: 1, args, timeoutMs });
  for await (const event of job) {
    if (event.kind === "started") {
      const victim = event.pids[1]!;
      setTimeout(() => process.kill(victim, "SIGKILL"), settledMs);
    }
    if (event.kind === "note" && event.message.includes(" came back, ")) job.kill();
  }
  const clones = (await job.done).protocol.clones ?? [];
  if (clones.length < ranks) throw new Error(`${clones.length} of ${ranks} replicas have come back`);
  const sample = (metric: string, figure: number): void => console.log(`sample ${metric} ${ranks} ${figure}`);
  sample("window_ms", Math.max(...clones.map(({ afterMs }) => afterMs)));
  sample("pause_ms", Math.max(...clones.map(({ pauseMs }) => pauseMs)));
  sample("moved_mb", clones.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6);
}
