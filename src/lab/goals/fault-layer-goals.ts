/** The bounds for the fault-simulation layer. */
import { layerPlaces, layerSizes } from "../benchmarks/fault-layer/allreduce.ts";
import { slopeMetric } from "../benchmarks/fault-layer/growth.ts";
import { layerTree, plainMessages, plainNone } from "../contenders/contenders.ts";
import { bytesText } from "../tables/units.ts";
import { atMost } from "./bounds.ts";
import type { Goal } from "./goal.ts";

const layer = { benchmark: "fault-layer", contender: layerTree.id, unit: "µs" };

/** Against the job as it is shipped, and where that uses shared memory against messages too. */
const allreduces: readonly Goal[] = layerPlaces.flatMap(({ ranks, nodes, metric }) =>
  [
    { x: layerSizes.small, factor: 3 },
    { x: layerSizes.large, factor: 1.05 },
  ].flatMap(({ x, factor }) =>
    (nodes === 1 ? [plainNone, plainMessages] : [plainNone]).map((against) => ({
      ...layer,
      what: `allreduce of ${bytesText(x)} under the layer, ${ranks} ranks, ${nodes === 1 ? "one node" : `${nodes} nodes`}`,
      metric,
      x,
      goal: atMost(factor, { kind: "own", metric, x, contender: against.id, label: against.label } as const),
    })),
  ),
);

export const faultLayerGoals: readonly Goal[] = [
  ...allreduces,
  {
    ...layer,
    benchmark: "fault-layer-growth",
    what: "what the layer adds to a broadcast for twice as many processes, 1 032 to 4 104",
    metric: slopeMetric(4),
    x: 2,
    goal: atMost(1.25, { kind: "own", metric: slopeMetric(4), x: 1, label: "264 to 1 032" }),
  },
];
