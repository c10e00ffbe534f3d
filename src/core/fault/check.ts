/** Does a fault plan fit a job? Everything that the plan names must exist. */
import type { Entry, Fault, FaultPlan, FlipVictim, LinkPattern, When } from "./plan.ts";
import { printEntry } from "./print.ts";

export interface JobSize {
  readonly ranks: number;
  readonly nodes: number;
  /** The number of sets, whose ranks roll back together; 0 under a protocol that takes no checkpoints. */
  readonly sets: number;
  /** Processes are dead to the program alone; not so unless given. */
  readonly isLayered?: boolean;
  /** By rank of the program: how many processes play it. Absent: one, and ranks are processes. */
  readonly replicas?: readonly number[] | undefined;
  /** Can ranks flip bits of messages on their way? Not so unless given. */
  readonly flipsMessages?: boolean;
}

/** Why the plan does not fit this job, in one line; undefined when it fits. */
export function checkPlan(plan: FaultPlan, job: JobSize): string | undefined {
  for (const [index, entry] of plan.entries.entries()) {
    const wrong = checkEntry(entry, job);
    if (wrong !== undefined) return `Cannot use the fault plan: entry ${index + 1}, "${printEntry(entry)}": ${wrong}`;
  }
  return undefined;
}

function checkEntry(entry: Entry, job: JobSize): string | undefined {
  return entry.kind === "seed" ? undefined : (checkFault(entry.fault, job) ?? checkWhen(entry.when, job));
}

const killsUnderLayer = "real deaths end a job under --fault-layer; say layer-kill";
const layerKillsElsewhere =
  "only jobs under --fault-layer have deaths that the program alone sees; give it, or say kill";

const flipsElsewhere = "only replicas flip bits of messages on their way; choose a --protocol that has them";

function checkFault(fault: Fault, job: JobSize): string | undefined {
  switch (fault.kind) {
    case "kill":
      if (job.isLayered === true && fault.victim.kind !== "service") return killsUnderLayer;
      if (fault.victim.kind === "rank") return checkNumber("rank", fault.victim.rank, job.ranks);
      if (fault.victim.kind === "node") return checkNumber("node", fault.victim.node, job.nodes);
      return fault.victim.kind === "set" ? checkSet(fault.victim.set, job) : undefined;
    case "layer-kill":
      if (job.isLayered !== true) return layerKillsElsewhere;
      if (fault.victim.kind === "rank") return checkNumber("rank", fault.victim.rank, job.ranks);
      return fault.victim.kind === "node" ? checkNumber("node", fault.victim.node, job.nodes) : undefined;
    case "stop":
    case "continue":
      return fault.node === "random" ? undefined : checkNumber("node", fault.node, job.nodes);
    case "flip":
      if (fault.message !== null && job.flipsMessages !== true) return flipsElsewhere;
      return checkFlip(fault.victim, job);
    default:
      return checkLink(fault.link, job.nodes);
  }
}

function checkFlip({ rank, replica }: FlipVictim, { ranks, replicas }: JobSize): string | undefined {
  const wrong = checkNumber("rank", rank, replicas?.length ?? ranks);
  if (wrong !== undefined || replica === null) return wrong;
  const there = replicas?.[rank] ?? 1;
  if (replica < there) return undefined;
  return `there is no replica ${replica} of rank ${rank}; it has ${there === 1 ? "replica 0 alone" : `replicas 0 to ${there - 1}`}`;
}

function checkWhen(when: When, job: JobSize): string | undefined {
  switch (when.kind) {
    case "call":
    case "init":
      return when.rank === null ? undefined : checkNumber("rank", when.rank, job.ranks);
    case "checkpoint":
    case "recovery":
    case "log-full":
      return checkSet(typeof when.set === "number" ? when.set : 0, job);
    default:
      return undefined;
  }
}

function checkLink({ one, other }: LinkPattern, nodes: number): string | undefined {
  if (nodes === 1) return "the job has one node and no links; use more --nodes";
  for (const end of [one, other]) {
    const wrong = end === "*" ? undefined : checkNumber("node", end, nodes);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkSet(set: number, { sets }: JobSize): string | undefined {
  if (sets === 0) return "the job's protocol takes no checkpoints and has no sets; choose another with --protocol";
  return checkNumber("set", set, sets);
}

function checkNumber(what: string, number: number, count: number): string | undefined {
  if (number < count) return undefined;
  return `there is no ${what} ${number}; the job has ${count === 1 ? `${what} 0 alone` : `${what}s 0 to ${count - 1}`}`;
}
