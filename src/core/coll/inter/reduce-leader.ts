/**
 * Inter-communicator reduce: the group without the root reduces at its rank 0, along the canonical tree of its own size,
 * and rank 0 sends the result to the root. n bytes pass between the groups.
 */
import { PROC_NULL, ROOT } from "../../base/constants.ts";
import { embed, emptySchedule } from "../engine/compose.ts";
import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { InterPlace, Schedule, Vector } from "../engine/schedule.ts";
import { reduceTree } from "../intra/reduce-tree.ts";
import type { InterRootedPlace } from "./bcast-leader.ts";

/** The group's own reduction, its result in scratch at 0 on rank 0; further scratch behind it. */
export function reduceInGroup({ rank, localSize }: InterPlace, vector: Omit<Vector, "inPlace">): Schedule {
  const { bytes, elementBytes } = vector;
  const scratchOffset = rank === 0 ? bytes : 0;
  const inner = reduceTree({ rank, size: localSize, root: 0, bytes, elementBytes });
  const { rounds, scratchBytes } = embed(inner, {
    group: "local",
    receive: { buffer: "scratch", offset: 0 },
    scratchOffset,
  });
  return { rounds, scratchBytes: Math.max(scratchBytes, scratchOffset) };
}

export function interReduceLeader(call: InterRootedPlace & Omit<Vector, "inPlace">): Schedule {
  const { rank, root, bytes } = call;
  if (root === PROC_NULL) return emptySchedule;
  if (root === ROOT) return new Rounds().add(receive(0, region("receive", 0, bytes))).schedule();
  const { rounds, scratchBytes } = reduceInGroup(call, call);
  const all = new Rounds().follow(rounds);
  if (rank === 0) all.add(send(root, region("scratch", 0, bytes)));
  return all.schedule(scratchBytes);
}
