/**
 * Collectives from C, 8 bytes to 1 MiB: 2 and 8 ranks of one node, and of two nodes that are connected by TCP only. One source
 * (peers/collectives.c), compiled by `banyan cc` and by the peers' compilers with the same flags.
 *
 * MPICH spins without giving up its core: with more ranks than cores it takes no part.
 */
import type { Benchmark, Table } from "../benchmark.ts";
import { banyanC, plotLines } from "../contenders/contenders.ts";
import { sourcePath } from "../installation.ts";
import type { Lab } from "../lab.ts";
import type { MeasuredStart } from "../measuring/measure.ts";
import { ofMetric, type Series } from "../measuring/series.ts";
import { comparisonTable } from "../tables/comparison-table.ts";
import { bytesText } from "../tables/units.ts";

const flags = ["-O3"];

export const collectiveKinds = ["barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"] as const;
type Kind = (typeof collectiveKinds)[number];

const lengths = [8, 64, 1024, 8192, 65_536, 1 << 20];
const lengthsQuick = [8, 65_536];

interface Place {
  readonly ranks: number;
  readonly nodes: number;
}
const places: readonly Place[] = [1, 2].flatMap((nodes) => [2, 8].map((ranks) => ({ ranks, nodes })));
const placesQuick: readonly Place[] = [{ ranks: 2, nodes: 1 }];

interface Amount {
  readonly batches: number;
  readonly warmBatches: number;
  /** In a batch, of 8 bytes: longer ones in proportion, down to the least. */
  readonly rounds: number;
  readonly roundsMin: number;
}
const full: Amount = { batches: 5, warmBatches: 3, rounds: 1_000, roundsMin: 10 };
const quick: Amount = { batches: 2, warmBatches: 1, rounds: 20, roundsMin: 2 };
/** A round takes so much longer than one of 8 bytes, roughly. */
const slowdownOf = (bytes: number): number => 1 + bytes / 2048;

export const collectives: Benchmark = {
  name: "collectives",
  summary: "barrier, bcast, reduce, allreduce, allgather and alltoall from C, 8 B to 1 MiB, one node and two",
  async measure(lab) {
    const built = await lab.compile(sourcePath("collectives"), flags);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: banyanC, message: built.why }] };
    const chosen = (lab.quick ? placesQuick : places).flatMap((place) =>
      collectiveKinds.map((kind) => ({ kind, place })),
    );
    const starts = chosen.flatMap(({ kind, place }) => startsOf(lab, kind, place, built.program));
    const { series, troubles } = await lab.measure(starts);
    return {
      series,
      troubles,
      tables: chosen.map(({ kind, place }) => table(lab, kind, place, series)),
      panels: chosen.map(({ kind, place }) => ({
        title: `MPI_${kind[0]!.toUpperCase()}${kind.slice(1)}, ${textOf(place)}`,
        xLabel: "bytes",
        xText: bytesText,
        yLabel: "one collective, µs",
        lines: plotLines(ofMetric(series, collectiveMetric(kind, place))),
      })),
    };
  },
};

export const collectiveMetric = (kind: Kind, { ranks, nodes }: Place): string =>
  `${kind}_${ranks}_ranks_${nodes}_nodes_us`;
const textOf = ({ ranks, nodes }: Place): string =>
  `${ranks} ranks ${nodes === 1 ? "of a node" : "of two nodes, by TCP"}`;

function startsOf(lab: Lab, kind: Kind, place: Place, module: string): MeasuredStart[] {
  const { ranks, nodes } = place;
  const { batches, warmBatches, rounds, roundsMin } = lab.quick ? quick : full;
  const measured = kind === "barrier" ? [8] : lab.quick ? lengthsQuick : lengths;
  // With more ranks than cores a round takes ten times as long, and between nodes too.
  const share = (ranks > lab.cores ? 4 : 1) * nodes ** 2;
  const sizes = measured.map(
    (bytes) => `${bytes}:${Math.max(roundsMin, Math.round(rounds / share / slowdownOf(bytes)))}`,
  );
  const args = [collectiveMetric(kind, place).replace(/_us$/, ""), kind, batches, warmBatches, ...sizes].map(String);
  const options = { timeLimitMs: 120_000, variant: `${kind}, ${textOf(place)}` };
  const job = { contender: banyanC, module, args, ranks };
  return [
    lab.ownModule({ ...job, options: ["--nodes", String(nodes)] }, options),
    ...lab.ofPeers(
      {
        program: "collectives",
        flags,
        ranks,
        tcp: nodes > 1,
        args: (peer) => (peer.kind.id === "mpich" && ranks > lab.cores ? undefined : args),
      },
      options,
    ),
  ];
}

function table(lab: Lab, kind: Kind, place: Place, series: readonly Series[]): Table {
  return {
    caption: `MPI_${kind[0]!.toUpperCase()}${kind.slice(1)} from C on ${lab.cores} cores, ${textOf(place)}: µs for one, less is better`,
    text: comparisonTable(ofMetric(series, collectiveMetric(kind, place)), {
      heading: "bytes",
      xText: bytesText,
      better: "less",
    }),
  };
}
