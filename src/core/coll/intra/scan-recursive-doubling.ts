/**
 * Inclusive scan: ⌈log2 p⌉ rounds, in round k rank r sends what it has to r + 2^k and combines what comes from r − 2^k on
 * the left. Hillis and Steele, 1986.
 *
 * The order of combination, and so every bit of the result, depends on r alone, not even on p. With W(r, w) for the value
 * over the last w ranks up to r (fewer at the beginning), W(r, 1) = x(r), W(r, 2w) = W(r − w, w) ∘ W(r, w), and the result
 * is W(r, w) for the first power of two w > r. On rank 2^k − 1 this is the canonical tree of a reduction over 2^k ranks.
 */
import { Accumulator } from "../engine/accumulator.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Place, Schedule, Vector } from "../engine/schedule.ts";

export function scanRecursiveDoubling({ rank, size, bytes, inPlace = false }: Place & Vector): Schedule {
  const result = region("receive", 0, bytes);
  const incoming = region("scratch", 0, bytes);
  const value = new Accumulator(inPlace ? result : region("send", 0, bytes), result);
  const rounds = new Rounds();
  for (let distance = 1; distance < size; distance *= 2) {
    const leaving = rank + distance < size ? [send(rank + distance, value.current)] : [];
    const coming = rank >= distance ? [receive(rank - distance, incoming), value.combine(incoming, "left")] : [];
    rounds.add(...leaving, ...coming);
  }
  return rounds.add(...value.settle()).schedule(rank > 0 ? bytes : 0);
}
