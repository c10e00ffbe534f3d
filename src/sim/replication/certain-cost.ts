/** For scenarios in which nothing is left to chance. */
import type { CostModel } from "../cost-model.ts";

export const certainCost: Partial<CostModel> = {
  jitterNs: 0,
  inFlightAtCrash: "lost",
  eagerBytesMax: 1000,
  pieceBytesMax: 1000,
  detectionNs: 10_000,
};
