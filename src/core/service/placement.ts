/** Ranks in blocks over nodes: when they do not divide evenly the first nodes hold one more. */
export function nodeOfRanks(ranks: number, nodes: number): number[] {
  const smaller = Math.floor(ranks / nodes);
  const largerNodes = ranks % nodes;
  const nodeOf: number[] = [];
  for (let node = 0; node < nodes; node++) {
    const held = node < largerNodes ? smaller + 1 : smaller;
    for (let i = 0; i < held; i++) nodeOf.push(node);
  }
  return nodeOf;
}

/** The ranks of one node, ascending. */
export function ranksOfNode(nodeOf: readonly number[], node: number): number[] {
  return nodeOf.flatMap((itsNode, rank) => (itsNode === node ? [rank] : []));
}
