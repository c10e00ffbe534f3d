/** The thread of `SlowLinks`: a proxy for each direction between two nodes. */
import { parentPort, workerData } from "node:worker_threads";
import { DelayingProxy } from "./delaying-proxy.ts";
import type { FromSlowLinks, LinkDirection, ToSlowLinks } from "./messages.ts";

const { nodes, host } = workerData as { nodes: number; host: string };
const ways: (LinkDirection & { readonly proxy: DelayingProxy })[] = [];
for (let from = 0; from < nodes; from++) {
  for (let to = 0; to < nodes; to++) if (from !== to) ways.push({ from, to, proxy: new DelayingProxy() });
}

parentPort!.on("message", (message: ToSlowLinks) => {
  for (const { from, to, proxy } of ways) {
    if (message.kind === "lead") {
      if (to === message.node) proxy.leadTo(message.target);
    } else if (message.link.includes(from) && message.link.includes(to)) proxy.delayMs = message.delayMs;
  }
});

void Promise.all(ways.map(async ({ from, to, proxy }) => ({ from, to, port: await proxy.listen(host) }))).then(
  (ports) => {
    const listening: FromSlowLinks = { ports };
    parentPort!.postMessage(listening);
  },
);
