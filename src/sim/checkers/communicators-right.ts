import { groupOf, isInter, membersOf, peersOf, rankOf } from "../script/communicator-plan.ts";
import type { Checker } from "./checker.ts";
import { isReliable } from "./excuses.ts";

/**
 * A new communicator has the planned members in the planned order, and one context, which no other communicator of any member
 * has. Every member that lives and has not given up has the communicator.
 */
export const communicatorsRight: Checker = {
  name: "communicators are right",
  check(evidence): string[] {
    const { script, observation, stuck } = evidence;
    const problems: string[] = [];
    const contextOf = new Map<number, number>();
    const ownerOf = new Map<string, number>();
    const owners = script.communicators.map(() => new Set<number>());
    for (const { communicator, member, rank, groups, context } of observation.communicators) {
      const plan = script.communicators[communicator];
      if (plan === undefined) {
        problems.push(`rank ${member} was given a communicator of which it is no member`);
        continue;
      }
      owners[communicator]!.add(member);
      const wanted = [groupOf(plan, member), ...(isInter(plan) ? [peersOf(plan, member)] : [])].join(" | ");
      if (groups.join(" | ") !== wanted || rank !== rankOf(plan, member)) {
        const has = groups.join(" | ");
        problems.push(`communicator ${communicator}: rank ${member} is ${rank} of ${has}, members are ${wanted}`);
      }
      if ((contextOf.get(communicator) ?? context) !== context) {
        problems.push(`communicator ${communicator}: rank ${member} has context ${context}, another member another`);
      }
      contextOf.set(communicator, context);
      // All communicators of a script live until its end.
      const key = `${member} ${context}`;
      const owner = ownerOf.get(key) ?? communicator;
      if (owner !== communicator) {
        problems.push(`communicators ${owner} and ${communicator} of rank ${member} share context ${context}`);
      }
      ownerOf.set(key, owner);
    }
    if (stuck.length > 0) return problems;
    for (const plan of script.communicators.slice(1)) {
      const wanted = membersOf(plan).filter((rank) => isReliable(evidence, rank));
      const missing = wanted.filter((rank) => !owners[plan.number]!.has(rank));
      if (missing.length > 0) problems.push(`communicator ${plan.number} is missing at rank ${missing.join()}`);
    }
    return problems;
  },
};
