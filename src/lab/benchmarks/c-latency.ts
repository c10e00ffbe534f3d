/**
 * The ping-pong of `latency` from C: one source (peers/ping-pong.c), compiled by `banyan cc` and by the peers' compilers with
 * the same flags, beside the program in TypeScript with arrays from `mpi.alloc`. Buffers in C are from `malloc` for all
 * contenders.
 */
import type { Benchmark, Finding } from "../benchmark.ts";
import { banyanC, banyanTypeScript } from "../contenders/contenders.ts";
import { sourcePath } from "../installation.ts";
import { asBandwidth, pingPongInC, pingPongLimit, pingPongNumbers } from "./ping-pong.ts";
import { bandwidthPanel, bandwidthTable, latencyPanel, latencyTable } from "./ping-pong-views.ts";

const where = "from C between two ranks of a node";
const flags = ["-O3"];

export const cLatency: Benchmark = {
  name: "c-latency",
  summary: "the ping-pong in C, 8 B to 4 MiB, beside the one in TypeScript",
  async measure(lab): Promise<Finding> {
    const built = await lab.compile(sourcePath("ping-pong"), flags);
    if (built.kind === "unusable")
      return { series: [], tables: [], panels: [], troubles: [{ contender: banyanC, message: built.why }] };
    const numbers = pingPongNumbers(lab, { tcp: false, bytesMin: 8 });
    const options = pingPongLimit;
    const job = { program: "ping-pong", ranks: 2 };
    const { series: latencies, troubles } = await lab.measure([
      lab.ownModule({ contender: banyanC, module: built.program, args: pingPongInC(numbers), ranks: 2 }, options),
      lab.own({ ...job, contender: banyanTypeScript, args: ["shared", ...numbers] }, options),
      ...lab.ofPeers({ ...job, flags, args: () => pingPongInC(numbers) }, options),
    ]);
    const bandwidths = asBandwidth(latencies);
    return {
      series: [...latencies, ...bandwidths],
      troubles,
      tables: [latencyTable(latencies, where), bandwidthTable(bandwidths, where)],
      panels: [latencyPanel(latencies, where), bandwidthPanel(bandwidths, where)],
    };
  },
};
