import type { WorldRank } from "../../base/brand.ts";
import type { Group } from "../../comm/group.ts";
import { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";

/** A communicator for messages of a task among some members, in the context of one that exists; it is never given out. */
export function draftOf(process: Process, context: number, group: Group): Communicator {
  return new Communicator({ context, group, world: process.rank as WorldRank, nodeMap: process.nodeMap });
}
