/** How a rank, in either language, has processes started: by its node, which asks the dispatcher. */
import { availableParallelism } from "node:os";
import { noSpawner, type SpawnAnswer, type Spawner } from "../../core/process/spawner.ts";
import type { FromRank, RankSetup } from "../messages/rank-messages.ts";

interface SpawnerPorts {
  say(message: FromRank): void;
  /** Waits until `isOver`, also while the process is asked to stop. */
  settle(isOver: () => boolean): void;
  /** The answer to a spawn, if it has come. */
  nextAnswer(): SpawnAnswer | undefined;
}

/** `refusal`: why no job under this protocol can spawn; null: it can. */
export function rankSpawner(
  { ranks, placement, origin }: Pick<RankSetup, "ranks" | "placement" | "origin">,
  refusal: string | null,
  ports: SpawnerPorts,
): Spawner {
  if (refusal !== null) return noSpawner(ranks, refusal);
  return {
    universe: Math.min(placement.length, ranks + availableParallelism()),
    origin,
    check() {},
    spawn(request) {
      ports.say({ kind: "spawn", request });
      let answer: SpawnAnswer | undefined;
      ports.settle(() => {
        answer = ports.nextAnswer();
        return answer !== undefined;
      });
      return answer!;
    },
  };
}
