/** One invariant: examines the plan, the observations and the remains, and returns the violations, each in one sentence. */
import type { Observation } from "../observation.ts";
import type { JobInput } from "../outside/job-input.ts";
import type { PrintedOutput } from "../outside/printed-output.ts";
import type { RankFiles } from "../outside/rank-files.ts";
import type { SharedFiles } from "../outside/shared-files.ts";
import type { Histories } from "../recovery/histories.ts";
import type { Script } from "../script/script.ts";
import type { Stuck, World } from "../world.ts";

export interface Evidence {
  readonly script: Script;
  readonly observation: Observation;
  readonly world: Pick<World, "processes" | "network">;
  readonly stuck: readonly Stuck[];
  /** World ranks that died for good. */
  readonly dead: ReadonlySet<number>;
  /** Where ranks return: the observations of each, over all lives; and when each receive was posted first. */
  readonly histories?: Histories;
  readonly firstPosted?: ReadonlyMap<number, number>;
  /** The printed output. */
  readonly output?: PrintedOutput;
  readonly files?: RankFiles;
  readonly sharedFiles?: SharedFiles;
  readonly input?: JobInput;
  /** Checkpoints that were given up: their marks stay in the channels. */
  readonly givenUp?: number;
}

export interface Checker {
  readonly name: string;
  check(evidence: Evidence): string[];
}
