/**
 * Reduce along the canonical tree (`reduction-order.ts`), the result ending at the root without a detour: every rank but
 * the root sends once, n bytes; ⌈log2 p⌉ messages deep (one more on some paths when p is no power of two).
 *
 * Each block of the tree has a holder, the rank that has its combined value. A rank holds itself; of the two holders of a
 * combination's halves one receives, combines and holds the whole, the other is done. The choice is free, because the
 * order of the operands does not depend on it: the root if it is one of them, otherwise the lower. With a node map, a
 * holder on the root's node is preferred, so partial results move towards the root's node as early as they can: every
 * maximal subtree that lies on one node is folded there, and at most one message a combination of different nodes' subtrees
 * passes between nodes.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { combination, heightOf, indexAt, type ReductionShape, reductionShape } from "../engine/reduction-order.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { RootedPlace, Schedule, Vector } from "../engine/schedule.ts";
import type { MemberNodes } from "./node-layout.ts";

interface ReduceTree extends RootedPlace, Vector {
  readonly nodes?: MemberNodes | undefined;
}

export function reduceTree({ rank, size, root, bytes, nodes, inPlace = false }: ReduceTree): Schedule {
  const shape = reductionShape(size);
  const own = region(rank === root && inPlace ? "receive" : "send", 0, bytes);
  const incoming = region("scratch", 0, bytes);
  const value = new Accumulator(own, rank === root ? region("receive", 0, bytes) : region("scratch", bytes, bytes));
  const holder = (height: number, index: number) => holderOf({ shape, height, index, root, nodes });
  const rounds = new Rounds();
  for (let height = 1; height <= heightOf(shape); height++) {
    const index = indexAt(shape, height, rank);
    const { middle, end } = combination(shape, height, index);
    if (middle === end) continue;
    const isLeft = rank < middle;
    const other = holder(height - 1, indexAt(shape, height - 1, isLeft ? middle : middle - 1));
    if (holder(height, index) === other) {
      return rounds.add(send(other, value.current)).schedule(value.current === own ? 0 : 2 * bytes);
    }
    rounds.add(receive(other, incoming), value.combine(incoming, isLeft ? "right" : "left"));
  }
  return rounds.add(...value.settle()).schedule(size > 1 ? bytes : 0);
}

interface HolderQuestion {
  readonly shape: ReductionShape;
  readonly height: number;
  readonly index: number;
  readonly root: number;
  readonly nodes: MemberNodes | undefined;
}

function holderOf(question: HolderQuestion): number {
  const { shape, height, index, root, nodes } = question;
  if (height === 0) return index;
  const { first, middle, end } = combination(shape, height, index);
  if (root >= first && root < end) return root;
  if (nodes === undefined || middle === end) return first;
  const left = holderOf({ ...question, height: height - 1, index: indexAt(shape, height - 1, first) });
  if (nodes[left] === nodes[root]) return left;
  const right = holderOf({ ...question, height: height - 1, index: indexAt(shape, height - 1, middle) });
  return nodes[right] === nodes[root] ? right : left;
}
