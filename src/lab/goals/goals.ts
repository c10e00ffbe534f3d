/** The project's bounds for speed and size ("at least" and "goal"), line by line. */

import { collectiveKinds, collectiveMetric } from "../benchmarks/collectives.ts";
import {
  banyan,
  banyanC,
  banyanNoCapture,
  banyanOrdinary,
  banyanShared,
  banyanTypeScript,
} from "../contenders/contenders.ts";
import type { Contender } from "../measuring/series.ts";
import { bytesText } from "../tables/units.ts";
import { atLeast, atMost, unit, withBounds } from "./bounds.ts";
import { channelMemoryGoals } from "./channel-memory-goals.ts";
import { cloningGoals } from "./cloning-goals.ts";
import { combinationGoals } from "./combination-goals.ts";
import { faultLayerGoals } from "./fault-layer-goals.ts";
import type { Bound, Goal, Reference } from "./goal.ts";
import { loggingGoals } from "./logging-goals.ts";
import { replicationGoals } from "./replication-goals.ts";
import { ulfmGoals } from "./ulfm-goals.ts";

const openMpi: Reference = { kind: "peer", id: "openmpi" };
const mpich: Reference = { kind: "peer", id: "mpich" };
const better: Reference = { kind: "better-peer" };

const kinds: readonly (readonly [Contender, string])[] = [
  [banyanShared, "shared arrays"],
  [banyanOrdinary, "ordinary arrays"],
];
const latency = { benchmark: "latency", metric: "latency_us", unit: "µs" };
const bandwidth = { benchmark: "bandwidth", metric: "bandwidth_mbs", unit: "MB/s", x: 1 << 20 };
const tcp = { benchmark: "tcp", contender: banyanShared.id };
const matching = { benchmark: "matching", contender: banyan.id, x: 100_000 };
const cLatency = { benchmark: "c-latency", contender: banyanC.id };
const cold = { benchmark: "cold", contender: banyanC.id, unit: "µs" };
const programs = { benchmark: "programs", contender: banyanC.id, x: 8, unit: "s" };
const kernels = { benchmark: "kernels", contender: banyan.id, metric: "kernels_s", x: 2, unit: "s" };
const images = { benchmark: "images", contender: banyan.id, x: 1024 };
const compile = { benchmark: "compile", contender: banyan.id, unit: "s" };
const plain = (metric: string, label: string): Reference => ({ kind: "own", metric, x: images.x, label });
const plainWrite = plain("plain_write_gbs", "plain write");

/** V8 compiles WebAssembly better with every version: the goal is stricter on versions after Node 20. */
const isNewerNode = Number(process.versions.node.split(".")[0]) > 20;
/**
 * Does the engine support modules with two memories, which can copy from one rank's memory to another's? Tried with two
 * memories without a page.
 */
const copiesBetweenMemories = WebAssembly.validate(
  Uint8Array.of(...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], ...[5, 5, 2, 0, 0, 0, 0]),
);

/**
 * "Near constant time": a hundred times as many may cost five times as much, for leaving the caches; a list would cost a
 * hundred.
 */
const nearConstant = (metric: string): Bound => atMost(5, { kind: "own", metric, x: 1_000, label: "at 1 000" });

export const goals: readonly Goal[] = [
  ...kinds.map(([contender, kind]) => ({
    ...latency,
    what: `8-byte ping-pong, ${kind}`,
    contender: contender.id,
    x: 8,
    atLeast: atMost(1.2, openMpi),
    goal: atMost(0.8, openMpi),
  })),
  ...[1, 8].flatMap((kib) =>
    kinds.map(([contender, kind]) => ({
      ...latency,
      what: `${kib} KiB ping-pong, ${kind}`,
      contender: contender.id,
      x: kib << 10,
      atLeast: atMost(0.8, openMpi),
      goal: atMost(1.0, mpich),
    })),
  ),
  {
    ...bandwidth,
    what: "1 MiB bandwidth, shared arrays",
    contender: banyanShared.id,
    atLeast: atLeast(2, better),
    goal: atLeast(3, better),
  },
  {
    ...bandwidth,
    what: "1 MiB bandwidth, ordinary arrays",
    contender: banyanOrdinary.id,
    atLeast: atLeast(1.2, better),
    goal: atLeast(1.7, better),
  },
  {
    what: "8-byte allreduce, 8 ranks",
    benchmark: "allreduce",
    metric: "allreduce_us",
    contender: banyan.id,
    x: 8,
    unit: "µs",
    atLeast: atMost(0.6, openMpi),
    goal: atMost(0.3, openMpi),
  },
  {
    ...tcp,
    what: "8-byte ping-pong over TCP",
    metric: "latency_us",
    x: 8,
    unit: "µs",
    atLeast: atMost(2.5, openMpi),
    goal: atMost(1.0, openMpi),
  },
  {
    ...tcp,
    what: "1 MiB bandwidth over TCP",
    metric: "bandwidth_mbs",
    x: 1 << 20,
    unit: "MB/s",
    atLeast: atLeast(0.8, openMpi),
    goal: atLeast(1.0, openMpi),
  },
  {
    what: "start of 16 ranks to the first barrier",
    benchmark: "startup",
    metric: "startup_ms",
    contender: banyan.id,
    x: 16,
    unit: "ms",
    atLeast: atMost(1_500, unit),
    goal: atMost(700, unit),
  },
  {
    what: "memory of an idle rank",
    benchmark: "memory",
    metric: "pss_per_rank_mb",
    contender: banyan.id,
    x: 16,
    unit: "MB",
    atLeast: atMost(12, unit),
    goal: atMost(8, unit),
  },
  {
    ...matching,
    what: "receive among 100 000 unexpected messages",
    metric: "unexpected_us",
    unit: "µs",
    atLeast: nearConstant("unexpected_us"),
  },
  {
    ...matching,
    what: "message among 100 000 posted receives",
    metric: "posted_us",
    unit: "µs",
    atLeast: nearConstant("posted_us"),
  },
  {
    ...matching,
    what: "memory of 100 000 waiting messages of 4 KiB",
    metric: "queued_mb",
    unit: "MB",
    // Bounded: payloads stay with their senders, so most of the waiting memory is envelopes.
    atLeast: atMost(0.3, { kind: "own", metric: "queued_payload_mb", x: 100_000, label: "payloads" }),
  },
  {
    ...kernels,
    what: "kernels in C, 2 ranks, geometric mean",
    atLeast: atMost(2, openMpi),
    goal: atMost(isNewerNode ? 1.3 : 1.5, openMpi),
  },
  {
    ...cLatency,
    what: "8-byte ping-pong from C",
    metric: "latency_us",
    x: 8,
    unit: "µs",
    ...withBounds(atMost, [1.2, 1.0], {
      kind: "own",
      metric: "latency_us",
      x: 8,
      contender: banyanTypeScript.id,
      label: "TypeScript",
    }),
  },
  {
    ...cold,
    what: "first 1 000 ping-pongs of 8 bytes from C",
    metric: "ping_pong_2_first_us",
    x: 1_000,
    ...withBounds(atMost, [10, 3], openMpi),
  },
  {
    ...cold,
    what: "the next 9 000",
    metric: "ping_pong_2_us",
    x: 10_000,
    ...withBounds(atMost, [3, 1.2], openMpi),
  },
  {
    ...cold,
    what: "first 1 000 allreduces of 8 ranks from C",
    metric: "allreduce_8_first_us",
    x: 1_000,
    ...withBounds(atMost, [1.5, 0.6], openMpi),
  },
  {
    ...cold,
    what: "allreduces 1 001 to 10 000 of 8 ranks from C",
    metric: "allreduce_8_us",
    x: 10_000,
    ...withBounds(atMost, [0.6, 0.3], openMpi),
  },
  {
    ...cold,
    what: "allreduces 1 001 to 10 000 of 2 ranks from C",
    metric: "allreduce_2_us",
    x: 10_000,
    ...withBounds(atMost, [2, 1], openMpi),
  },
  ...collectiveGoals(),
  {
    ...programs,
    what: "whole command, poisson.c 255, 8 ranks",
    metric: "poisson_255_1_command_s",
    ...withBounds(atMost, [2.5, 1.5], openMpi),
  },
  ...[1, 4].map((nodes) => ({
    ...programs,
    what: `whole command, poisson.c 1023, ${nodes === 1 ? "one node" : `${nodes} nodes`}`,
    metric: `poisson_1023_${nodes}_command_s`,
    ...withBounds(atMost, [1.6, 1.3], openMpi),
  })),
  {
    ...programs,
    what: "whole command, pi.c on 16 ranks",
    metric: "pi_20_command_s",
    x: 16,
    ...withBounds(atMost, [0.7, 0.45], unit),
  },
  {
    ...cLatency,
    what: "1 MiB bandwidth from C",
    metric: "bandwidth_mbs",
    x: 1 << 20,
    unit: "MB/s",
    atLeast: atLeast(1.5, better),
    goal: atLeast(copiesBetweenMemories ? 3 : 2, better),
  },
  {
    ...kernels,
    what: "Asyncify on the kernels",
    ...withBounds(atMost, [1.05, 1.01], {
      kind: "own",
      metric: kernels.metric,
      x: kernels.x,
      contender: banyanNoCapture.id,
      label: "without it",
    }),
  },
  ...[
    { what: "capture of 1 GiB, program standing still", metric: "capture_gbs" },
    // Pre-copy: jobs stop their program for the whole capture so far. Meant for clones of running processes (row D2).
    { what: "pre-copy of 1 GiB, which no job does yet", metric: "capture_running_gbs" },
  ].map((capture) => ({
    ...images,
    ...capture,
    unit: "GB/s",
    atLeast: atLeast(0.3, unit),
    goal: atLeast(0.9, plainWrite),
  })),
  {
    ...images,
    what: "program stopped by that pre-copy",
    metric: "stopped_s",
    unit: "s",
    goal: atMost(0.2, unit),
  },
  {
    ...images,
    what: "restore of 1 GiB",
    metric: "restore_gbs",
    unit: "GB/s",
    atLeast: atLeast(0.3, unit),
    goal: atLeast(0.8, plain("plain_read_gbs", "plain read")),
  },
  {
    ...compile,
    what: "cc -c of a small file, warm server",
    metric: "object_s",
    x: 1,
    ...withBounds(atMost, [0.6, 0.35], unit),
  },
  {
    ...compile,
    what: "first C file to WebAssembly, nothing cached",
    metric: "first_module_s",
    x: 1,
    ...withBounds(atMost, [6, 3], unit),
  },
  {
    ...compile,
    what: "second run of a C file, more than TypeScript",
    metric: "second_run_more_s",
    x: 2,
    ...withBounds(atMost, [1, 0.3], unit),
  },
  ...loggingGoals,
  ...ulfmGoals,
  ...cloningGoals,
  ...combinationGoals,
  ...faultLayerGoals,
  ...replicationGoals,
  ...channelMemoryGoals,
];

/** Every collective of one node, short and long. */
function collectiveGoals(): Goal[] {
  const places = [2, 8].flatMap((ranks) => collectiveKinds.map((kind) => ({ kind, place: { ranks, nodes: 1 } })));
  return places.flatMap(({ kind, place }) =>
    (kind === "barrier" ? [8] : [8, 65_536]).map((x) => ({
      benchmark: "collectives",
      contender: banyanC.id,
      unit: "µs",
      what: `${kind}${kind === "barrier" ? "" : ` of ${bytesText(x)}`}, ${place.ranks} ranks, from C`,
      metric: collectiveMetric(kind, place),
      x,
      ...withBounds(atMost, [1.5, 1.0], better),
    })),
  );
}
