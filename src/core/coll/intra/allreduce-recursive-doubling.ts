/**
 * Recursive doubling allreduce along the canonical tree: log2 p rounds in which the virtual ranks at distance 2^l exchange
 * their values and both combine them; one round more before and after when p is no power of two, for the upper ranks of
 * folded pairs. n bytes sent a round: best for short vectors.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { firstRankOf, isPair, reductionShape, virtualOf } from "../engine/reduction-order.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Place, Schedule, Vector } from "../engine/schedule.ts";

export function allreduceRecursiveDoubling({ rank, size, bytes, inPlace = false }: Place & Vector): Schedule {
  const shape = reductionShape(size);
  const virtual = virtualOf(shape, rank);
  const result = region("receive", 0, bytes);
  const incoming = region("scratch", 0, bytes);
  const own = inPlace ? result : region("send", 0, bytes);
  const value = new Accumulator(own, result);
  const folded = isPair(shape, virtual);
  const rounds = new Rounds();

  if (folded && rank !== firstRankOf(shape, virtual)) {
    return rounds
      .add(send(rank - 1, own))
      .add(receive(rank - 1, result))
      .schedule();
  }
  if (folded) rounds.add(receive(rank + 1, incoming), value.combine(incoming, "right"));
  for (let level = 0; level < shape.levels; level++) {
    const peer = firstRankOf(shape, virtual ^ (1 << level));
    rounds.add(
      send(peer, value.current),
      receive(peer, incoming),
      value.combine(incoming, (virtual >> level) & 1 ? "left" : "right"),
    );
  }
  if (folded) rounds.add(send(rank + 1, result));
  return rounds.add(...value.settle()).schedule(size > 1 ? bytes : 0);
}
