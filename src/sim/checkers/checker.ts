/** One invariant: looks at what was planned, what was seen and what is left, and says what is wrong, each in one sentence. */
import type { Observation } from "../observation.ts";
import type { JobFiles } from "../outside/job-files.ts";
import type { Output } from "../outside/output.ts";
import type { Histories } from "../recovery/histories.ts";
import type { Script } from "../script/script.ts";
import type { Stuck, World } from "../world.ts";

export interface Evidence {
  readonly script: Script;
  readonly observation: Observation;
  readonly world: World;
  readonly stuck: readonly Stuck[];
  /** World ranks that died, and did not come back. */
  readonly dead: ReadonlySet<number>;
  /** Where ranks come back: what each has observed, over all lives; and when each receive was posted first. */
  readonly histories?: Histories;
  readonly firstPosted?: ReadonlyMap<number, number>;
  /** What was printed. */
  readonly output?: Output;
  readonly files?: JobFiles;
  /** Checkpoints that were given up: their marks stay where they are. */
  readonly givenUp?: number;
}

export interface Checker {
  readonly name: string;
  check(evidence: Evidence): string[];
}
