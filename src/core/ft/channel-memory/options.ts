/** Options of channel memories. */
import { type CheckpointOptions, checkCheckpoints, checkpointOptions } from "../checkpoint-options.ts";
import type { JobFacts } from "../definition.ts";
import { checkDurable, type DurableOptions, durableOption } from "../durable-option.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";

export interface ChannelMemoryLaunchOptions extends CheckpointOptions, DurableOptions {
  /** Under "channel-memory": how many memories share the ranks, processes of their own; 1 unless given. */
  readonly memories?: number | undefined;
}

const memoriesMax = 64;

export const channelMemoryOptions: readonly ProtocolOption[] = [
  {
    key: "memories",
    flag: "--memories <number>",
    help: "processes that share the messages of all ranks under channel-memory (default: 1)",
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot use memories: only --protocol ${owners} has any`,
  },
  ...checkpointOptions,
  durableOption,
];

export const memoriesOf = (values: OptionValues): number => (values as ChannelMemoryLaunchOptions).memories ?? 1;

/** The first mistake in the values, in one line; undefined: there is none. */
export function checkChannelMemory(values: OptionValues, job: JobFacts): string | undefined {
  const memories = memoriesOf(values);
  if (!isWhole(memories, 1, memoriesMax))
    return `Cannot use ${memories} memories: give a whole number from 1 to ${memoriesMax}`;
  if (memories > job.ranks)
    return `Cannot use ${memories} memories for ${job.ranks} ranks: each memory is the home of a rank at least`;
  return checkDurable(values) ?? checkCheckpoints(values, job);
}
