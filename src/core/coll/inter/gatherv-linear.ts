/**
 * Inter-communicator gather and gatherv: every rank of the other group sends to the root, one round.
 */
import { PROC_NULL, ROOT } from "../../base/constants.ts";
import { emptySchedule } from "../engine/compose.ts";
import { block, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Blocks, Schedule } from "../engine/schedule.ts";
import type { InterRootedPlace } from "./bcast-leader.ts";

export interface InterGatherv extends InterRootedPlace {
  /** Length of this rank's own block; unused at the root. */
  readonly bytes: number;
  /** Where the blocks of the other group go; the root's only. */
  readonly blocks?: Blocks | undefined;
}

export function interGathervLinear({ root, bytes, blocks }: InterGatherv): Schedule {
  if (root === PROC_NULL) return emptySchedule;
  if (root !== ROOT) return new Rounds().add(send(root, region("send", 0, bytes))).schedule();
  const arrivals = blocks?.bytes.map((_, peer) => receive(peer, block("receive", blocks, peer))) ?? [];
  return new Rounds().add(...arrivals).schedule();
}
