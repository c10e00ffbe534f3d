/** Before images are taken: the ranks that are captured together come to rest. */
import { cloneOfNumber } from "../../core/ft/clones.ts";
import type { Cloning } from "../../core/ft/protocol.ts";
import { type RestState, Settling } from "../../core/process/settling.ts";
import { steadyMs } from "../machine/steady-clock.ts";
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

/**
 * The same for a process that a clone of it is to be made from: everybody must know, and only its messages to itself must have come to
 * rest. False: it is not wanted any more, or not yet: others that have not answered in that time are not waited for here.
 */
export function becomeSource(
  host: RankHost,
  cloning: Cloning,
  members: readonly number[],
  patienceMs = Number.POSITIVE_INFINITY,
): boolean {
  const { wanted } = host;
  const { replica, life } = cloneOfNumber(checkpointOf(wanted));
  cloning.prepare(replica, life);
  const untilMs = steadyMs() + patienceMs;
  const mustGoOn = (): boolean => cloning.mustGoOn || host.wanted !== wanted || steadyMs() >= untilMs;
  host.settle(() => cloning.isPrepared || mustGoOn());
  return cloning.isPrepared && becomeQuiet(host, members) && cloning.isPrepared;
}
