/** Our own contenders, and how each contender looks in a plot. */
import { peerKinds } from "./peer.ts";
import type { PlotLine } from "./plot.ts";
import type { Contender, Series } from "./series.ts";

/** Typed arrays from `mpi.alloc`, in the node's shared memory. */
export const banyanShared: Contender = { id: "banyan-shared", label: "Banyan, shared", isOurs: true };
/** Typed arrays as everybody makes them. */
export const banyanOrdinary: Contender = { id: "banyan-ordinary", label: "Banyan, ordinary", isOurs: true };
/** Where the kind of array makes no difference. */
export const banyan: Contender = { id: "banyan", label: "Banyan", isOurs: true };

const looks: readonly string[] = [banyanShared.id, banyanOrdinary.id, ...peerKinds.map(({ id }) => id)];

export function plotLines(series: readonly Series[]): PlotLine[] {
  return series.map(({ contender, points }) => ({
    label: contender.label,
    style: Math.max(0, looks.indexOf(contender.id)),
    points: points.map(({ x, median }) => ({ x, y: median })),
  }));
}
