/**
 * Reduce-scatter by recursive halving (`recursive-halving.ts`): log2 p rounds and (1 − 1/p)·n bytes sent; folded pairs add
 * two rounds and n bytes before and one round after. The input is copied once, into the order in which halving meets the
 * segments, so that each half is one piece.
 *
 * Serves reduce_scatter and, with equal segments, reduce_scatter_block.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { firstRankOf, isPair, reductionShape, virtualOf } from "../engine/reduction-order.ts";
import { block, copy, packed, Rounds, receive, region, send, sum } from "../engine/rounds.ts";
import type { MayBeInPlace, Place, Schedule } from "../engine/schedule.ts";
import { foldPair, type Halving, halve, incomingBytes, lowerHolder, pieceOf } from "./recursive-halving.ts";

export interface ReduceScatter extends Place, MayBeInPlace {
  /** How many bytes of the result go to each rank. The input is all of them, in the order of the ranks. */
  readonly segments: readonly number[];
  readonly elementBytes: number;
}

export function reduceScatterHalving(call: ReduceScatter): Schedule {
  const { rank, size, segments, elementBytes, inPlace = false } = call;
  const shape = reductionShape(size);
  const virtual = virtualOf(shape, rank);
  const input = packed(segments);
  const total = sum(segments);

  /** Ranks in the order of the pieces of their virtual ranks, and where the segment of each lies in the copy. */
  const order: number[] = [];
  const ends = [0];
  const offsetOf: number[] = new Array(size).fill(0);
  let offset = 0;
  for (let piece = 0; piece < 2 ** shape.levels; piece++) {
    const of = pieceOf(piece, shape.levels);
    for (let member = firstRankOf(shape, of); member < firstRankOf(shape, of + 1); member++) {
      order.push(member);
      offsetOf[member] = offset;
      offset += segments[member]!;
    }
    ends.push(offset);
  }
  const segment = (of: number) => region("scratch", offsetOf[of]!, segments[of]!);

  const whole = region("scratch", 0, total);
  const value = new Accumulator(whole, whole);
  const holderOf = lowerHolder(shape);
  const halving: Halving = { rank, shape, elementBytes, bounds: ends, holderOf, scratchOffset: total };
  const scratchBytes = total + incomingBytes(halving);
  const result = region("receive", 0, segments[rank]!);
  const rounds = new Rounds();
  rounds.add(...order.map((of) => copy(block(inPlace ? "receive" : "send", input, of), segment(of))));
  if (!foldPair(rounds, value, halving)) return rounds.add(receive(rank - 1, result)).schedule(scratchBytes);
  halve(rounds, value, halving);
  if (isPair(shape, virtual)) rounds.add(send(rank + 1, segment(rank + 1)));
  return rounds.add(copy(segment(rank), result)).schedule(scratchBytes);
}
