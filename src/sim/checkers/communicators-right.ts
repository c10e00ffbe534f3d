import type { Checker } from "./checker.ts";

/** A new communicator has the planned members in the planned order, and one context, which no other of any member has. */
export const communicatorsRight: Checker = {
  name: "communicators are right",
  check({ script, observation, stuck }): string[] {
    const problems: string[] = [];
    const contextOf = new Map<number, number>();
    const ownerOf = new Map<string, number>();
    const seen = new Int32Array(script.communicators.length);
    for (const { communicator, member, rank, size, context } of observation.communicators) {
      seen[communicator]!++;
      const { members } = script.communicators[communicator]!;
      if (members[rank] !== member || size !== members.length) {
        problems.push(
          `communicator ${communicator}: rank ${member} is ${rank} of ${size}, members are ${members.join()}`,
        );
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
    for (const { number, members } of script.communicators.slice(1)) {
      if (stuck.length === 0 && seen[number] !== members.length) problems.push(`communicator ${number} is incomplete`);
    }
    return problems;
  },
};
