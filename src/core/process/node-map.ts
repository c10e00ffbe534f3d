/**
 * The program's node map: the node that each rank counts as being on in everything that a program can see or that depends on what it
 * sees (splits by node, hierarchical collectives and with them the order of messages, processor names). It is fixed when the job starts and the
 * same in every life and in every replica (rule 6), so images assume it and do not hold it.
 *
 * Where a process runs now is another thing, its place in the `Placement` (core/service). A job starts with the two alike; a rank
 * that begins again, or goes on, on another node takes its node of this map along.
 */
import type { BrandedTable, CommRank } from "../base/brand.ts";
import type { MemberNodes } from "../coll/intra/node-layout.ts";
import type { Group } from "../comm/group.ts";

/** By rank: those of the job, then those that may be spawned. */
export type NodeMap = BrandedTable<"NodeMap">;

/** The map of a job that starts with its ranks on these nodes. */
export const nodeMapOf = (nodes: readonly number[]): NodeMap => nodes as NodeMap;

/**
 * By node map and group; null: all members are on one node. The table is as long as its group, so it is made when it is asked for, and once for
 * each group: the processes of a simulated world share the group of the world.
 */
const known = new WeakMap<NodeMap, WeakMap<Group, MemberNodes | null>>();

/** Node of each member of a group; null when all of them are on one. */
export function memberNodesOf(group: Group, nodeMap: NodeMap): MemberNodes | null {
  const ofJob = known.get(nodeMap) ?? new WeakMap<Group, MemberNodes | null>();
  known.set(nodeMap, ofJob);
  const found = ofJob.get(group);
  if (found !== undefined) return found;
  const nodes = make(group, nodeMap);
  ofJob.set(group, nodes);
  return nodes;
}

function make(group: Group, nodeMap: NodeMap): MemberNodes | null {
  const nodes: number[] = [];
  let isMixed = false;
  for (let rank = 0; rank < group.size; rank++) {
    const node = nodeMap[group.worldRank(rank as CommRank)]!;
    isMixed ||= node !== nodes[0] && rank > 0;
    nodes.push(node);
  }
  return isMixed ? nodes : null;
}
