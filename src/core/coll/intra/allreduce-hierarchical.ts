/**
 * Node-aware allreduce along the canonical tree, for short vectors. Inside each node the maximal subtrees that lie wholly on
 * it are folded, and their values brought to the node's leader. The leaders then go up the rest of the tree together, one
 * round a height: a combination of values known to different nodes is done by every node that has a part in it, so
 * each of them is sent, once, the half it lacks. At the top every leader has the result and broadcasts it inside.
 *
 * Between nodes pass as many values as `crossings` counts: with m nodes, each one subtree of the same height, m·log2 m
 * in log2 m rounds. The more the placement scatters neighbours, the more partial values there are: the order is fixed,
 * the traffic is what it costs.
 */

import { assert } from "../../base/assert.ts";
import { embed, sequence } from "../engine/compose.ts";
import {
  type Combination,
  combination,
  heightOf,
  indexAt,
  type ReductionShape,
  reductionShape,
} from "../engine/reduction-order.ts";
import { copy, Rounds, receive, reduce, region, send } from "../engine/rounds.ts";
import type { Place, Region, Schedule, Step, Vector } from "../engine/schedule.ts";
import type { FlatBcast } from "./bcast-hierarchical.ts";
import { type MemberNodes, type NodeLayout, nodeLayout } from "./node-layout.ts";
import { reduceTree } from "./reduce-tree.ts";

interface AllreduceHierarchical extends Place, Vector {
  readonly nodes: MemberNodes;
  readonly inside: FlatBcast;
}

/** A block of the tree: ranks first … end−1, and the nodes (indices, ascending) they are on. */
interface Block {
  readonly first: number;
  readonly end: number;
  readonly nodes: readonly number[];
  /** The two halves, if they are not on one node together. */
  readonly children: readonly Block[];
  /** How many combinations of different nodes' values lie one above the other in it. */
  readonly height: number;
  /** Which node is sent which half, so that every node with a part in the block has both. */
  readonly transfers: readonly Transfer[];
}

/** A node is sent the value of a block. */
interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly value: Block;
}

export function allreduceHierarchical(call: AllreduceHierarchical): Schedule {
  const { rank, size, bytes, elementBytes, nodes, inside, inPlace = false } = call;
  const layout = nodeLayout(nodes);
  const tree = treeOf(size, layout);
  const node = layout.nodeIndices[rank]!;
  const leader = layout.leaders[node]!;
  const subtrees = subtreesOn(tree, node);
  const mine = subtrees.find(({ first, end }) => rank >= first && rank < end)!;
  const holderOf = ({ first, end }: Block) => (leader >= first && leader < end ? leader : first);

  const members = Array.from({ length: mine.end - mine.first }, (_, index) => mine.first + index);
  const folded = reduceTree({
    rank: rank - mine.first,
    size: members.length,
    root: holderOf(mine) - mine.first,
    bytes,
    elementBytes,
  });
  const own = { buffer: inPlace ? "receive" : "send", offset: 0 } as const;
  const slots = new Slots(bytes);
  const value = slots.take();
  const steps = new Rounds().follow(
    embed(folded, { members, send: own, receive: value, scratchOffset: slots.bytes }).rounds,
  );
  let scratchBytes = slots.bytes + folded.scratchBytes;

  if (rank === leader) {
    const values = new Map<Block, Region>([[mine, value]]);
    for (const subtree of subtrees) if (subtree !== mine) values.set(subtree, slots.take());
    steps.add(...subtrees.filter((of) => of !== mine).map((of) => receive(holderOf(of), regionOf(values, of))));
    const result = region("receive", 0, bytes);
    for (let height = 1; height <= tree.height; height++) {
      climb({ rounds: steps, height, tree, node, layout, values, slots, result });
    }
    if (subtrees[0] === tree) steps.add(copy(value, result));
    scratchBytes = Math.max(scratchBytes, slots.bytes);
  } else if (holderOf(mine) === rank) {
    steps.add(send(leader, value));
  }

  const ranks = layout.members[node]!;
  const place = { rank: ranks.indexOf(rank), size: ranks.length, root: ranks.indexOf(leader) };
  return sequence(steps.schedule(scratchBytes), embed(inside({ ...place, bytes }), { members: ranks }));
}

/** How many values pass between nodes. */
export function crossings({ size, nodes }: { readonly size: number; readonly nodes: MemberNodes }): number {
  const count = ({ children, transfers }: Block): number =>
    children.reduce((total, child) => total + count(child), transfers.length);
  return count(treeOf(size, nodeLayout(nodes)));
}

interface Climb {
  readonly rounds: Rounds;
  readonly height: number;
  readonly tree: Block;
  readonly node: number;
  readonly layout: NodeLayout;
  readonly values: Map<Block, Region>;
  readonly slots: Slots;
  readonly result: Region;
}

function regionOf(values: ReadonlyMap<Block, Region>, block: Block): Region {
  const found = values.get(block);
  assert(found !== undefined, "a leader has the values of the blocks that it sends and combines");
  return found;
}

/** One height for one leader: all the messages of the height, then its combinations. */
function climb({ rounds, height, tree, node, layout, values, slots, result }: Climb): void {
  const messages: Step[] = [];
  const combinations: Step[] = [];
  const used: Region[] = [];
  for (const block of blocksAt(height, tree, node)) {
    for (const { from, to, value } of block.transfers) {
      if (from === node) messages.push(send(layout.leaders[to]!, regionOf(values, value)));
      if (to !== node) continue;
      values.set(value, slots.take());
      messages.push(receive(layout.leaders[from]!, regionOf(values, value)));
    }
    const [left, right] = block.children.map((child) => regionOf(values, child)) as [Region, Region];
    const into = block === tree ? result : left;
    combinations.push(reduce(left, right, into));
    values.set(block, into);
    used.push(right);
  }
  rounds.add(...messages, ...combinations);
  // Only now: within the round a slot may still be on its way out.
  for (const slot of used) slots.give(slot);
}

/** Kept, as layouts are: all processes of a simulated world share one tree, which is as large as the world. */
const known = new WeakMap<NodeLayout, Block>();

/** The canonical tree, down to the subtrees that lie on one node. */
function treeOf(size: number, layout: NodeLayout): Block {
  const tree = known.get(layout) ?? newTree(reductionShape(size), layout);
  known.set(layout, tree);
  return tree;
}

function newTree(shape: ReductionShape, { nodeIndices }: NodeLayout): Block {
  const below = (height: number, index: number): Block => {
    const { first, middle, end } = height === 0 ? singleRank(index) : combination(shape, height, index);
    const node = nodeIndices[first]!;
    let together = first + 1;
    while (together < end && nodeIndices[together] === node) together++;
    if (together === end) return { first, end, nodes: [node], children: [], height: 0, transfers: [] };
    const left = below(height - 1, indexAt(shape, height - 1, first));
    const right = below(height - 1, indexAt(shape, height - 1, middle));
    const nodes = [...new Set([...left.nodes, ...right.nodes])].sort((a, b) => a - b);
    const transfers = transfersBetween(left, right);
    return { first, end, nodes, children: [left, right], height: 1 + Math.max(left.height, right.height), transfers };
  };
  return below(heightOf(shape), 0);
}

const singleRank = (rank: number): Combination => ({ first: rank, middle: rank + 1, end: rank + 1 });

/** The maximal subtrees that lie wholly on a node, in the order of the ranks. */
function subtreesOn(block: Block, node: number): Block[] {
  if (!block.nodes.includes(node)) return [];
  if (block.nodes.length === 1) return [block];
  return block.children.flatMap((child) => subtreesOn(child, node));
}

/** Blocks at a height that a node has a part in, in the order of the ranks. */
function blocksAt(height: number, block: Block, node: number): Block[] {
  if (!block.nodes.includes(node) || block.height < height) return [];
  if (block.height === height) return [block];
  return block.children.flatMap((child) => blocksAt(height, child, node));
}

/** Exchanges where possible. */
function transfersBetween(left: Block, right: Block): Transfer[] {
  const [ofLeft, ofRight] = [new Set(left.nodes), new Set(right.nodes)];
  const onlyLeft = left.nodes.filter((node) => !ofRight.has(node));
  const onlyRight = right.nodes.filter((node) => !ofLeft.has(node));
  const spread = (receivers: readonly number[], senders: readonly number[], value: Block): Transfer[] =>
    receivers.map((to, index) => ({ from: senders[index % senders.length]!, to, value }));
  return [
    ...spread(onlyRight, onlyLeft.length > 0 ? onlyLeft : left.nodes, left),
    ...spread(onlyLeft, onlyRight.length > 0 ? onlyRight : right.nodes, right),
  ];
}

/** Places for values in the scratch space, used again when free. */
class Slots {
  readonly #slotBytes: number;
  readonly #free: Region[] = [];
  #count = 0;
  constructor(slotBytes: number) {
    this.#slotBytes = slotBytes;
  }
  take(): Region {
    return this.#free.pop() ?? region("scratch", this.#count++ * this.#slotBytes, this.#slotBytes);
  }
  give(slot: Region): void {
    this.#free.push(slot);
  }
  get bytes(): number {
    return this.#count * this.#slotBytes;
  }
}
