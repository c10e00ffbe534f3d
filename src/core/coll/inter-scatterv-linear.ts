/**
 * Inter-communicator scatter and scatterv: the root sends to every rank of the other group, one round.
 */
import { PROC_NULL, ROOT } from "../base/constants.ts";
import { emptySchedule } from "./compose.ts";
import type { InterRootedPlace } from "./inter-bcast-leader.ts";
import { block, Rounds, receive, region, send } from "./rounds.ts";
import type { Blocks, Schedule } from "./schedule.ts";

export interface InterScatterv extends InterRootedPlace {
  /** Of this rank's own block; at the root of nobody's. */
  readonly bytes: number;
  /** Where the blocks for the other group are: at the root only. */
  readonly blocks?: Blocks | undefined;
}

export function interScattervLinear({ root, bytes, blocks }: InterScatterv): Schedule {
  if (root === PROC_NULL) return emptySchedule;
  if (root !== ROOT) return new Rounds().add(receive(root, region("receive", 0, bytes))).schedule();
  const departures = (blocks?.bytes ?? []).map((_, peer) => send(peer, block("send", blocks!, peer)));
  return new Rounds().add(...departures).schedule();
}
