/** Spawning (MPI 5.0 §11.8), as both faces do it: the checks, and the root's question to its world. */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import type { Communicator } from "../process/communicator.ts";
import type { SpawnOutcome } from "../process/communicators/spawn.ts";
import type { SpawnCommand, Spawner } from "../process/spawner.ts";
import type { NamedCommunicator } from "./checks.ts";
import type { Operations } from "./operations.ts";

/** Throws where these processes cannot spawn, on all of them alike. */
export function checkSpawning({ core, label }: NamedCommunicator, root: number, spawner: Spawner): void {
  const { isInter, size } = core;
  if (isInter) throw new MpiError(ErrorClass.COMM, `Cannot spawn: communicator ${label} is an inter-communicator`);
  if (!Number.isInteger(root) || root < 0 || root >= size)
    throw new MpiError(ErrorClass.ROOT, `Cannot spawn from root ${root}: the ranks are 0 to ${size - 1}`);
  spawner.check();
}

/** What the root asks for and gets; null: the job is being frozen, and the root has to ask again. */
export function askToSpawn(
  operations: Pick<Operations, "failedOf" | "isRevoked">,
  spawner: Spawner,
  comm: Communicator,
  commands: readonly SpawnCommand[],
): SpawnOutcome | null {
  const { group, context, children: count } = comm;
  const wanted = commands.reduce((sum, { processes }) => sum + Math.max(processes, 0), 0);
  const refused = (error: number, why: string): SpawnOutcome => ({ error, why, wanted, children: [] });
  const wrong = commands.find(({ processes }) => !Number.isInteger(processes) || processes < 0);
  if (wrong !== undefined) return refused(ErrorClass.ARG, `${wrong.processes} of ${wrong.command} cannot be started`);
  if (wanted === 0) return refused(ErrorClass.ARG, "none are wanted; ask for at least one");
  // Processes that are started all the same would find nobody to meet.
  if (operations.isRevoked(comm)) return refused(ErrorClass.REVOKED, "the communicator is revoked");
  if (operations.failedOf(comm).size > 0)
    return refused(ErrorClass.PROC_FAILED, "a member of the communicator has failed");
  const answer = spawner.spawn({ commands, parents: group.worldRanks(), context, count });
  if (answer.kind === "later") return null;
  if (answer.kind === "refused") return refused(ErrorClass.SPAWN, answer.why);
  return { error: 0, why: "", wanted, children: answer.children };
}
