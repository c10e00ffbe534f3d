/**
 * Reduce of long vectors: a reduce-scatter by recursive halving (`recursive-halving.ts`), then the pieces are gathered at the
 * root along the same path backwards. 2·log2 p rounds, about 2·n bytes through the root, where the tree of
 * `reduce-tree.ts` needs n·log2 p. Rabenseifner, 2004.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { reductionShape, virtualOf } from "../engine/reduction-order.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { RootedPlace, Schedule, Vector } from "../engine/schedule.ts";
import {
  evenBounds,
  foldPair,
  type Halving,
  halve,
  incomingBytes,
  rootHolder,
  runRegion,
} from "./recursive-halving.ts";

export function reduceRabenseifner(call: RootedPlace & Vector): Schedule {
  const { rank, size, root, bytes, elementBytes, inPlace = false } = call;
  const shape = reductionShape(size);
  const virtual = virtualOf(shape, rank);
  const own = region(rank === root && inPlace ? "receive" : "send", 0, bytes);
  const bounds = evenBounds(shape, bytes, elementBytes);
  const holderOf = rootHolder(shape, root);
  const whole = rank === root ? region("receive", 0, bytes) : region("scratch", 0, bytes);
  const scratchOffset = rank === root ? 0 : bytes;
  const halving: Halving = { rank, shape, elementBytes, bounds, holderOf, scratchOffset };
  const scratchBytes = scratchOffset + incomingBytes(halving);
  const value = new Accumulator(own, whole);
  const rounds = new Rounds();

  if (!foldPair(rounds, value, halving)) return rounds.schedule(scratchBytes);
  halve(rounds, value, halving);
  const virtualOfRoot = virtualOf(shape, root);
  for (let level = shape.levels - 1; level >= 0; level--) {
    const other = virtual ^ (1 << level);
    if (((virtual ^ virtualOfRoot) >> level) & 1) {
      return rounds.add(send(holderOf(other), runRegion(whole, virtual, level + 1, halving))).schedule(scratchBytes);
    }
    rounds.add(receive(holderOf(other), runRegion(whole, other, level + 1, halving)));
  }
  return rounds.add(...value.settle()).schedule(scratchBytes);
}
