import { membersOf } from "../script/communicator-plan.ts";
import type { Checker } from "./checker.ts";

/** Every collective leaves with every rank what its definition says, and touches nothing else. */
export const collectivesRight: Checker = {
  name: "collective results are right",
  check({ script, observation, stuck }): string[] {
    const problems: string[] = [];
    const seen = new Int32Array(script.collectives.length);
    for (const { collective, rank, error, wrongReceived, wrongSent } of observation.collectives) {
      const { kind, communicator, inPlace } = script.collectives[collective]!;
      seen[collective]!++;
      const what = `${kind} ${collective}${inPlace ? " in place" : ""} on communicator ${communicator}, rank ${rank}`;
      if (error !== 0) problems.push(`${what}: ended with error ${error}`);
      if (wrongReceived >= 0) problems.push(`${what}: byte ${wrongReceived} of the result is wrong`);
      if (wrongSent >= 0) problems.push(`${what}: byte ${wrongSent} of what it sends was overwritten`);
    }
    for (const { number, communicator, kind } of script.collectives) {
      const size = membersOf(script.communicators[communicator]!).length;
      if (stuck.length === 0 && seen[number] !== size)
        problems.push(`${kind} ${number}: ${seen[number]} of ${size} ended`);
    }
    return problems;
  },
};
