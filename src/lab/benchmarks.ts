/** Every benchmark, in the order in which `banyan bench` runs them. */
import type { Benchmark } from "./benchmark.ts";
import { allreduce } from "./benchmarks/allreduce.ts";
import { bandwidth } from "./benchmarks/bandwidth.ts";
import { cLatency } from "./benchmarks/c-latency.ts";
import { compile } from "./benchmarks/compile.ts";
import { images } from "./benchmarks/images.ts";
import { kernels } from "./benchmarks/kernels.ts";
import { latency } from "./benchmarks/latency.ts";
import { matching } from "./benchmarks/matching.ts";
import { memory } from "./benchmarks/memory.ts";
import { startup } from "./benchmarks/startup.ts";
import { tcp } from "./benchmarks/tcp.ts";

export const benchmarks: readonly Benchmark[] = [
  ...[latency, bandwidth, allreduce, tcp, startup, memory, matching],
  ...[cLatency, kernels, images, compile],
];
