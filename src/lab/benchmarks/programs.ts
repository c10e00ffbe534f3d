/**
 * Whole commands: `banyan run` of a program in C, from the start of the process to its end, small and large, beside the peers' `mpirun`. What
 * a user waits for is in it: start, cold code, messages, collectives, arithmetic, end. The program has been compiled before, as it has at
 * every run of a user but the first; a run that fails does not count.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { banyanC } from "../contenders/contenders.ts";
import { type PeerRuntime, peerKinds } from "../contenders/peer.ts";
import { examplePath, kernelPath } from "../installation.ts";
import { banyanCommand, type Lab } from "../lab.ts";
import { type ChildRun, describeTrouble } from "../measuring/child.ts";
import type { MeasuredStart, RunTrouble } from "../measuring/measure.ts";
import type { Sample } from "../measuring/samples.ts";
import type { Series } from "../measuring/series.ts";
import { metricTable } from "../tables/metric-table.ts";

interface WholeCommand {
  readonly name: string;
  source(): string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes?: number;
  /** Seconds of the whole command. */
  readonly metric: string;
}

const flags = ["-O3"];
/** Node reads all certificates that this variable names before it does anything, 70 ms with Node 20: none of Banyan's time. */
const environment = { NODE_EXTRA_CA_CERTS: "" };

const kernel = (name: string, kernelClass: "S" | "W"): WholeCommand => ({
  name: `${name}.c ${kernelClass}`,
  source: () => kernelPath(name),
  args: [kernelClass],
  ranks: 8,
  metric: `${name}_class_${kernelClass.toLowerCase()}_command_s`,
});

const poisson = (size: number, nodes: number): WholeCommand => ({
  name: `poisson.c ${size}${nodes > 1 ? `, ${nodes} nodes` : ""}`,
  source: () => examplePath("poisson"),
  args: [String(size)],
  ranks: 8,
  nodes,
  metric: `poisson_${size}_${nodes}_command_s`,
});

const pi = (intervals: number, ranks: number): WholeCommand => ({
  name: `pi.c, ${ranks} ranks, ${intervals / 1e6} million`,
  source: () => examplePath("pi"),
  args: [String(intervals)],
  ranks,
  metric: `pi_${intervals / 1e6}_command_s`,
});

const small = [pi(20_000_000, 16), poisson(255, 1), kernel("is", "S"), kernel("cg", "S"), kernel("mg", "S")];
const large = [
  ...[pi(1_000_000_000, 16), poisson(1023, 1), poisson(1023, 4)],
  ...[kernel("is", "W"), kernel("cg", "W"), kernel("mg", "W")],
];
const quick = [pi(1_000_000, 4)];

export const programs: Benchmark = {
  name: "programs",
  summary: "whole commands of programs in C, small and large, from start to end",
  async measure(lab) {
    const chosen = lab.quick ? quick : [...small, ...large];
    const starts: MeasuredStart[] = [];
    const troubles: RunTrouble[] = [];
    for (const one of chosen) {
      // Compiles it, and keeps V8's caches: the runs that are measured are not the first.
      const first = await lab.run(ownCommand(one), Number.POSITIVE_INFINITY);
      const trouble = describeTrouble(first);
      if (trouble !== undefined) troubles.push({ contender: banyanC, message: `${one.name}: ${trouble}` });
      else starts.push(...startsOf(lab, one));
    }
    const { series, troubles: more } = await lab.measure(starts);
    return { series, troubles: [...troubles, ...more], tables: [table(lab, series, chosen)], panels: [] };
  },
};

function ownCommand({ source, args, ranks, nodes = 1 }: WholeCommand) {
  const run = ["run", "--quiet", "-n", String(ranks), "--nodes", String(nodes), source(), ...args];
  return banyanCommand(run, environment);
}

function startsOf(lab: Lab, one: WholeCommand): MeasuredStart[] {
  const { name, source, args, ranks, nodes = 1, metric } = one;
  const options = { timeLimitMs: 120_000, variant: name, read: (run: ChildRun) => readCommand(metric, ranks, run) };
  // MPICH spins: with more ranks than cores a program takes minutes.
  const argsOf = ({ kind }: PeerRuntime): readonly string[] | undefined =>
    kind.id === "mpich" && ranks > lab.cores ? undefined : args;
  return [
    { contender: banyanC, command: ownCommand(one), ...options },
    ...lab.ofPeers({ program: name, source: source(), flags, ranks, tcp: nodes > 1, args: argsOf }, options),
  ];
}

/** Undefined: a kernel has found its result to be wrong. */
export function readCommand(
  metric: string,
  ranks: number,
  { ms, stdout }: Pick<ChildRun, "ms" | "stdout">,
): Sample[] | undefined {
  if (/Verification: (?!SUCCESSFUL)/.test(stdout)) return undefined;
  return [{ metric, x: ranks, figures: [ms / 1000] }];
}

function table(lab: Lab, series: readonly Series[], chosen: readonly WholeCommand[]): Table {
  const rows = chosen.map(({ name, metric, ranks }) => ({ text: name, metric, x: ranks }));
  return {
    caption: `Whole commands on ${lab.cores} cores, from start to end, 8 ranks unless said: seconds, less is better`,
    text: metricTable(series, rows, {
      heading: "program",
      contenders: [banyanC, ...peerKinds],
      ratios: peerKinds.map((peer) => [banyanC, peer] as const),
    }),
  };
}
