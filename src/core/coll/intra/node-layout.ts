/**
 * Which ranks of a communicator share a node, for algorithms that know the difference between a neighbour and a network.
 * The map is fixed when the job starts and the same on every rank, also after a restart elsewhere.
 */

/** The node of each rank; the numbers only say which ranks are together. */
export type MemberNodes = readonly number[];

export interface NodeLayout {
  /** Ranks of each node, ascending; nodes in the order of their lowest ranks. */
  readonly members: readonly (readonly number[])[];
  /** The leader of each node: its lowest rank, but the root in the root's node. */
  readonly leaders: readonly number[];
  /** Index in `members` of each rank's node. */
  readonly nodeIndices: readonly number[];
}

/** Maps never change, and all processes of a simulated world share one: it is read once, not once for each of them. */
const known = new WeakMap<MemberNodes, NodeLayout>();

export function nodeLayout(nodes: MemberNodes, root?: number): NodeLayout {
  let layout = known.get(nodes);
  if (layout === undefined) {
    layout = layoutOf(nodes);
    known.set(nodes, layout);
  }
  if (root === undefined) return layout;
  const leaders = [...layout.leaders];
  leaders[layout.nodeIndices[root]!] = root;
  return { ...layout, leaders };
}

function layoutOf(nodes: MemberNodes): NodeLayout {
  const indices = new Map<number, number>();
  const members: number[][] = [];
  const nodeIndices = nodes.map((node, rank) => {
    let index = indices.get(node);
    if (index === undefined) {
      index = members.length;
      indices.set(node, index);
      members.push([]);
    }
    members[index]!.push(rank);
    return index;
  });
  return { members, leaders: members.map((ranks) => ranks[0]!), nodeIndices };
}

/** Is there anything to gain: more than one node, and one that holds more than one rank? */
export function isHierarchy(nodes: MemberNodes | undefined): nodes is MemberNodes {
  if (nodes === undefined) return false;
  const count = nodeLayout(nodes).members.length;
  return count > 1 && count < nodes.length;
}
