/** Random programs whose ranks are played by several processes each: one line for each protocol. */
import { replication } from "../../core/ft/replication/definition.ts";
import type { ComparedBy } from "../../core/ft/replication/options.ts";
import type { SeedOutcome } from "../judge.ts";
import { runComparingSeed } from "../replication/run-comparing-seed.ts";
import { type ReplicationSeedOptions, runReplicationSeed } from "../replication/run-replication-seed.ts";
import { runReturnSeed } from "../replication/run-return-seed.ts";
import { runRevivalSeed } from "../replication/run-revival-seed.ts";

/** In one of so many seeds all is lost besides, and the job goes back to a checkpoint: of one world, or of all that compare messages. */
const backEvery = 4;
const backOfWorld = 1;
const backOfAll = 3;

/** In two of so many seeds messages are compared byte by byte, otherwise by hashes. */
const wholeEvery = 5;
const comparedBy = (seed: number): ComparedBy => (seed % wholeEvery < 2 ? "whole" : "hash");

export const replicatedSeeds: Readonly<Record<string, (options: ReplicationSeedOptions) => SeedOutcome>> = {
  [replication.name]: (options) => {
    const comparing = comparedBy(options.seed);
    const staying = runReplicationSeed(options);
    if (staying.violations.length > 0) return staying;
    // The same seed, other programs: the lost come back, and messages are compared.
    const returning = together(
      staying,
      runRevivalSeed({ ...options, comparing: options.seed % 2 === 0 ? comparing : undefined }),
    );
    if (returning.violations.length > 0) return returning;
    const compared = together(returning, runComparingSeed({ ...options, comparing }));
    const place = options.seed % backEvery;
    if (compared.violations.length > 0 || (place !== backOfWorld && place !== backOfAll)) return compared;
    const { seed, ranks, replicas, events, often, listener } = options;
    const back = { seed, ranks, replicas, events, often, listener };
    return together(compared, runReturnSeed(place === backOfAll ? { ...back, comparing } : back));
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
