/** Half a round trip between two ranks of one node, for messages from 1 B to 4 MiB. */
import type { Benchmark } from "../benchmark.ts";
import { pingPongInNode } from "./ping-pong.ts";
import { latencyPanel, latencyTable } from "./ping-pong-views.ts";

const where = "between two ranks of a node";

export const latency: Benchmark = {
  name: "latency",
  summary: "ping-pong between two ranks of a node, 1 B to 4 MiB",
  async measure(lab) {
    const { series, troubles } = await pingPongInNode(lab);
    return { series, troubles, tables: [latencyTable(series, where)], panels: [latencyPanel(series, where)] };
  },
};
