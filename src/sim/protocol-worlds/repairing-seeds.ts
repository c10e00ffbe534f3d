/** Random programs that repair themselves, under protocols by which deaths are survived: one line for each protocol. */
import { faultLayer } from "../../core/ft/fault-layer/definition.ts";
import { ulfm } from "../../core/ft/ulfm/definition.ts";
import { runLayerSeed } from "../fault-layer/run-layer-seed.ts";
import type { SeedOutcome } from "../judge.ts";
import { runUlfmSeed } from "../ulfm/run-ulfm-seed.ts";

export const repairingSeeds: Readonly<Record<string, (options: Parameters<typeof runUlfmSeed>[0]) => SeedOutcome>> = {
  [ulfm.name]: runUlfmSeed,
  [faultLayer.name]: runLayerSeed,
};
