/** The bounds for message logging, against the same without it. Where the paper has a figure, it is the first bound. */

import { loggingClassical, loggingNone, loggingSets } from "../contenders/contenders.ts";
import type { Contender } from "../measuring/series.ts";
import { atLeast, atMost, unit, withBounds } from "./bounds.ts";
import type { Goal, Reference } from "./goal.ts";

const against = (metric: string, x: number, contender: Contender, label: string): Reference => ({
  kind: "own",
  metric,
  x,
  contender: contender.id,
  label,
});
const none = (metric: string, x: number): Reference => against(metric, x, loggingNone, "none");
const pingPong = { benchmark: "logging-ping-pong", contender: loggingSets.id, x: 8, unit: "µs" };
const kernelsOf = [
  { word: "node", ranks: 2, where: "one node" },
  { word: "nodes", ranks: 4, where: "two nodes" },
];
const volumes = [
  { word: "pairs", k: 2 },
  { word: "fours", k: 4 },
];
const mib = 1 << 20;

export const loggingGoals: readonly Goal[] = [
  {
    ...pingPong,
    what: "1 MiB bandwidth inside a set",
    metric: "bandwidth_mbs",
    x: mib,
    unit: "MB/s",
    goal: atLeast(0.98, none("bandwidth_mbs", mib)),
  },
  {
    ...pingPong,
    what: "8 bytes inside a set, named receives",
    metric: "named_us",
    goal: atMost(1.15, none("named_us", 8)),
  },
  {
    ...pingPong,
    what: "8 bytes inside a set, any source",
    metric: "wildcard_us",
    goal: atMost(1.5, none("wildcard_us", 8)),
  },
  {
    ...pingPong,
    what: "8 bytes between sets, any source",
    metric: "wildcard_between_us",
    goal: atMost(1, against("wildcard_between_allowed_us", 8, loggingNone, "none + logger")),
  },
  ...kernelsOf.flatMap(({ word, ranks, where }) =>
    [
      { contender: loggingSets, what: "sets", bounds: [1.07, 1.03] as const },
      { contender: loggingClassical, what: "classical", bounds: [1.17, 1.1] as const },
    ].map(({ contender, what, bounds }) => ({
      benchmark: "logging-kernels",
      what: `kernels on ${where}, ${what}`,
      metric: `kernels_${word}_s`,
      contender: contender.id,
      x: ranks,
      unit: "s",
      ...withBounds(atMost, bounds, none(`kernels_${word}_s`, ranks)),
    })),
  ),
  ...[
    { contender: loggingSets, what: "sets", paper: 0.7 },
    { contender: loggingClassical, what: "classical", paper: 0.43 },
  ].map(({ contender, what, paper }) => ({
    benchmark: "logging-lu",
    what: `largest LU in equal memory, ${what}`,
    metric: "largest_rows",
    contender: contender.id,
    x: 16,
    unit: "rows",
    atLeast: atLeast(paper, none("largest_rows", 16)),
  })),
  ...volumes.flatMap(({ word, k }) =>
    ["bcast", "reduce", "allreduce"].map((collective) => {
      const metric = `${collective}_${word}_total_bytes`;
      return {
        benchmark: "logging-volume",
        what: `log of a 1 MiB ${collective}, ${k} ranks per node`,
        metric,
        contender: loggingSets.id,
        x: mib,
        unit: "bytes",
        goal: atMost(1 / k, against(metric, mib, loggingClassical, "classical")),
      };
    }),
  ),
  {
    benchmark: "logging-synchronisation",
    what: "a set of 16 comes to rest",
    metric: "barrier_us",
    contender: loggingSets.id,
    x: 16,
    unit: "µs",
    // Four times the ranks: linear. Tokens from each rank to each would be sixteen times as many.
    goal: atMost(4, against("barrier_us", 4, loggingSets, "of 4")),
  },
  ...[
    // The second has to repeat the lost work, some 0.6 s; the program alone determines that time.
    { metric: "killed_running_s", what: "SIGKILL of a node until its ranks go on, 64 MB each", seconds: 0.5 },
    { metric: "killed_resumed_s", what: "SIGKILL of a node until the others get on", seconds: 0.5 },
    { metric: "stopped_running_s", what: "stop of a node until its ranks go on", seconds: 1.25 },
    { metric: "stopped_resumed_s", what: "stop of a node until the others get on", seconds: 1.25 },
  ].map(({ metric, what, seconds }) => ({
    benchmark: "logging-recovery",
    what,
    metric,
    contender: loggingSets.id,
    x: 64,
    unit: "s",
    goal: atMost(seconds, unit),
  })),
  {
    benchmark: "logging-checkpoints",
    what: "checkpoints every 10 s, 64 MB per rank",
    metric: "step_us",
    contender: "checkpoints",
    x: 64,
    unit: "µs a step",
    goal: atMost(1.03, { kind: "own", metric: "step_us", x: 64, contender: "no-checkpoints", label: "without" }),
  },
  ...[
    { what: "a checkpoint every second, 8 MB, all changing", word: "all", x: 8, bounds: [1.08, 1.03] as const },
    { what: "a checkpoint every second, 8 MB, 5 % changing", word: "few", x: 8, bounds: [1.04, 1.01] as const },
    { what: "a checkpoint every 10 s, 64 MB", word: "large", x: 64, bounds: [1.03, 1.01] as const },
  ].map(({ what, word, x, bounds }) => ({
    benchmark: "checkpoints",
    what,
    metric: `${word}_us`,
    contender: "checkpoints",
    x,
    unit: "µs a step",
    ...withBounds(atMost, bounds, {
      kind: "own",
      metric: `${word}_quiet_us`,
      x,
      contender: "checkpoints",
      label: "beside",
    }),
  })),
];
