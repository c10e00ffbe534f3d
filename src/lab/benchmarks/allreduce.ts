/**
 * One double summed over 2, 4, 8 and 16 ranks. Most of these are more ranks than a small machine has cores: then the way ranks
 * wait is measured.
 *
 * MPICH spins without giving up its core. With more ranks than cores one of its rounds takes milliseconds, so MPICH runs fewer
 * rounds, and none at all beyond two ranks per core.
 */
import type { Benchmark } from "../benchmark.ts";
import { banyan, plotLines } from "../contenders/contenders.ts";
import type { PeerRuntime } from "../contenders/peer.ts";
import type { Lab } from "../lab.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { comparisonTable } from "../tables/comparison-table.ts";

const ranksMeasured = [2, 4, 8, 16];
const ranksQuick = [2, 8];
const mpichRanksPerCoreMax = 2;

interface Amount {
  readonly batches: number;
  readonly warmBatches: number;
  readonly rounds: number;
}
/** Every rank compiles its own code: 40 000 rounds before the first measured one, for the peers too. */
const full: Amount = { batches: 5, warmBatches: 40, rounds: 1_000 };
const quick: Amount = { batches: 3, warmBatches: 1, rounds: 50 };
const spinning: Amount = { batches: 3, warmBatches: 1, rounds: 20 };

export const allreduce: Benchmark = {
  name: "allreduce",
  summary: "8 bytes summed over 2, 4, 8 and 16 ranks of a node",
  async measure(lab) {
    const counts = lab.quick ? ranksQuick : ranksMeasured;
    remarkMpich(lab, counts);
    const { series, troubles } = await lab.measure(counts.flatMap((ranks) => startsOf(lab, ranks)));
    return {
      series,
      troubles,
      tables: [
        {
          caption: `Allreduce of 8 bytes on ${lab.cores} cores: µs for one, less is better`,
          text: comparisonTable(series, { heading: "ranks", xText: String, better: "less" }),
        },
      ],
      panels: [
        {
          title: `Allreduce of 8 bytes on ${lab.cores} cores`,
          xLabel: "ranks",
          xText: String,
          yLabel: "one allreduce, µs",
          lines: plotLines(series),
        },
      ],
    };
  },
};

function startsOf(lab: Lab, ranks: number): MeasuredStart[] {
  const amount = lab.quick ? quick : full;
  const options = { timeLimitMs: 60_000, variant: `${ranks} ranks` };
  const job = { program: "allreduce", ranks };
  return [
    lab.own({ ...job, contender: banyan, args: argsOf(amount) }, options),
    ...lab.ofPeers({ ...job, args: (peer) => peerArgs(peer, ranks, lab, amount) }, options),
  ];
}

function peerArgs({ kind }: PeerRuntime, ranks: number, { cores }: Lab, amount: Amount): string[] | undefined {
  if (kind.id !== "mpich" || ranks <= cores) return argsOf(amount);
  return ranks > cores * mpichRanksPerCoreMax ? undefined : argsOf(spinning);
}

function argsOf({ batches, warmBatches, rounds }: Amount): string[] {
  return [batches, warmBatches, rounds].map(String);
}

function remarkMpich(lab: Lab, counts: readonly number[]): void {
  const { cores, peers } = lab;
  if (!peers.some(({ kind }) => kind.id === "mpich")) return;
  const left = counts.filter((ranks) => ranks > cores * mpichRanksPerCoreMax);
  if (left.length > 0) lab.remark(`MPICH is left out with ${left.join(" and ")} ranks: it spins on ${cores} cores`);
}
