/**
 * Exclusive scan: every rank passes its contribution one rank up, then ranks 1 … p−1 scan what they got. 1 + ⌈log2(p − 1)⌉
 * rounds. Rank r gets, bit for bit, the inclusive scan's result of rank r − 1; the result on rank 0 is left untouched.
 */
import { embed } from "../engine/compose.ts";
import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Place, Schedule, Vector } from "../engine/schedule.ts";
import { scanRecursiveDoubling } from "./scan-recursive-doubling.ts";

export function exscanShifted(call: Place & Vector): Schedule {
  const { rank, size, bytes, inPlace = false } = call;
  const result = region("receive", 0, bytes);
  /** In place the contribution is copied aside: the neighbour's may arrive before it has left. */
  const aside = region("scratch", 0, bytes);
  const own = inPlace ? aside : region("send", 0, bytes);
  const rounds = new Rounds();
  if (inPlace && rank + 1 < size) rounds.add(copy(result, aside));
  rounds.add(...(rank + 1 < size ? [send(rank + 1, own)] : []), ...(rank > 0 ? [receive(rank - 1, result)] : []));
  if (rank === 0) return rounds.schedule(inPlace ? bytes : 0);
  const members = Array.from({ length: size - 1 }, (_, index) => index + 1);
  const scan = embed(scanRecursiveDoubling({ ...call, rank: rank - 1, size: size - 1, inPlace: true }), { members });
  return rounds.follow(scan.rounds).schedule(bytes);
}
