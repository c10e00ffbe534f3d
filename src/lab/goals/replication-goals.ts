/** The bounds for replicas: the figures of the paper, or better. Where processes share cores the baseline is as many plain jobs side by side. */
import {
  comparedThrice,
  comparedTwice,
  plainNone,
  plainTwice,
  replicasParallel,
  replicasThrice,
} from "../contenders/contenders.ts";
import { atLeast, atMost, unit } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const parallel = { contender: replicasParallel.id };
const pingPong = { ...parallel, benchmark: "replication-ping-pong" };
const kernels = { ...parallel, benchmark: "replication-kernels" };
const messages = { ...parallel, benchmark: "replication-messages" };
const none = (metric: string, x: number) =>
  ({ kind: "own", metric, x, contender: plainNone.id, label: "none" }) as const;
const twice = (metric: string, x: number) =>
  ({ kind: "own", metric, x, contender: plainTwice.id, label: "none ×2" }) as const;

/** Overheads of the paper. */
const kernelFactors: readonly (readonly [string, number])[] = [
  ["bt", 1.0149],
  ["cg", 1.0492],
  ["ft", 1.0304],
  ["mg", 1.0256],
  ["sp", 1.0241],
  ["hpccg", 1.01],
];

/** RedMPI: 0 to 30 %. Where processes share cores, processor time is the fair figure. */
const comparing: readonly Goal[] = [
  [comparedTwice, replicasParallel, "two"] as const,
  [comparedThrice, replicasThrice, "three"] as const,
].flatMap(([compared, plain, word]) =>
  ["cg", "ft", "is", "mg", "hpccg"].map((name) => ({
    benchmark: "replication-comparing",
    contender: compared.id,
    what: `${name}, messages of ${word} compared, processor time`,
    metric: `${name}_cpu_s`,
    x: 2,
    unit: "s",
    goal: atMost(1.05, {
      kind: "own",
      metric: `${name}_cpu_s`,
      x: 2,
      contender: plain.id,
      label: plain.label,
    }),
  })),
);

export const replicationGoals: readonly Goal[] = [
  {
    ...pingPong,
    what: "1-byte latency, processes apart",
    metric: "latency_apart_us",
    x: 1,
    unit: "µs",
    goal: atMost(1.35, none("latency_apart_us", 1)),
  },
  {
    ...pingPong,
    what: "the same, jobs side by side",
    metric: "latency_apart_us",
    x: 1,
    unit: "µs",
    goal: atMost(1.35, twice("latency_apart_us", 1)),
  },
  {
    ...pingPong,
    what: "1 MiB bandwidth, processes apart",
    metric: "bandwidth_apart_mbs",
    x: 1 << 20,
    unit: "MB/s",
    goal: atLeast(0.97, twice("bandwidth_apart_mbs", 1 << 20)),
  },
  ...kernelFactors.map(([name, factor]) => ({
    ...kernels,
    what: `${name} with replicas, processes apart`,
    metric: `${name}_apart_s`,
    x: 2,
    unit: "s",
    goal: atMost(factor, twice(`${name}_apart_s`, 2)),
  })),
  {
    ...messages,
    what: "messages for one of the program",
    metric: "messages_ratio",
    x: 2,
    unit: "",
    goal: atMost(2, unit),
  },
  { ...messages, what: "death known to progress", metric: "resumed_ms", x: 2, unit: "ms", goal: atMost(50, unit) },
  ...comparing,
];
