/**
 * Allreduce of long vectors: a reduce-scatter by recursive halving (`recursive-halving.ts`), then an allgather by
 * recursive doubling along the same path backwards. 2·log2 p rounds and 2·(1 − 1/p)·n bytes sent by each rank; folded
 * pairs add two rounds and n bytes before, one round and n bytes after. Rabenseifner, 2004.
 *
 * Ranks on one node being neighbours in the tree, the first levels (with the longest messages) stay inside a node where
 * nodes hold equal powers of two of consecutive ranks: then m nodes exchange about 2·n bytes each, however many ranks they have.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { firstRankOf, isPair, reductionShape, virtualOf } from "../engine/reduction-order.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Place, Schedule, Vector } from "../engine/schedule.ts";
import {
  evenBounds,
  foldPair,
  type Halving,
  halve,
  incomingBytes,
  lowerHolder,
  runRegion,
} from "./recursive-halving.ts";

export function allreduceRabenseifner(call: Place & Vector): Schedule {
  const { rank, size, bytes, elementBytes, inPlace = false } = call;
  const shape = reductionShape(size);
  const virtual = virtualOf(shape, rank);
  const result = region("receive", 0, bytes);
  const value = new Accumulator(inPlace ? result : region("send", 0, bytes), result);
  const bounds = evenBounds(shape, bytes, elementBytes);
  const holderOf = lowerHolder(shape);
  const halving: Halving = { rank, shape, elementBytes, bounds, holderOf, scratchOffset: 0 };
  const scratchBytes = incomingBytes(halving);
  const rounds = new Rounds();

  if (!foldPair(rounds, value, halving)) return rounds.add(receive(rank - 1, result)).schedule(scratchBytes);
  halve(rounds, value, halving);
  for (let level = shape.levels - 1; level >= 0; level--) {
    const other = virtual ^ (1 << level);
    rounds.add(
      send(firstRankOf(shape, other), runRegion(result, virtual, level + 1, halving)),
      receive(firstRankOf(shape, other), runRegion(result, other, level + 1, halving)),
    );
  }
  if (isPair(shape, virtual)) rounds.add(send(rank + 1, result));
  return rounds.add(...value.settle()).schedule(scratchBytes);
}
