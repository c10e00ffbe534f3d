/** Which ranks of a job fall together, and which node each begins on. */
import type { ProtocolDefinition, ProtocolReport } from "../../core/ft/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import { setsByNode } from "../../core/ft/sets.ts";
import { type Placement, placedInBlocks } from "../../core/service/placement.ts";
import { arrangements } from "../protocol-parts/arrangements.ts";

export interface Arrangement {
  /** Set of each rank: ranks that fall, are captured and begin again together. */
  readonly setOf: readonly number[];
  readonly placement: Placement;
  /** For the user, before the job begins; empty: nothing. */
  readonly note: string;
  /** The job has come to its end without a failure. For the user; empty: nothing. */
  finished(report: ProtocolReport): string;
}

/** What an arrangement may depend on. */
export interface JobToArrange {
  /** Absolute path. */
  readonly program: string;
  readonly ranks: number;
  readonly nodes: number;
  /** Where facts about programs are kept from one job to the next; empty: nowhere. */
  readonly cacheFolder: string;
}

/** A text: what is wrong with it. */
export type Arrange = (values: OptionValues, job: JobToArrange) => Arrangement | string;

/** Of a job under a protocol that starts the lost again: as its own part says, or the ranks of each node. */
export function arrangementOf(
  { name }: ProtocolDefinition,
  values: OptionValues,
  job: JobToArrange,
): Arrangement | string {
  const arrange = arrangements[name];
  if (arrange !== undefined) return arrange(values, job);
  const placement = placedInBlocks(job.ranks, job.nodes);
  return { setOf: setsByNode(placement), placement, note: "", finished: () => "" };
}
