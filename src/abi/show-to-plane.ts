/** A communicator in the pass of its process: a data plane can then send and receive on it without the engine (core/p2p/pass.ts). */
import type { CCommunicator } from "./handles/objects.ts";
import type { Program } from "./program.ts";

export function showToPlane({ process }: Program, { core, handle }: CCommunicator): void {
  const { pass } = process;
  if (!pass.isUsed || pass.knowsCommunicator(handle) || core.isInter) return;
  const members = core.peers.worldRanks();
  const isWhole = members.every((world, rank) => world === rank);
  pass.publishCommunicator({ handle, context: core.context, size: members.length, members: isWhole ? null : members });
}
