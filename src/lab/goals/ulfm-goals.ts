/** The bounds for programs that repair themselves. */
import { banyanNone, banyanUlfm } from "../contenders/contenders.ts";
import { atMost, unit } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const ulfm = { benchmark: "ulfm", contender: banyanUlfm.id };

export const ulfmGoals: readonly Goal[] = [
  ...["ping_pong_us", "ping_pong_between_us"].map((metric) => ({
    ...ulfm,
    what: `8-byte ping-pong under ulfm, ${metric === "ping_pong_us" ? "one node" : "two nodes"}`,
    metric,
    x: 8,
    unit: "µs",
    goal: atMost(1.02, { kind: "own", metric, x: 8, contender: banyanNone.id, label: "none" } as const),
  })),
  {
    benchmark: "ulfm-kernels",
    contender: banyanUlfm.id,
    what: "kernels under ulfm, one node",
    metric: "kernels_s",
    x: 2,
    unit: "s",
    goal: atMost(1.02, { kind: "own", metric: "kernels_s", x: 2, contender: banyanNone.id, label: "none" } as const),
  },
  {
    ...ulfm,
    what: "agree over 8 ranks",
    metric: "agree_us",
    x: 8,
    unit: "µs",
    goal: atMost(3, { kind: "own", metric: "iallreduce_us", x: 8, label: "allreduce by messages" }),
  },
  {
    ...ulfm,
    what: "node death to the error at a peer",
    metric: "detection_ms",
    x: 1,
    unit: "ms",
    goal: atMost(100, unit),
  },
];
