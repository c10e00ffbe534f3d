/** Options of replication. */
import { type CheckpointOptions, checkCheckpoints, checkpointOptions, checkpointPlan } from "../checkpoint-options.ts";
import type { JobFacts, PlannedFlip } from "../definition.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";
import { replicasMax } from "./membership.ts";

export interface ReplicationLaunchOptions extends CheckpointOptions {
  /** Under "replication": how many processes play each rank; 2 unless given. */
  readonly replicas?: number | undefined;
  /** Under "replication": the ranks that have several processes, "0,1,4-7"; all unless given. The death of another one ends the job. */
  readonly replicateRanks?: string | undefined;
  /**
   * Under "replication": "parallel" unless given; "mirror": every replica sends to every replica of the receiver; "leader": one replica decides what
   * may come to one thing or another, for programs that are not send-deterministic.
   */
  readonly replication?: string | undefined;
  /** Under "replication": replicas that are lost come back, as clones of others; those of programs in TypeScript at their next `mpi.checkpoint`. */
  readonly sustain?: boolean | undefined;
  /** Under "replication" with `sustain`: so many nodes are started in reserve, and take the places of those that are lost; none unless given. */
  readonly spares?: number | undefined;
  /**
   * Under "replication": replicas compare all messages before the program sees them, by a "hash" of all bytes or "whole", byte by byte; they are not compared
   * unless given.
   */
  readonly compare?: string | undefined;
}

const replicasDefault = 2;
const sparesMax = 1024;
/** Variants in which lost replicas can come back. */
const clonedVariants: readonly string[] = ["parallel", "mirror"];

/** Variants in which messages can be compared: a leader's message may be of a decision that dies with it. */
const comparedVariants: readonly string[] = ["parallel", "mirror"];

/** By a hash of all bytes, or byte by byte. */
const comparisons = ["hash", "whole"] as const;
export type ComparedBy = (typeof comparisons)[number];

/** Which replicas of a sender send to which of a receiver. */
const replicationVariants = ["parallel", "mirror", "leader"] as const;
export type ReplicationVariant = (typeof replicationVariants)[number];

export const replicationOptions: readonly ProtocolOption[] = [
  {
    key: "replicas",
    flag: "--replicas <number>",
    help: `how many processes play each rank under replication (default: ${replicasDefault})`,
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot have replicas: only --protocol ${owners} has any`,
  },
  {
    key: "replicateRanks",
    flag: "--replicate-ranks <list>",
    help: "under replication: only these ranks have replicas, for instance 0,1,4-7 (default: all)",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot replicate ranks: only --protocol ${owners} does`,
  },
  {
    key: "replication",
    flag: "--replication <how>",
    help: "parallel: a replica sends to its own world, others keep what it sends (default); mirror: every replica sends to every replica; leader: one decides, the others follow (for programs that are not send-deterministic)",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot choose how replicas send: only --protocol ${owners} has any`,
  },
  {
    key: "sustain",
    flag: "--sustain",
    help: "under replication: lost replicas come back, as clones of those that live",
    form: { kind: "flag" },
    elsewhere: (owners) => `Cannot sustain redundancy: only --protocol ${owners} has any`,
  },
  {
    key: "spares",
    flag: "--spares <number>",
    help: "with --sustain: so many nodes are started in reserve, and lost replicas come back there (default: 0, the lost node is started again)",
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot have spares: only --protocol ${owners} has any`,
  },
  {
    key: "compare",
    flag: "--compare <how>",
    help: "under replication: messages of replicas are compared before the program sees them, by a hash of all bytes (hash) or byte by byte (whole); two find a flipped bit and stop the job, three outvote it",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot compare messages of replicas: only --protocol ${owners} has any`,
  },
  ...checkpointOptions,
];

/** The ranks of a list like "0,1,4-7"; undefined: it is none. */
function ranksOf(list: string): Set<number> | undefined {
  const ranks = new Set<number>();
  for (const part of list.split(",")) {
    const [, from, to] = /^\s*(\d{1,7})(?:-(\d{1,7}))?\s*$/.exec(part) ?? [];
    if (from === undefined) return undefined;
    for (let rank = Number(from); rank <= Number(to ?? from); rank++) ranks.add(rank);
  }
  return ranks;
}

/** What is wrong with them, in one line; undefined: nothing. */
export function checkReplication(values: OptionValues, job: JobFacts): string | undefined {
  return checkReplicas(values, job) ?? checkWorldCheckpoints(values, job);
}

/** Images of a world are the last resort when all replicas of a rank are lost. */
function checkWorldCheckpoints(values: OptionValues, job: JobFacts): string | undefined {
  const { interval, servers } = checkpointPlan(values);
  const { replication, sustain } = values as ReplicationLaunchOptions;
  if (servers > 0)
    return "Cannot use checkpoint servers under --protocol replication: images of one world are kept in the job's folder";
  if (interval.kind !== "never" && replication === "leader")
    return "Cannot take checkpoints under --replication leader: what it decides after one, and has printed, it may decide otherwise the second time";
  if (interval.kind !== "never" && replication === "mirror")
    return "Cannot take checkpoints under --replication mirror: messages of other worlds are on their way to every process; use parallel";
  if (interval.kind !== "never" && sustain === true)
    return "Cannot take checkpoints with --sustain: lost replicas come back as clones of those that live; use one of the two";
  return checkCheckpoints(values, job);
}

function checkReplicas(values: OptionValues, { ranks }: JobFacts): string | undefined {
  const { replicas, replicateRanks, replication, sustain, spares, compare } = values as ReplicationLaunchOptions;
  if (replicas !== undefined && !isWhole(replicas, 1, replicasMax))
    return `Cannot have ${replicas} processes for each rank: give a whole number from 1 to ${replicasMax}`;
  if (replication !== undefined && !replicationVariants.some((variant) => variant === replication))
    return `Cannot replicate by "${replication}": there are parallel, mirror and leader`;
  if (sustain !== undefined && typeof sustain !== "boolean") return "Cannot sustain redundancy: say true or false";
  if (sustain === true && !clonedVariants.some((variant) => variant === (replication ?? "parallel")))
    return `Cannot sustain replication "${replication}": ${clonedVariants.join(" and ")} can be`;
  if (spares !== undefined && !isWhole(spares, 0, sparesMax))
    return `Cannot have ${spares} spares: give a whole number up to ${sparesMax}`;
  if (spares !== undefined && spares > 0 && sustain !== true)
    return "Cannot use spares without --sustain: lost replicas stay lost";
  if (compare !== undefined && !comparisons.some((by) => by === compare))
    return `Cannot compare messages by "${compare}": there is hash, which is of all their bytes, and whole, byte by byte`;
  if (compare !== undefined && !comparedVariants.some((variant) => variant === (replication ?? "parallel")))
    return `Cannot compare messages under --replication ${replication}: ${comparedVariants.join(" and ")} can be`;
  if (compare !== undefined && replicas === 1)
    return "Cannot compare messages of one replica: give --replicas 2, which find a difference, or 3, which outvote it";
  if (compare !== undefined && ranks === 1)
    return "Cannot compare messages of one rank: it sends none to others, and nothing else is compared; run it on 2 ranks and more";
  if (replicateRanks === undefined) return undefined;
  const chosen = ranksOf(replicateRanks);
  if (chosen === undefined) return `Cannot replicate the ranks "${replicateRanks}": give a list like 0,1,4-7`;
  const unknown = [...chosen].find((rank) => rank >= ranks);
  return unknown === undefined ? undefined : `Cannot replicate rank ${unknown}: the job has ranks 0 to ${ranks - 1}`;
}

export function replicationVariant(values: OptionValues): ReplicationVariant {
  const { replication } = values as ReplicationLaunchOptions;
  return replicationVariants.find((variant) => variant === replication) ?? "parallel";
}

/** By rank: how many processes play it. */
export function replicaPlan(values: OptionValues, ranks: number): readonly number[] {
  const { replicas = replicasDefault, replicateRanks } = values as ReplicationLaunchOptions;
  const chosen = replicateRanks === undefined ? undefined : ranksOf(replicateRanks);
  return Array.from({ length: ranks }, (_, rank) => (chosen === undefined || chosen.has(rank) ? replicas : 1));
}

export const sparesOf = (values: OptionValues): number => (values as ReplicationLaunchOptions).spares ?? 0;
/** Null: messages are not compared. */
export const comparedBy = (values: OptionValues): ComparedBy | null =>
  comparisons.find((by) => by === (values as ReplicationLaunchOptions).compare) ?? null;

/** Not an option of the command line: a fault plan's. */
interface PlannedFlips {
  readonly messageFlips?: readonly PlannedFlip[];
}

export const withPlannedFlips = (values: OptionValues, messageFlips: readonly PlannedFlip[]): OptionValues => ({
  ...values,
  messageFlips,
});

export const flipsOf = (values: OptionValues): readonly PlannedFlip[] => (values as PlannedFlips).messageFlips ?? [];

export const isSustained = (values: OptionValues): boolean => (values as ReplicationLaunchOptions).sustain === true;
