/** A job that goes back to a checkpoint of one world of replicas (ADR 65). */
import { InputCopies } from "./input-copies.ts";
import { absentOf, type JobOptions } from "./job-options.ts";
import type { JobParts } from "./job-parts.ts";

/** The processes of a job that goes back to a checkpoint begin: those of one world, and the others are dead. */
export function startWorld(options: JobOptions, { core, nodes, input }: JobParts): void {
  const absent = absentOf(options);
  const empty = nodesWithout(options);
  nodes.startAll(empty);
  for (const node of empty) nodes.abandon(node);
  core.goesOnWithout(absent, performance.now());
  if (!(input instanceof InputCopies)) return;
  for (const process of absent) input.lost(process);
  for (const [process, offset] of options.wentBack?.inputOffsets ?? []) input.returned(process, offset);
}

/** Nodes that have none of the processes that are there. */
function nodesWithout(options: JobOptions): number[] {
  const { placement, nodes, wentBack } = options;
  const used = new Set(wentBack?.members.map((process) => placement[process]!));
  return Array.from({ length: nodes }, (_, node) => node).filter((node) => !used.has(node));
}
