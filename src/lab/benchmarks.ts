/** Every benchmark. */
import type { Benchmark } from "./benchmark.ts";
import { allreduce } from "./benchmarks/allreduce.ts";
import { bandwidth } from "./benchmarks/bandwidth.ts";
import { cLatency } from "./benchmarks/c-latency.ts";
import { memoryBreakdown } from "./benchmarks/channel-memory/breakdown.ts";
import { memoryPingPong } from "./benchmarks/channel-memory/ping-pong.ts";
import { memoryRenderer } from "./benchmarks/channel-memory/renderer.ts";
import { memoryRing } from "./benchmarks/channel-memory/ring.ts";
import { memorySharing } from "./benchmarks/channel-memory/sharing.ts";
import { memoryVolatility } from "./benchmarks/channel-memory/volatility.ts";
import { checkpoints } from "./benchmarks/checkpoints.ts";
import { cloning } from "./benchmarks/cloning.ts";
import { cloningKernels } from "./benchmarks/cloning-kernels.ts";
import { cold } from "./benchmarks/cold.ts";
import { collectiveTimes } from "./benchmarks/collectives.ts";
import { lostGrids } from "./benchmarks/combination.ts";
import { compile } from "./benchmarks/compile.ts";
import { layerAllreduce } from "./benchmarks/fault-layer/allreduce.ts";
import { layerGrowth } from "./benchmarks/fault-layer/growth.ts";
import { images } from "./benchmarks/images.ts";
import { kernels } from "./benchmarks/kernels.ts";
import { latency } from "./benchmarks/latency.ts";
import { loggingCheckpoints } from "./benchmarks/logging/checkpoints.ts";
import { loggingKernels } from "./benchmarks/logging/kernels.ts";
import { lu } from "./benchmarks/logging/lu.ts";
import { loggingPingPong } from "./benchmarks/logging/ping-pong.ts";
import { recovery } from "./benchmarks/logging/recovery.ts";
import { synchronisation } from "./benchmarks/logging/synchronisation.ts";
import { volume } from "./benchmarks/logging/volume.ts";
import { matching } from "./benchmarks/matching.ts";
import { memory } from "./benchmarks/memory.ts";
import { programs } from "./benchmarks/programs.ts";
import { replicationComparing } from "./benchmarks/replication/comparing.ts";
import { replicationKernels } from "./benchmarks/replication/kernels.ts";
import { replicationMessages } from "./benchmarks/replication/messages.ts";
import { replicationPingPong, replicationPingPongWorlds } from "./benchmarks/replication/ping-pong.ts";
import { startup } from "./benchmarks/startup.ts";
import { tcp } from "./benchmarks/tcp.ts";
import { selfRepair } from "./benchmarks/ulfm.ts";
import { ulfmGrowth } from "./benchmarks/ulfm-growth.ts";
import { ulfmKernels } from "./benchmarks/ulfm-kernels.ts";

/** The benchmarks that `banyan bench` runs, in this order. */
export const benchmarks: readonly Benchmark[] = [
  latency,
  bandwidth,
  allreduce,
  tcp,
  startup,
  memory,
  matching,
  cLatency,
  cold,
  collectiveTimes,
  programs,
  kernels,
  images,
  checkpoints,
  compile,
];

/** The benchmarks that run only when they are named, part by part or all of them. */
export const groups: Readonly<Record<string, readonly Benchmark[]>> = {
  "channel-memory": [memoryPingPong, memorySharing, memoryRing, memoryVolatility, memoryRenderer, memoryBreakdown],
  cloning: [cloning, cloningKernels],
  combination: [lostGrids],
  "fault-layer": [layerAllreduce, layerGrowth],
  logging: [loggingPingPong, loggingKernels, lu, volume, synchronisation, recovery, loggingCheckpoints],
  replication: [
    replicationPingPong,
    replicationPingPongWorlds,
    replicationKernels,
    replicationMessages,
    replicationComparing,
  ],
  ulfm: [selfRepair, ulfmKernels, ulfmGrowth],
};
