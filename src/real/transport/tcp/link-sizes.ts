/**
 * How large a link's buffers are. A rank may have a link to every rank of every other node, and they all lie in the node's
 * memory: with many ranks they become smaller, so that they never take more than a quarter of it.
 *
 * Both sides of a link must agree on the largest eager message, so only facts that are the same on every node count here.
 *
 * Eager up to 128 KiB, measured (half round trip in µs, 2 cores x86-64): 64 KiB eager 19.5; 128 KiB eager 30, by rendezvous
 * 43, Open MPI 33. Beyond that two more copies cost as much as the handshake.
 */

import { assert } from "../../../core/base/assert.ts";
import { type Placement, placementOf } from "../../../core/service/placement.ts";

const eagerBytesMost = 128 * 1024;
const eagerBytesLeast = 4 * 1024;
/** Buffers in units of the largest eager message: frames kept until they are read, and frames that arrive. */
const outUnits = 4;
const inUnits = 2;

export interface LinkSizes {
  readonly eagerBytesMax: number;
  readonly outBytes: number;
}

interface LinkSizesOptions {
  readonly placement: Placement;
  /** Size of a node's memory, the same on all of them. */
  readonly memoryBytes: number;
}

/**
 * Those of a rank's links, by the peer. Links of processes that are spawned have a quarter of the memory of their own, as small
 * as it takes for all that there can be; so those between the job's own ranks are as if no process could be spawned.
 */
export function linkSizesBetween(
  options: LinkSizesOptions & { readonly rank: number; readonly ranks: number },
): (peer: number) => LinkSizes {
  const { rank, ranks, placement, memoryBytes } = options;
  const own = linkSizes({ placement: placementOf(placement.slice(0, ranks)), memoryBytes });
  const spawned = linkSizes({ placement, memoryBytes });
  return (peer) => (Math.max(rank, peer) < ranks ? own : spawned);
}

export function linkSizes({ placement, memoryBytes }: LinkSizesOptions): LinkSizes {
  const ranksOf = new Map<number, number>();
  for (const node of placement) ranksOf.set(node, (ranksOf.get(node) ?? 0) + 1);
  let links = 1;
  for (const here of ranksOf.values()) links = Math.max(links, here * (placement.length - here));
  const share = memoryBytes / 4 / links / (outUnits + inUnits);
  let eagerBytesMax = eagerBytesMost;
  while (eagerBytesMax > eagerBytesLeast && eagerBytesMax > share) eagerBytesMax /= 2;
  assert(eagerBytesMax % 64 === 0, "frames are whole cache lines");
  return { eagerBytesMax, outBytes: outUnits * eagerBytesMax };
}

/** Are links as large under each of these placements, on every node? Those that go on would not agree with those that begin otherwise. */
export function areLinksAlike(
  placements: readonly (readonly number[])[],
  memoryBytesOf: (processes: number) => number,
): boolean {
  const sizes = placements.flatMap((placement) =>
    [...new Set(placement)].map((node) => {
      const memoryBytes = memoryBytesOf(placement.filter((other) => other === node).length);
      return linkSizes({ placement: placementOf(placement), memoryBytes }).eagerBytesMax;
    }),
  );
  return new Set(sizes).size <= 1;
}
