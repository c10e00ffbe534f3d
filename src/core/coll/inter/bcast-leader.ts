/**
 * Inter-communicator broadcast: the root sends to rank 0 of the other group, which broadcasts inside its group. n bytes
 * pass between the groups.
 */
import { PROC_NULL, ROOT } from "../../base/constants.ts";
import { embed, emptySchedule, sequence } from "../engine/compose.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { InterPlace, Schedule } from "../engine/schedule.ts";
import type { FlatBcast } from "../intra/bcast-hierarchical.ts";

/** ROOT at the root, PROC_NULL at the other ranks of its group, the root's rank in the other group. */
export interface InterRootedPlace extends InterPlace {
  readonly root: number;
}

interface InterBcast extends InterRootedPlace {
  readonly bytes: number;
  readonly inside: FlatBcast;
}

export function interBcastLeader({ rank, localSize, root, bytes, inside }: InterBcast): Schedule {
  const buffer = region("receive", 0, bytes);
  if (root === PROC_NULL) return emptySchedule;
  if (root === ROOT) return new Rounds().add(send(0, buffer)).schedule();
  const arrival = new Rounds();
  if (rank === 0) arrival.add(receive(root, buffer));
  return sequence(arrival.schedule(), embed(inside({ rank, size: localSize, root: 0, bytes }), { group: "local" }));
}
