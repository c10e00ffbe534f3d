/**
 * The contenders of the paper on replication, and what it compares them with: no fault tolerance as it is shipped, the same with collectives by
 * messages (replicas have no others), and as many plain jobs side by side as there are replicas, which is the fair baseline where
 * processes share cores.
 */
import {
  plainMessages,
  plainNone,
  plainTwice,
  replicasLeader,
  replicasMirror,
  replicasParallel,
} from "../../contenders/contenders.ts";
import { banyanCommand, type Lab } from "../../lab.ts";
import type { ChildRun, Command } from "../../measuring/child.ts";
import type { MeasuredStart } from "../../measuring/measure.ts";
import type { Sample } from "../../measuring/samples.ts";
import type { Contender } from "../../measuring/series.ts";

/** Where processes are: each on a node of its own, as in the paper; or those of a world together. */
export interface WorldPlacement {
  readonly word: string;
  readonly text: string;
  /** Of a plain job of so many ranks. */
  nodes(ranks: number): number;
}

export const placements: readonly [WorldPlacement, WorldPlacement] = [
  { word: "apart", text: "each process on a node of its own", nodes: (ranks) => ranks },
  { word: "world", text: "a world on each node", nodes: () => 1 },
];

export const replicas = 2;

interface Mode {
  readonly contender: Contender;
  /** Options of `banyan run`; null: as without fault tolerance. */
  readonly variant: string | null;
  readonly isTwice: boolean;
  /** Collectives by messages: where ranks are on different nodes there are no others. */
  readonly env: Readonly<Record<string, string>>;
}

const shipped = {};
const modes: readonly Mode[] = [
  { contender: plainNone, variant: null, isTwice: false, env: shipped },
  { contender: plainMessages, variant: null, isTwice: false, env: { BANYAN_COLLECTIVES: "messages" } },
  { contender: plainTwice, variant: null, isTwice: true, env: shipped },
  { contender: replicasParallel, variant: "parallel", isTwice: false, env: shipped },
  { contender: replicasMirror, variant: "mirror", isTwice: false, env: shipped },
  { contender: replicasLeader, variant: "leader", isTwice: false, env: shipped },
];

/** On nodes of their own no ranks have other collectives than by messages. */
export const modesOf = ({ word }: WorldPlacement): readonly Mode[] =>
  word === "apart" ? modes.filter(({ contender }) => contender !== plainMessages) : modes;

export const contendersOf = (placement: WorldPlacement): Contender[] =>
  modesOf(placement).map(({ contender }) => contender);

export const replicationRatios: readonly (readonly [Contender, Contender])[] = [
  [replicasParallel, plainNone],
  [replicasParallel, plainTwice],
  [replicasMirror, plainTwice],
  [replicasLeader, plainTwice],
];

interface ModuleJob {
  readonly module: string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly variant: string;
  readonly read?: (run: ChildRun) => readonly Sample[] | undefined;
}

export function startReplicas(
  job: ModuleJob,
  placement: WorldPlacement,
  { contender, variant, isTwice, env }: Mode,
): MeasuredStart {
  const { module, args, ranks, read } = job;
  const nodes = placement.nodes(ranks);
  const protocol = ["--protocol", "replication", "--replicas", `${replicas}`, "--replication", variant ?? ""];
  const options = variant === null ? ["--nodes", `${nodes}`] : ["--nodes", `${nodes * replicas}`, ...protocol];
  const command = banyanCommand(["run", "--quiet", "-n", String(ranks), ...options, module, ...args]);
  return {
    contender,
    variant: job.variant,
    command: { ...(isTwice ? twice(command) : command), env },
    timeLimitMs: 300_000,
    ...(read === undefined ? {} : { read }),
  };
}

/** Two of them at once; the output of one counts. */
const twice = ({ file, args }: Command): Command => ({
  file: "/bin/sh",
  args: ["-c", '"$@" > /dev/null & "$@"; code=$?; wait; exit $code', "sh", file, ...args],
});

/** More processes than cores: only a comparison with jobs side by side says what replication costs. */
export function crowdedText({ cores }: Lab, ranks: number): string {
  return ranks * replicas <= cores
    ? ""
    : `; ${ranks * replicas} processes on ${cores} cores: compare with none ×${replicas}`;
}
