/**
 * The fault-simulation layer: processes become dead to the program alone, to try programs that repair themselves. Real deaths end the
 * job. Its parts in a rank stand above the engine, in `core/fault-layer`.
 */
import type { ProtocolDefinition } from "../definition.ts";
import { noShapes } from "../protocol-shapes.ts";
import { type FaultLayerReport, faultsText, rankShape } from "./fault-layer-job.ts";
import { checkFaultLayer, faultLayerOptions, withPlannedDeaths } from "./options.ts";

export const faultLayer: ProtocolDefinition = {
  name: "fault-layer",
  flag: "--fault-layer",
  help: "processes become dead to the program only, and serve on: to try programs that repair themselves",
  examples: [
    "banyan run -n 16 --fault-layer --lifetimes weibull:0.7,30s solver.c",
    'banyan run -n 16 --fault-layer --faults "layer-kill rank 3 at call 100" solver.c',
  ],
  deaths: "fatal",
  boards: "always",
  refusals: {
    spawn: "processes that are dead to the program only cannot be told to others",
    freezing: "what the layer knows is in no image",
    sharedThreads: null,
  },
  options: faultLayerOptions,
  replicas: null,
  check: checkFaultLayer,
  withPlannedDeaths,
  checkpoints: null,
  rank: null,
  shapes: { ...noShapes, fromRank: rankShape },
  summary: ({ job }) => faultsText(job as FaultLayerReport | undefined),
};
