/** The fault-simulation layer in a rank's thread: between the program and its process. */
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import { LayeredOperations } from "../../core/fault-layer/layered-operations.ts";
import { fanOutOf } from "../../core/ft/fault-layer/options.ts";
import type { NewRankPart } from "../part-hosts/rank-part.ts";

export const faultLayerRank: NewRankPart = ({ options }) => ({
  resources: null,
  napper: null,
  layer: (waits) => new LayeredOperations(new ProcessOperations(waits), waits.process, { fanOut: fanOutOf(options) }),
});
