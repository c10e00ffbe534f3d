/**
 * Bruck allgather of equal blocks: ⌈log2 p⌉ rounds for any p, (p − 1)·n bytes sent by each rank, and one local copy of
 * everything at the end. Bruck, Ho, Kipnis, Upfal and Weathersby, 1997.
 *
 * Rank r collects blocks r, r + 1, r + 2 … in that order: before round k it has the first 2^k of them and gets the next ones
 * from r + 2^k, whose own run begins there. The copy rotates the run, so that block 0 comes first.
 */

import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Schedule } from "../engine/schedule.ts";
import type { AllgatherEqual } from "./allgather-recursive-doubling.ts";

export function allgatherBruck({ rank, size, bytes, inPlace = false }: AllgatherEqual): Schedule {
  const rounds = new Rounds();
  const own = inPlace ? region("receive", rank * bytes, bytes) : region("send", 0, bytes);
  const run = (first: number, count: number) => region("scratch", first * bytes, count * bytes);
  if (size === 1) return rounds.add(...(inPlace ? [] : [copy(own, region("receive", 0, bytes))])).schedule();
  for (let have = 1; have < size; have *= 2) {
    const count = Math.min(have, size - have);
    rounds.add(
      send((rank - have + size) % size, have === 1 ? own : run(0, count)),
      receive((rank + have) % size, run(have, count)),
    );
    if (have === 1) rounds.add(copy(own, run(0, 1)));
  }
  const toEnd = size - rank;
  rounds.add(
    copy(run(0, toEnd), region("receive", rank * bytes, toEnd * bytes)),
    copy(run(toEnd, rank), region("receive", 0, rank * bytes)),
  );
  return rounds.schedule(size * bytes);
}
