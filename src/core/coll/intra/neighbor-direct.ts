/**
 * Neighbourhood collectives: one round, a message to every destination and one from every source, n bytes along each edge.
 * Serves neighbor_allgather(v) and neighbor_alltoall(v, w): sizes and places are bytes.
 *
 * The lists may name a rank more than once, or PROC_NULL, whose block stays untouched. Of several edges between two ranks the
 * k-th in one rank's list of destinations is the k-th in the other's list of sources. A Cartesian grid is different: a message
 * sent in the negative direction comes from the positive one (MPI 4.1, section 8.6), which matters when a periodic dimension
 * has 1 or 2 ranks and both neighbours are the same process. Its lists are pairs (negative, positive), so receives are posted
 * with the two of each pair swapped.
 */
import { PROC_NULL } from "../../base/constants.ts";
import { block, copy, Rounds, receive, send } from "../engine/rounds.ts";
import type { Blocks, Region, Schedule, Step } from "../engine/schedule.ts";

export interface Neighbourhood {
  readonly rank: number;
  readonly sources: readonly number[];
  readonly destinations: readonly number[];
  readonly cartesian?: boolean;
}

export interface NeighborAlltoall extends Neighbourhood {
  /** The block for each destination. In an allgather they are all the same. */
  readonly sends: Blocks;
  /** Where the block from each source goes. */
  readonly receives: Blocks;
}

export function neighborDirect(call: NeighborAlltoall): Schedule {
  const { rank, sources, destinations, sends, receives, cartesian = false } = call;
  const messages: Step[] = [];
  /** A rank may be its own neighbour; its messages to itself are copies, matched in the same order. */
  const fromSelf: Region[] = [];
  const toSelf: Region[] = [];
  for (const [index, peer] of destinations.entries()) {
    const leaving = block("send", sends, index);
    if (peer === rank) fromSelf.push(leaving);
    else if (peer !== PROC_NULL) messages.push(send(peer, leaving));
  }
  for (let at = 0; at < sources.length; at++) {
    const index = cartesian ? at ^ 1 : at;
    const peer = sources[index]!;
    const place = block("receive", receives, index);
    if (peer === rank) toSelf.push(place);
    else if (peer !== PROC_NULL) messages.push(receive(peer, place));
  }
  const copies = fromSelf.slice(0, toSelf.length).map((from, index) => {
    const to = toSelf[index]!;
    const bytes = Math.min(from.bytes, to.bytes);
    return copy({ ...from, bytes }, { ...to, bytes });
  });
  return new Rounds().add(...messages, ...copies).schedule();
}
