/**
 * Which ranks of a communicator share a node, for algorithms that know the difference between a neighbour and a network.
 * The map is fixed when the job starts and the same on every rank, also after a restart elsewhere.
 */

/** The node of each rank; the numbers only say who is together. */
export type NodeMap = readonly number[];

export interface NodeLayout {
  /** Ranks of each node, ascending; nodes in the order of their lowest ranks. */
  readonly members: readonly (readonly number[])[];
  /** Who speaks for each node: the lowest rank, but the root for its own node. */
  readonly leaders: readonly number[];
  /** Index in `members` of each rank's node. */
  readonly nodeOf: readonly number[];
}

export function nodeLayout(nodes: NodeMap, root?: number): NodeLayout {
  const indices = new Map<number, number>();
  const members: number[][] = [];
  const nodeOf = nodes.map((node, rank) => {
    let index = indices.get(node);
    if (index === undefined) {
      index = members.length;
      indices.set(node, index);
      members.push([]);
    }
    members[index]!.push(rank);
    return index;
  });
  const leaders = members.map((ranks) => ranks[0]!);
  if (root !== undefined) leaders[nodeOf[root]!] = root;
  return { members, leaders, nodeOf };
}

/** Is there anything to gain: more than one node, and one that holds more than one rank? */
export function isHierarchy(nodes: NodeMap | undefined): nodes is NodeMap {
  if (nodes === undefined) return false;
  const count = new Set(nodes).size;
  return count > 1 && count < nodes.length;
}
