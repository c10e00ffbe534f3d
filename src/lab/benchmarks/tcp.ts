/** The ping-pong between two nodes of this machine that are connected by TCP only. */
import type { Benchmark } from "../benchmark.ts";
import { asBandwidth, pingPong } from "./ping-pong.ts";
import { bandwidthPanel, bandwidthTable, latencyPanel, latencyTable } from "./ping-pong-views.ts";

const where = "between two nodes over TCP";

export const tcp: Benchmark = {
  name: "tcp",
  summary: "ping-pong between two nodes of this machine over TCP",
  async measure(lab) {
    const { series: latencies, troubles } = await pingPong(lab, { tcp: true });
    const bandwidths = asBandwidth(latencies);
    return {
      series: [...latencies, ...bandwidths],
      troubles,
      tables: [latencyTable(latencies, where), bandwidthTable(bandwidths, where)],
      panels: [latencyPanel(latencies, where), bandwidthPanel(bandwidths, where)],
    };
  },
};
