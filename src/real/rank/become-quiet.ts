/** Before images are taken: the ranks that are captured together come to rest. */
import { type RestState, Settling } from "../../core/process/settling.ts";
import type { RankHost } from "../process/rank-host.ts";
import { checkpointOf } from "../transport/layout.ts";

/**
 * Waits until nothing is under way between the ranks that are captured together: all, or the members of a set. False:
 * everybody has come to the end of the program meanwhile, or the node wants no image any more.
 */
export function becomeQuiet(host: RankHost, members?: readonly number[]): boolean {
  const { wanted, process } = host;
  const settling = new Settling(process, members, checkpointOf(wanted));
  let rest: RestState = "moving";
  host.settle(() => {
    rest = settling.advance();
    return rest !== "moving" || (host.wanted !== wanted && settling.giveUp());
  });
  return (rest as RestState) === "quiet";
}
