/**
 * Node-aware barrier: the members of a node signal their leader, the leaders run a dissemination barrier, the leaders
 * release their members. Between the m nodes pass m·⌈log2 m⌉ signals, instead of up to p·⌈log2 p⌉.
 */

import { embed, emptySchedule, sequence } from "../engine/compose.ts";
import type { Place, Schedule } from "../engine/schedule.ts";
import { barrierDissemination } from "./barrier-dissemination.ts";
import { barrierFanIn, barrierFanOut } from "./barrier-tree.ts";
import { type MemberNodes, nodeLayout } from "./node-layout.ts";

export function barrierHierarchical({ rank, nodes }: Place & { readonly nodes: MemberNodes }): Schedule {
  const { members, leaders, nodeIndices } = nodeLayout(nodes);
  const node = nodeIndices[rank]!;
  const inside = members[node]!;
  const place = { rank: inside.indexOf(rank), size: inside.length, root: 0 };
  return sequence(
    embed(barrierFanIn(place), { members: inside }),
    leaders[node] === rank
      ? embed(barrierDissemination({ rank: node, size: leaders.length }), { members: leaders })
      : emptySchedule,
    embed(barrierFanOut(place), { members: inside }),
  );
}
