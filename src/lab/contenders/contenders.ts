/** Banyan's contenders, and the style of each contender in a plot. */

import type { Contender, Series } from "../measuring/series.ts";
import type { PlotLine } from "../plots/plot.ts";
import { peerKinds } from "./peer.ts";

/** Typed arrays from `mpi.alloc`, in the node's shared memory. */
export const banyanShared: Contender = { id: "banyan-shared", label: "Banyan, shared", isOurs: true };
/** Ordinary typed arrays. */
export const banyanOrdinary: Contender = { id: "banyan-ordinary", label: "Banyan, ordinary", isOurs: true };
/** Where the kind of array makes no difference. */
export const banyan: Contender = { id: "banyan", label: "Banyan", isOurs: true };
/** A program in C, compiled by `banyan cc`. */
export const banyanC: Contender = { id: "banyan-c", label: "Banyan, C", isOurs: true };
/** The same in TypeScript, for comparison. */
export const banyanTypeScript: Contender = { id: "banyan-typescript", label: "Banyan, TypeScript", isOurs: true };
/** The same in C, linked with `--no-capture`. */
export const banyanNoCapture: Contender = { id: "banyan-no-capture", label: "Banyan, no Asyncify", isOurs: true };
/** No logging; message logging with nodes as sets; with each rank as a set. */
export const loggingNone: Contender = { id: "none", label: "none", isOurs: true };
export const loggingSets: Contender = { id: "sets", label: "sets", isOurs: true };
export const loggingClassical: Contender = { id: "classical", label: "classical", isOurs: true };
/** Without fault tolerance, and with a program that repairs itself. */
export const banyanNone: Contender = { id: "protocol-none", label: "none", isOurs: true };
export const banyanUlfm: Contender = { id: "protocol-ulfm", label: "ulfm", isOurs: true };

/** Without replicas: as shipped, with collectives by messages, and two jobs side by side. */
export const plainNone: Contender = { id: "none", label: "none", isOurs: true };
export const plainMessages: Contender = { id: "none-messages", label: "none, messages", isOurs: true };
export const plainTwice: Contender = { id: "none-twice", label: "none ×2", isOurs: true };
/** Two replicas of each rank. */
export const replicasParallel: Contender = { id: "parallel", label: "parallel", isOurs: true };
export const replicasMirror: Contender = { id: "mirror", label: "mirror", isOurs: true };
export const replicasLeader: Contender = { id: "leader", label: "leader", isOurs: true };
/** Three, and both with messages compared. */
export const replicasThrice: Contender = { id: "parallel-3", label: "three", isOurs: true };
export const comparedTwice: Contender = { id: "compared-2", label: "compared", isOurs: true };
export const comparedThrice: Contender = { id: "compared-3", label: "three, compared", isOurs: true };

/** The fault-simulation layer, whose processes tell all others something by a tree of their own, or by broadcasts of the runtime. */
export const layerTree: Contender = { id: "fault-layer", label: "layer", isOurs: true };
export const layerIbcast: Contender = { id: "fault-layer-ibcast", label: "layer, ibcast", isOurs: true };

/** Channel memories: one for all ranks, two, and one that forces what it has to the disk. */
export const memoryOne: Contender = { id: "memory", label: "1 memory", isOurs: true };
export const memoryTwo: Contender = { id: "memories-2", label: "2 memories", isOurs: true };
export const memoryOfDisk: Contender = { id: "memory-disk", label: "disk", isOurs: true };
/** As many memories as nodes: files in a file system of memory, files on the disk, and those with checkpoints. */
export const memoriesInCore: Contender = { id: "memories-core", label: "in core", isOurs: true };
export const memoriesEach: Contender = { id: "memories", label: "memories", isOurs: true };
export const memoriesWhole: Contender = { id: "memories-whole", label: "checkpoints", isOurs: true };
/** Rings of so many nodes that share some memories. */
export const ringOfEight: Contender = { id: "ring-8", label: "8 nodes", isOurs: true };
export const ringOfTwelve: Contender = { id: "ring-12", label: "12 nodes", isOurs: true };

/** Contenders that never share a plot have the same style. */
const looks: readonly (readonly string[])[] = [
  [banyanShared.id, banyanC.id, loggingNone.id, ringOfEight.id],
  [banyanOrdinary.id, banyanTypeScript.id, loggingSets.id, replicasParallel.id, memoryOne.id, memoriesInCore.id],
  ...peerKinds.map(({ id }, i) =>
    i === 0
      ? [id, loggingClassical.id, plainTwice.id, memoryTwo.id, memoriesEach.id, ringOfTwelve.id]
      : [id, replicasMirror.id, memoryOfDisk.id, memoriesWhole.id],
  ),
  [replicasLeader.id, comparedTwice.id],
  [replicasThrice.id],
  [comparedThrice.id],
];

export function plotLines(series: readonly Series[]): PlotLine[] {
  return series.map(({ contender, points }) => ({
    label: contender.label,
    style: Math.max(
      0,
      looks.findIndex((ids) => ids.includes(contender.id)),
    ),
    points: points.map(({ x, median }) => ({ x, y: median })),
  }));
}
