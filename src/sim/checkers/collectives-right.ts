import type { CollectivePlan } from "../script/collective-plan.ts";
import { membersOf } from "../script/communicator-plan.ts";
import type { Checker, Evidence } from "./checker.ts";
import { isExcused, isReliable } from "./excuses.ts";

/**
 * Every collective ends, leaves the result of its definition with every rank, and touches nothing else. It fails only where a
 * member is dead or the communicator revoked, and even then does not write into its send buffer.
 */
export const collectivesRight: Checker = {
  name: "collective results are right",
  check(evidence): string[] {
    const { script, observation, stuck } = evidence;
    const problems: string[] = [];
    const endedAt = script.collectives.map(() => new Set<number>());
    for (const { collective, rank, error, wrongReceived, wrongSent } of observation.collectives) {
      const plan = script.collectives[collective]!;
      const { kind, communicator, inPlace } = plan;
      const what = `${kind} ${collective}${inPlace ? " in place" : ""} on communicator ${communicator}, rank ${rank}`;
      if (endedAt[collective]!.has(rank)) problems.push(`${what}: ended twice`);
      endedAt[collective]!.add(rank);
      if (error !== 0 && !isExcusedIn(evidence, plan, error)) problems.push(`${what}: ended with error ${error}`);
      if (error === 0 && wrongReceived >= 0) problems.push(`${what}: byte ${wrongReceived} of the result is wrong`);
      if (wrongSent >= 0) problems.push(`${what}: byte ${wrongSent} of what it sends was overwritten`);
    }
    if (stuck.length > 0) return problems;
    for (const { number, communicator, kind } of script.collectives) {
      const wanted = membersOf(script.communicators[communicator]!).filter((rank) => isReliable(evidence, rank));
      const missing = wanted.filter((rank) => !endedAt[number]!.has(rank));
      if (missing.length > 0) problems.push(`${kind} ${number}: it did not end at rank ${missing.join()}`);
    }
    return problems;
  },
};

function isExcusedIn(evidence: Evidence, { communicator }: CollectivePlan, error: number): boolean {
  const peers = membersOf(evidence.script.communicators[communicator]!);
  return isExcused(evidence, { error, communicators: [communicator], peers });
}
