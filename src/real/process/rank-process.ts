/** A stand-in until the process is put together: knows who it is, and nothing else. */
export interface RankOptions {
  readonly rank: number;
  readonly size: number;
  /** Node of each rank of the job. */
  readonly nodeOf: readonly number[];
  readonly incarnation: number;
  /** A name of `core/ft/registry.ts`. */
  readonly protocol: string;
  /** `NodeMemory.shared` of this rank's node. */
  readonly memory: unknown;
  /** Where to write trace events, one JSON object a line (Chrome trace format); empty: no trace. */
  readonly traceFile: string;
  /** MPI_Abort: ends the job with that code; does not return. */
  abort(code: number, message: string): never;
  /** Rank 0's value for `await job.done`; throws what `structuredClone` would. */
  result(value: unknown): void;
}

export interface RankProcess {
  /** What programs import as `mpi`. */
  readonly mpi: object;
  /** The thread is ending in order: closes everything and returns how many requests are unfinished. */
  finish(): number;
}

export function createRank(options: RankOptions): RankProcess {
  const { rank, size } = options;
  const mpi = { world: { rank, size }, abort: options.abort, result: options.result };
  return { mpi, finish: () => 0 };
}
