/**
 * A protocol that says "not yet" for no reason: every decision the contract gives to protocols, taken by chance. Worlds run
 * under it go through all the engine's paths for protocols, and must come to the same end.
 */
import { NoProtocol } from "../core/ft/none.ts";
import { RecordingProtocol } from "../core/ft/recording-protocol.ts";
import type { Random } from "./random.ts";

/** `wake` makes the process look again: a protocol that said "not yet" is asked again on the next progress. */
export function hesitantProtocol(random: Random, wake: () => void): RecordingProtocol {
  const protocol = new RecordingProtocol(new NoProtocol());
  const decide = (): boolean => {
    if (random.chance(0.6)) return true;
    wake();
    return false;
  };
  protocol.gates.mayLeave = decide;
  protocol.gates.mayComplete = decide;
  return protocol;
}
