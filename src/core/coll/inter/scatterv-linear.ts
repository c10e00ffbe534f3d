/**
 * Inter-communicator scatter and scatterv: the root sends to every rank of the other group, one round.
 */
import { PROC_NULL, ROOT } from "../../base/constants.ts";
import { emptySchedule } from "../engine/compose.ts";
import { block, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Blocks, Schedule } from "../engine/schedule.ts";
import type { InterRootedPlace } from "./bcast-leader.ts";

export interface InterScatterv extends InterRootedPlace {
  /** Length of this rank's own block; unused at the root. */
  readonly bytes: number;
  /** Where the blocks for the other group are; the root's only. */
  readonly blocks?: Blocks | undefined;
}

export function interScattervLinear({ root, bytes, blocks }: InterScatterv): Schedule {
  if (root === PROC_NULL) return emptySchedule;
  if (root !== ROOT) return new Rounds().add(receive(root, region("receive", 0, bytes))).schedule();
  const departures = blocks?.bytes.map((_, peer) => send(peer, block("send", blocks, peer))) ?? [];
  return new Rounds().add(...departures).schedule();
}
