import { groupOf, isInter, membersOf, peersOf, rankOf } from "../script/communicator-plan.ts";
import type { Checker } from "./checker.ts";

/** A new communicator has the planned members in the planned order, and one context, which no other of any member has. */
export const communicatorsRight: Checker = {
  name: "communicators are right",
  check({ script, observation, stuck }): string[] {
    const problems: string[] = [];
    const contextOf = new Map<number, number>();
    const ownerOf = new Map<string, number>();
    const seen = new Int32Array(script.communicators.length);
    for (const { communicator, member, rank, groups, context } of observation.communicators) {
      const plan = script.communicators[communicator];
      if (plan === undefined) {
        problems.push(`rank ${member} was given a communicator of which it is no member`);
        continue;
      }
      seen[communicator]!++;
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
    for (const plan of script.communicators.slice(1)) {
      if (stuck.length === 0 && seen[plan.number] !== membersOf(plan).length)
        problems.push(`communicator ${plan.number} is incomplete`);
    }
    return problems;
  },
};
