/** The ping-pong of `latency` in bytes per second. */
import type { Benchmark } from "../benchmark.ts";
import { asBandwidth, pingPongInNode } from "./ping-pong.ts";
import { bandwidthPanel, bandwidthTable } from "./ping-pong-views.ts";

const where = "between two ranks of a node";

export const bandwidth: Benchmark = {
  name: "bandwidth",
  summary: "the same ping-pong in MB/s",
  async measure(lab) {
    const { series: latencies, troubles } = await pingPongInNode(lab);
    const series = asBandwidth(latencies);
    return { series, troubles, tables: [bandwidthTable(series, where)], panels: [bandwidthPanel(series, where)] };
  },
};
