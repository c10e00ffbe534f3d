/**
 * Which node each member of a group is on. A map is as long as its group, so it is made when somebody asks, and made once
 * for a group: the processes of a simulated world share the group of the world, and with it the map.
 */
import type { CommRank } from "../base/brand.ts";
import type { NodeMap } from "../coll/node-layout.ts";
import type { Group } from "../comm/group.ts";

/** By the placement of a job and the group; null: all members are on one node. */
const known = new WeakMap<Int32Array, WeakMap<Group, NodeMap | null>>();

/** Node of each member; null when all of them are on one. `nodeOf` is that of every world rank. */
export function nodeMapOf(group: Group, nodeOf: Int32Array): NodeMap | null {
  const ofJob = known.get(nodeOf) ?? new WeakMap<Group, NodeMap | null>();
  known.set(nodeOf, ofJob);
  const found = ofJob.get(group);
  if (found !== undefined) return found;
  const map = make(group, nodeOf);
  ofJob.set(group, map);
  return map;
}

function make(group: Group, nodeOf: Int32Array): NodeMap | null {
  const nodes: number[] = [];
  let isMixed = false;
  for (let rank = 0; rank < group.size; rank++) {
    const node = nodeOf[group.worldRank(rank as CommRank)]!;
    isMixed ||= node !== nodes[0] && rank > 0;
    nodes.push(node);
  }
  return isMixed ? nodes : null;
}
