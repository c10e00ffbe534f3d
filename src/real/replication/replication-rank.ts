/** Replication in a rank's thread: what it finds out of the other replicas goes to the job. */
import { divergedWords } from "../../core/ft/replication/comparing/divergence.ts";
import { suspectedWords } from "../../core/ft/replication/comparing/suspicion.ts";
import type { ReplicationResources } from "../../core/ft/replication/definition.ts";
import type { RankPart, RankPartSetup } from "../part-hosts/rank-part.ts";

export function replicationRank({ say }: RankPartSetup): RankPart {
  const resources: ReplicationResources = {
    diverged: (divergence) => say(divergedWords(divergence)),
    suspect: (suspicion) => say(suspectedWords(suspicion)),
  };
  return { resources, napper: null };
}
