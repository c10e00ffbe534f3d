/** Which ranks of a job fall together, and which node each begins on. */
import type { ProtocolReport } from "../../core/ft/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { Placement } from "../../core/service/placement.ts";

export interface Arrangement {
  /** Set of each rank: ranks that fall, are captured and begin again together. */
  readonly setOf: readonly number[];
  readonly placement: Placement;
  /** For the user, before the job begins; empty: nothing. */
  readonly note: string;
  /** The job has come to its end without a failure. For the user; empty: nothing. */
  finished(report: ProtocolReport): string;
}

/** The facts that an arrangement may depend on. */
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
