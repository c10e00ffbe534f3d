/** Random programs whose ranks are played by several processes each: one line for each protocol. */
import { replication } from "../../core/ft/replication/definition.ts";
import { runReplicationSeed } from "../replication/run-replication-seed.ts";

export const replicatedSeeds: Readonly<Record<string, typeof runReplicationSeed>> = {
  [replication.name]: runReplicationSeed,
};
