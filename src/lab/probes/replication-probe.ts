/**
 * Jobs with replicas whose figures are not in their output: how many messages their processes send, and how long a death holds a program up after it is
 * known. A process of its own: `banyan bench --probe …`.
 */
import type { Replicated } from "../../core/ft/replication/report.ts";
import { launch } from "../../real/job/launch.ts";
import { parseSamples } from "../measuring/samples.ts";

interface Common {
  /** The compiled program `pauses.c`, for two ranks. */
  readonly module: string;
  readonly variant: string;
  readonly args: readonly string[];
}

/**
 * The program runs with one process for each rank first, which sends what the program does. Samples: messages_ratio,
 * acknowledgements_ratio, at the number of replicas.
 */
interface CountsProbe extends Common {
  readonly kind: "counts";
  readonly replicas: number;
}

/**
 * Two replicas of each rank, on four nodes. First replica 0 of rank 0 is killed, then replica 1 of rank 1: rank 0 is left in the world that rank 1
 * is not in, and its next message comes from the other world. Samples: pause_ms, the pause of rank 0 in which that happens; resumed_ms, from the time
 * at which the dispatcher knew of the death to the end of that pause.
 */
interface PauseProbe extends Common {
  readonly kind: "pause";
}

export type ReplicationProbe = CountsProbe | PauseProbe;

const ranks = 2;
const timeoutMs = 60_000;
/** Between the two deaths. */
const betweenMs = 400;

export const probeReplication = (probe: ReplicationProbe): Promise<void> =>
  probe.kind === "counts" ? counts(probe) : pause(probe);

const sample = (metric: string, x: number, figure: number): void => console.log(`sample ${metric} ${x} ${figure}`);

async function counts(probe: CountsProbe): Promise<void> {
  const { replicas } = probe;
  const one = await countsOf(probe, 1);
  const all = await countsOf(probe, replicas);
  sample("messages_ratio", replicas, all.sent / one.sent);
  sample("acknowledgements_ratio", replicas, all.acknowledgements / one.sent);
}

async function countsOf({ module, variant, args }: Common, replicas: number) {
  const nodes = ranks * replicas;
  const options = { protocol: "replication", ranks, nodes, replicas, replication: variant, args, timeoutMs };
  const { code, protocol } = await launch(module, options).done;
  if (code !== 0) throw new Error(`${variant} with ${replicas} replicas ended with ${code}`);
  const known = (protocol.ranks as readonly (Replicated | undefined)[]).flatMap((replicated) => replicated ?? []);
  const sum = (of: (replicated: Replicated) => number): number => known.reduce((total, each) => total + of(each), 0);
  return {
    sent: sum(({ sent, sentForOthers }) => sent + sentForOthers),
    acknowledgements: sum(({ acknowledgements }) => acknowledgements),
  };
}

async function pause({ module, variant, args }: PauseProbe): Promise<void> {
  const job = launch(module, { protocol: "replication", ranks, nodes: 4, replication: variant, args, timeoutMs });
  const [firstVictim, victim] = [0, 3];
  let pids: readonly number[] = [];
  let isAtWork = false;
  let isKilling = false;
  let killedMs = 0;
  let noticedMs = 0;
  const lines: string[] = [];
  for await (const event of job) {
    switch (event.kind) {
      case "started":
        pids = event.pids;
        break;
      case "line":
        lines.push(event.text);
        if (event.text === "at work") isAtWork = true;
        break;
      case "node-lost":
        if (event.node === victim) noticedMs = Date.now();
        break;
      default:
        break;
    }
    // A program may be at work before its job is said to have started.
    if (!isAtWork || pids.length === 0 || isKilling) continue;
    isKilling = true;
    process.kill(pids[firstVictim]!, "SIGKILL");
    setTimeout(() => {
      killedMs = Date.now();
      process.kill(pids[victim]!, "SIGKILL");
    }, betweenMs);
  }
  const { code } = await job.done;
  if (code !== 0 || noticedMs === 0) return;
  const [endMs, lengthMs] = pauseAt(lines, killedMs, noticedMs);
  sample("pause_ms", 2, lengthMs);
  // Messages may be there before the dispatcher has told its own listeners.
  sample("resumed_ms", 2, Math.max(0, endMs - noticedMs));
}

/** When it ended, and how long it was. Pauses of less than a millisecond are not listed: then there was none. */
function pauseAt(lines: readonly string[], killedMs: number, noticedMs: number): readonly [number, number] {
  const pauses = parseSamples(`${lines.join("\n")}\n`).map(({ figures }) => [figures[0]!, figures[1]!] as const);
  const held = pauses.filter(([endMs, lengthMs]) => endMs >= killedMs && endMs - lengthMs <= noticedMs);
  return held.reduce((longest, each) => (each[1] > longest[1] ? each : longest), [noticedMs, 0] as const);
}
