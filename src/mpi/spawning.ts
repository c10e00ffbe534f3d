/** Processes that a program starts while the job runs (MPI 5.0 §11.8): both sides of `spawn`. */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { askToSpawn, checkSpawning } from "../core/binding/spawning.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { MeetParents } from "../core/process/communicators/meet-parents.ts";
import { Spawn, type SpawnOutcome } from "../core/process/communicators/spawn.ts";
import type { SpawnCommand } from "../core/process/spawner.ts";
import type { Environment } from "./environment.ts";
import type { Owner } from "./owner.ts";

export interface SpawnOptions {
  /** `process.argv` behind the program's name. */
  readonly args?: readonly string[];
  /** How many processes; 1 unless given. */
  readonly count?: number;
}

export interface SpawnedProgram extends SpawnOptions {
  /** A file, or its URL; names that are not whole are meant from the current folder, then from the job's own program. */
  readonly program: string | URL;
}

/** The parents' side. Only the root's programs count; the inter-communicator of parents and children. */
export function spawn(
  { host, operations }: Environment,
  owner: Owner,
  root: number,
  programs: readonly SpawnedProgram[],
): CoreCommunicator {
  const { core } = owner;
  checkSpawning(owner, root, host.spawner);
  let outcome: SpawnOutcome | null = null;
  if (core.rank === root) {
    const commands = programs.map(commandOf);
    do outcome = askToSpawn(operations, host.spawner, core, commands);
    while (outcome === null);
  }
  const task = new Spawn(core, root, outcome);
  return made(task, operations, () => task.outcome?.why);
}

/** The children's side, before their program begins; null: the process was not spawned. */
export function parentsMet({ host, operations }: Environment): CoreCommunicator | null {
  const { origin } = host.spawner;
  if (origin === null) return null;
  return made(new MeetParents(origin), operations, () => undefined);
}

function made(
  task: Spawn | MeetParents,
  operations: Environment["operations"],
  why: () => string | undefined,
): CoreCommunicator {
  const request = operations.startTask(task);
  operations.wait(request);
  operations.end(request);
  const { error, result } = task;
  if (error === 0) return result!;
  throw new MpiError(
    error,
    `Cannot spawn processes: ${why() || reasons.get(error) || "parents and children did not meet"}`,
  );
}

const reasons = new Map<number, string>([
  [ErrorClass.PROC_FAILED, "a process that takes part has failed"],
  [ErrorClass.REVOKED, "the communicator is revoked"],
]);

function commandOf({ program, args = [], count = 1 }: SpawnedProgram): SpawnCommand {
  const command = program instanceof URL ? decodeURIComponent(program.pathname) : program;
  return { command, args, processes: count, path: "", folder: "" };
}
