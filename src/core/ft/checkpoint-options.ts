/** Options of all protocols that restart ranks from images. */
import type { CheckpointPlan, Interval, JobFacts } from "./definition.ts";
import { isWhole, type OptionValues, type ProtocolOption } from "./option.ts";

export interface CheckpointOptions {
  /**
   * Where ranks are restarted: time between two checkpoints of a set; "auto" for what costs least, from the measured cost and the
   * failures that are expected or seen. None are taken unless given. Programs in C only.
   */
  readonly checkpointEveryMs?: number | "auto" | undefined;
  /** How many checkpoint servers keep the images, processes of their own; 0, and the job's folder does, unless given. */
  readonly checkpointServers?: number | undefined;
  /** For "auto": mean time between failures of the whole job; observed unless given. */
  readonly meanTimeBetweenFailuresMs?: number | undefined;
}

const serversMax = 64;
const everyMsMin = 10;

export const checkpointOptions: readonly ProtocolOption[] = [
  {
    key: "checkpointEveryMs",
    flag: "--checkpoint-every <time>",
    help: 'take checkpoints of a C program, each set that often; "auto": as often as costs least',
    form: { kind: "time", words: ["auto"] },
    elsewhere: (owners) => `Cannot take checkpoints: only --protocol ${owners} does`,
  },
  {
    key: "checkpointServers",
    flag: "--checkpoint-servers <number>",
    help: "processes that keep the images of checkpoints (default: none, the job's folder does)",
    form: { kind: "whole number" },
    elsewhere: (owners) => `Cannot use checkpoint servers: only --protocol ${owners} takes checkpoints`,
  },
  {
    key: "meanTimeBetweenFailuresMs",
    flag: "--mtbf <time>",
    help: "for auto: mean time between failures of the job (default: an hour, then what is seen)",
    form: { kind: "time", words: [] },
    elsewhere: (owners) => `Cannot use a time between failures: only --protocol ${owners} takes checkpoints`,
  },
];

export function checkpointPlan(values: OptionValues): CheckpointPlan {
  const { checkpointServers: servers = 0 } = values as CheckpointOptions;
  return { interval: intervalOf(values as CheckpointOptions), servers };
}

function intervalOf({ checkpointEveryMs: every, meanTimeBetweenFailuresMs }: CheckpointOptions): Interval {
  if (every === undefined) return { kind: "never" };
  return every === "auto" ? { kind: "best", meanTimeBetweenFailuresMs } : { kind: "fixed", everyMs: every };
}

/** What is wrong with them, in one line; undefined: nothing. */
export function checkCheckpoints(values: OptionValues, { program, language }: JobFacts): string | undefined {
  const { interval, servers } = checkpointPlan(values);
  if (!isWhole(servers, 0, serversMax))
    return `Cannot start ${servers} checkpoint servers: give a whole number up to ${serversMax}`;
  if (interval.kind === "never") return undefined;
  if (interval.kind === "fixed" && !(interval.everyMs >= everyMsMin))
    return `Cannot take a checkpoint every ${interval.everyMs} ms: give at least ${everyMsMin} ms`;
  if (interval.kind === "best" && interval.meanTimeBetweenFailuresMs === 0)
    return "Cannot expect failures all the time: give a time above 0 with --mtbf";
  if (language === "c") return undefined;
  return `Cannot take checkpoints of ${program}: only programs in C and C++ can be captured`;
}
