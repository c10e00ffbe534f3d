/**
 * A protocol that says "not yet" for no reason: every decision the contract gives to protocols, taken by chance. Worlds run
 * under it go through all the engine's paths for protocols, and must come to the same end.
 */
import { passThrough } from "../core/ft/pass-through.ts";
import type { NewProtocol } from "../core/ft/protocol.ts";
import { Recording } from "../core/ft/recording-protocol.ts";
import type { Random } from "./random.ts";

/** `wake` makes the process look again: a protocol that said "not yet" is asked again on the next progress. */
export function hesitantProtocol(random: Random, wake: () => void): NewProtocol {
  const recording = new Recording();
  const decide = (): boolean => {
    if (random.chance(0.6)) return true;
    wake();
    return false;
  };
  recording.gates.mayLeave = decide;
  recording.gates.mayComplete = decide;
  return recording.around(passThrough);
}
