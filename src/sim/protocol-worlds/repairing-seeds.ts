/** Random programs that repair themselves, under protocols by which deaths are survived: one line for each protocol. */
import { ulfm } from "../../core/ft/ulfm/definition.ts";
import { runUlfmSeed } from "../ulfm/run-ulfm-seed.ts";

export const repairingSeeds: Readonly<Record<string, typeof runUlfmSeed>> = {
  [ulfm.name]: runUlfmSeed,
};
