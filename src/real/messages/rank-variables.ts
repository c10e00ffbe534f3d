/**
 * What a rank finds in its environment under the names that launchers of other MPIs give it, so that scripts and libraries which look there
 * before MPI_Init find their rank: Open MPI's, and those of PMI, which MPICH and its descendants have.
 */
import type { Origin } from "../../core/process/spawner.ts";

interface RankInJob {
  readonly rank: number;
  readonly ranks: number;
  /** Node of each process, as programs see it. */
  readonly nodeMap: ArrayLike<number>;
  /** Of a spawned process: the ranks of its world; null: one of the job's own. */
  readonly origin: Origin | null;
}

export function rankVariables({ rank, ranks, nodeMap, origin }: RankInJob): Record<string, string> {
  const world = origin?.world ?? Array.from({ length: ranks }, (_, each) => each);
  const here = world.filter((other) => nodeMap[other] === nodeMap[rank]);
  const own = `${world.indexOf(rank)}`;
  const size = `${world.length}`;
  const local = `${here.indexOf(rank)}`;
  return {
    OMPI_COMM_WORLD_RANK: own,
    OMPI_COMM_WORLD_SIZE: size,
    OMPI_COMM_WORLD_LOCAL_RANK: local,
    OMPI_COMM_WORLD_LOCAL_SIZE: `${here.length}`,
    OMPI_COMM_WORLD_NODE_RANK: local,
    OMPI_UNIVERSE_SIZE: size,
    PMI_RANK: own,
    PMI_SIZE: size,
    MPI_LOCALRANKID: local,
    MPI_LOCALNRANKS: `${here.length}`,
  };
}
