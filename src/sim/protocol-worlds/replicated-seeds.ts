/** Random programs whose ranks are played by several processes each: one line for each protocol. */
import { replication } from "../../core/ft/replication/definition.ts";
import type { SeedOutcome } from "../judge.ts";
import { type ReplicationSeedOptions, runReplicationSeed } from "../replication/run-replication-seed.ts";
import { runRevivalSeed } from "../replication/run-revival-seed.ts";

export const replicatedSeeds: Readonly<Record<string, (options: ReplicationSeedOptions) => SeedOutcome>> = {
  [replication.name]: (options) => {
    const staying = runReplicationSeed(options);
    // The same seed, another program, and the lost come back.
    return staying.violations.length > 0 ? staying : together(staying, runRevivalSeed(options));
  },
};

const together = (one: SeedOutcome, other: SeedOutcome): SeedOutcome => ({
  ...other,
  hash: `${one.hash}${other.hash}`,
  events: one.events + other.events,
  messages: one.messages + other.messages,
  collectives: one.collectives + other.collectives,
  deaths: one.deaths + other.deaths,
});
