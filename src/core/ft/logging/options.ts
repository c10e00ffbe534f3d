/** Options of message logging. */
import { type CheckpointOptions, checkCheckpoints, checkpointOptions } from "../checkpoint-options.ts";
import type { JobFacts } from "../definition.ts";
import { checkDurable, type DurableOptions, durableOption } from "../durable-option.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "../option.ts";
import { membersBySet, parseSets } from "../sets.ts";

export interface LoggingLaunchOptions extends CheckpointOptions, DurableOptions {
  /**
   * Under "logging": processes that fall and are restarted together. "node" (unless given), "rank" (classical message
   * logging), "traffic" (ranks that send each other much share a node; measured by the first run), or lists of ranks.
   */
  readonly sets?: "node" | "rank" | "traffic" | readonly (readonly number[])[] | undefined;
  /** For "traffic": where the measured traffic is kept. */
  readonly trafficFile?: string | undefined;
  /**
   * Under "logging": how much of a rank's messages to other sets is kept in its memory; the rest goes to the disk. A
   * quarter of the rank's memory unless given.
   */
  readonly logMemoryMb?: number | undefined;
}

const logMemoryMbMax = 2047;

export const loggingOptions: readonly ProtocolOption[] = [
  {
    key: "sets",
    flag: "--sets <which>",
    help: "what falls together under logging: node, rank, traffic, or a file with a line for each set",
    form: {
      kind: "words or file",
      what: "sets",
      words: ["node", "rank", "traffic"],
      parse(contents, ranks) {
        const setOf = parseSets(contents, ranks);
        return typeof setOf === "string" ? setOf : membersBySet(setOf);
      },
    },
    elsewhere: (owners) => `Cannot use sets: only --protocol ${owners} has any`,
  },
  {
    key: "trafficFile",
    flag: "--traffic <file>",
    help: "for --sets traffic: where the measured traffic is kept (default: in the cache)",
    form: { kind: "text" },
    elsewhere: (owners) => `Cannot keep the traffic: only --protocol ${owners} has sets`,
  },
  ...checkpointOptions,
  durableOption,
  {
    key: "logMemoryMb",
    flag: "--log-memory <MB>",
    help: "memory for each rank's payload log under logging; the rest goes to the disk (default: a quarter of the rank's)",
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot bound the memory of payload logs: only --protocol ${owners} has any`,
  },
];

/** The first mistake in the values, in one line; undefined: there is none. */
export function checkLogging(values: OptionValues, job: JobFacts): string | undefined {
  const { logMemoryMb } = values as LoggingLaunchOptions;
  if (logMemoryMb !== undefined && logMemoryMb !== 0 && !isWhole(logMemoryMb, 1, logMemoryMbMax))
    return `Cannot give each payload log ${logMemoryMb} MB: give a whole number from 1 to ${logMemoryMbMax}`;
  return checkDurable(values) ?? checkCheckpoints(values, job);
}
