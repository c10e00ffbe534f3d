import { elementsOf, wordsOf } from "../collective-call.ts";
import { contribution } from "../contents.ts";
import { exactReductions } from "../reductions.ts";
import type { CollectivePlan } from "../script.ts";
import type { Checker } from "./checker.ts";

/** Every collective leaves with every rank what its definition says, reductions in the order of the ranks. */
export const collectivesRight: Checker = {
  name: "collective results are right",
  check({ script, observation, stuck }): string[] {
    const problems: string[] = [];
    const seen = new Int32Array(script.collectives.length);
    for (const { collective, rank, error, words } of observation.collectives) {
      const plan = script.collectives[collective]!;
      const size = script.communicators[plan.communicator]!.members.length;
      seen[collective]!++;
      const what = `${plan.kind} ${collective} on communicator ${plan.communicator}, rank ${rank} of ${size}`;
      if (error !== 0) problems.push(`${what}: ended with error ${error}`);
      const wanted = expected(plan, rank, size);
      const wrong = words.findIndex((word, index) => word !== wanted[index]);
      if (wrong >= 0)
        problems.push(`${what}: word ${wrong} of ${words.length} is ${words[wrong]}, not ${wanted[wrong]}`);
    }
    for (const { number, communicator, kind } of script.collectives) {
      const size = script.communicators[communicator]!.members.length;
      if (stuck.length === 0 && seen[number] !== size)
        problems.push(`${kind} ${number}: ${seen[number]} of ${size} ended`);
    }
    return problems;
  },
};

/** What that rank gets. */
function expected(plan: CollectivePlan, rank: number, size: number): Int32Array {
  const { kind, root } = plan;
  const block = plan.count * wordsOf(plan);
  const { gets } = elementsOf(plan, rank, size);
  const result = new Int32Array(gets * wordsOf(plan));
  const from = (source: number, first: number): Int32Array => {
    const words = new Int32Array(block);
    for (let index = 0; index < block; index++) words[index] = contribution(plan, source, first + index);
    return words;
  };
  /** Ranks 0 … last folded, each with its block that begins at `first`. */
  const folded = (last: number, first: number): Int32Array => {
    const { combine } = exactReductions[plan.reduction];
    let fold = from(0, first);
    for (let source = 1; source <= last; source++) fold = combine(fold, from(source, first));
    return fold;
  };
  if (result.length === 0) return result;
  switch (kind) {
    case "barrier":
      return result;
    case "bcast":
      return from(root, 0);
    case "gather":
    case "allgather":
      for (let source = 0; source < size; source++) result.set(from(source, 0), source * block);
      return result;
    case "scatter":
      return from(root, rank * block);
    case "alltoall":
      for (let source = 0; source < size; source++) result.set(from(source, rank * block), source * block);
      return result;
    case "reduce":
    case "allreduce":
      return folded(size - 1, 0);
    case "reduce_scatter_block":
      return folded(size - 1, rank * block);
    case "scan":
      return folded(rank, 0);
    case "exscan":
      return folded(rank - 1, 0);
  }
}
