/**
 * A token ring through a channel memory, some of whose nodes are killed when it is over and repeat all of it. A process of its own: `banyan bench
 * --probe …`. Samples, at the number of nodes that are started again: replay_us, a round of those who repeat; at 0, a round the first time.
 */
import { launch } from "../../real/job/launch.ts";
import { parseSamples } from "../measuring/samples.ts";

export interface ReplayProbe {
  /** The compiled program `ring.c`. */
  readonly module: string;
  /** Each on a node of its own. */
  readonly ranks: number;
  readonly bytes: number;
  readonly rounds: number;
  readonly restarted: number;
}

const timeoutMs = 120_000;

export async function probeReplay({ module, ranks, bytes, rounds, restarted }: ReplayProbe): Promise<void> {
  const args = [`${bytes}`, `${rounds}`, "stay"];
  const job = launch(module, { protocol: "channel-memory", ranks, nodes: ranks, args, timeoutMs });
  let pids: readonly number[] = [];
  let firstUs: number | undefined;
  const repeatedMs: number[] = [];
  for await (const event of job) {
    if (event.kind === "started") pids = event.pids;
    if (event.kind === "line" && firstUs === undefined) {
      firstUs = parseSamples(`${event.text}\n`)[0]?.figures[0];
      if (restarted === 0) job.kill();
      for (const pid of pids.slice(0, restarted)) process.kill(pid, "SIGKILL");
    }
    if (event.kind !== "recovered") continue;
    repeatedMs.push(event.caughtUpMs - event.runningMs);
    if (repeatedMs.length === restarted) job.kill();
  }
  if (firstUs === undefined || repeatedMs.length < restarted) throw new Error("the ring has not been repeated");
  const us = restarted === 0 ? firstUs : (Math.max(...repeatedMs) * 1000) / rounds;
  console.log(`sample replay_us ${restarted} ${us}`);
}
