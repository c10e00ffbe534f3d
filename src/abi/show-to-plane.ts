/** A communicator in the pass of its process: a data plane can then send and receive on it without the engine (core/p2p/pass.ts). */
import type { CCommunicator } from "./handles/objects.ts";
import type { Program } from "./program.ts";

export function showToPlane({ process }: Program, { core, handle }: CCommunicator): void {
  const { pass } = process;
  if (!pass.isUsed || pass.knowsCommunicator(handle) || core.isInter) return;
  const members = core.peers.worldRanks();
  const isWhole = members.every((world, rank) => world === rank);
  pass.publishCommunicator({
    handle,
    context: core.context,
    size: members.length,
    members: isWhole ? null : members,
    seat: core.board?.seat?.address ?? 0,
  });
}

/** A send by the short way, or a collective, is over: perhaps the next call needs no engine. (Receives, which wait, end with the same question.) */
export function passOpens(program: Program, comm: CCommunicator): void {
  if (!program.process.pass.isUsed) return;
  showToPlane(program, comm);
  program.process.openPass();
}
