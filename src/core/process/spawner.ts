/**
 * How a process has others started while the job runs (MPI 5.0 §11.8), and what those know when they start. The port by which
 * a binding asks its world; requests and answers are plain data, because they cross to the dispatcher.
 */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";

/** One command of MPI_Comm_spawn_multiple. */
export interface SpawnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly processes: number;
  /** Folders to look for it in, the info key `path`; empty: not said. */
  readonly path: string;
  /** The folder that it shall take for the current one, `wdir`; empty: not said. */
  readonly folder: string;
}

/** Both sides come from context and count to the context of their inter-communicator. */
export interface SpawnRequest {
  readonly commands: readonly SpawnCommand[];
  /** The processes that will be connected to them: the group of the communicator, in its order. */
  readonly parents: readonly number[];
  readonly context: number;
  readonly count: number;
}

export type SpawnAnswer =
  /** They are there, in the order of the commands. */
  | { readonly kind: "spawned"; readonly children: readonly number[] }
  | { readonly kind: "refused"; readonly why: string }
  /** The job is being frozen: ask again when it goes on. */
  | { readonly kind: "later" };

/** The knowledge that a spawned process starts with. */
export interface Origin extends Pick<SpawnRequest, "parents" | "context" | "count"> {
  /** The processes of its world, which were spawned together. */
  readonly world: readonly number[];
  /** Which of the commands it runs: MPI_APPNUM. */
  readonly command: number;
}

export interface Spawner {
  /** MPI_UNIVERSE_SIZE: how many processes are worth having. No bound: more may be spawned. */
  readonly universe: number;
  /** Null: the process is one of the job's own ranks. */
  readonly origin: Origin | null;
  /** Throws UNSUPPORTED_OPERATION where no process can be started, on all processes alike. */
  check(): void;
  /** Waits for the answer, also while the process is asked to stop. */
  spawn(request: SpawnRequest): SpawnAnswer;
}

/** The spawner of a world that cannot grow. */
export function noSpawner(ranks: number, why: string): Spawner {
  const refuse = (): never => {
    throw new MpiError(ErrorClass.UNSUPPORTED_OPERATION, `Cannot spawn processes: ${why}`);
  };
  return { universe: ranks, origin: null, check: refuse, spawn: refuse };
}
