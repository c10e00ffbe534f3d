/** One invariant: looks at what was planned, what was seen and what is left, and says what is wrong, each in one sentence. */
import type { Observation } from "../observation.ts";
import type { Script } from "../script/script.ts";
import type { Stuck, World } from "../world.ts";

export interface Evidence {
  readonly script: Script;
  readonly observation: Observation;
  readonly world: World;
  readonly stuck: readonly Stuck[];
  /** World ranks that died. */
  readonly dead: ReadonlySet<number>;
}

export interface Checker {
  readonly name: string;
  check(evidence: Evidence): string[];
}
