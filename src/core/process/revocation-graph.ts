/**
 * The graph over which revocations travel: the member with number i among the p that live tells those with the numbers i + 1, i + 2,
 * i + 4 … modulo p, as in the ring of Chord (Stoica, Morris, Karger, Kaashoek and Balakrishnan, 2001). Every member is at most
 * ⌈log2 p⌉ steps from every other, and the steps of one make a ring of all that live: the graph is strongly connected whoever has died.
 */
import { LivingMembers } from "./living-members.ts";

/** The places of those whom the member at `place` tells, the farthest first; `dead`: places, in any order. */
export function neighboursOf(place: number, members: number, dead: readonly number[]): number[] {
  const living = new LivingMembers(members, dead);
  const number = living.numberOf(place);
  const places: number[] = [];
  for (let step = 1; step < living.size; step *= 2) places.push(living.placeOf((number + step) % living.size));
  return places.reverse();
}
