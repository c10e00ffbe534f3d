/**
 * Node-aware broadcast: among one leader per node (the root leads its own), then inside every node. With the binomial tree
 * among m leaders exactly (m − 1)·n bytes pass between nodes. Which flat broadcast runs at the two levels is the
 * caller's choice.
 */
import { embed, emptySchedule, sequence } from "../engine/compose.ts";
import type { RootedPlace, Schedule } from "../engine/schedule.ts";
import { type MemberNodes, nodeLayout } from "./node-layout.ts";

export type FlatBcast = (place: RootedPlace & { readonly bytes: number }) => Schedule;

interface BcastHierarchical extends RootedPlace {
  readonly bytes: number;
  readonly nodes: MemberNodes;
  readonly among: FlatBcast;
  readonly inside: FlatBcast;
}

export function bcastHierarchical({ rank, root, bytes, nodes, among, inside }: BcastHierarchical): Schedule {
  const { members, leaders, nodeIndices } = nodeLayout(nodes, root);
  const node = nodeIndices[rank]!;
  const ranks = members[node]!;
  const leader = leaders[node]!;
  return sequence(
    rank === leader
      ? embed(among({ rank: node, size: leaders.length, root: nodeIndices[root]!, bytes }), { members: leaders })
      : emptySchedule,
    embed(inside({ rank: ranks.indexOf(rank), size: ranks.length, root: ranks.indexOf(leader), bytes }), {
      members: ranks,
    }),
  );
}
