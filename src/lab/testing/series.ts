/** For tests: series with one run of one batch at each point. */
import type { Contender, Series } from "../measuring/series.ts";

export const ours: Contender = { id: "banyan-shared", label: "Banyan, shared", isOurs: true };
export const openMpi: Contender = { id: "openmpi", label: "Open MPI", isOurs: false };
export const mpich: Contender = { id: "mpich", label: "MPICH", isOurs: false };

export function seriesOf(contender: Contender, metric: string, points: Readonly<Record<number, number>>): Series {
  return {
    contender,
    metric,
    points: Object.entries(points).map(([x, figure]) => ({ x: Number(x), runs: [[figure]], median: figure })),
  };
}
