/** The fault-simulation layer's part for the whole job: it counts the deaths, of which nobody else outside the program hears. */
import { kind, object, type Shape } from "../../base/value-shape.ts";
import type { JobPart } from "../job-part.ts";

/** A rank is dead to its program from now on. */
export interface DiedWords {
  readonly kind: "died";
}

export const diedShape: Shape<DiedWords> = object<DiedWords>({ kind: kind("died") });

export class FaultLayerJob implements Omit<JobPart, "forNode" | "tick" | "nextTimeMs"> {
  readonly #dead = new Set<number>();

  get deaths(): number {
    return this.#dead.size;
  }

  rankSaid(rank: number): void {
    this.#dead.add(rank);
  }

  /** Nobody is started again. */
  prepare(): void {}
  mayCommit(): boolean {
    return false;
  }
  committed(): void {}
}

/** For the sentence that sums up the job. */
export function deathsText(deaths = 0): string[] {
  return deaths === 0 ? [] : [`${deaths === 1 ? "1 rank was" : `${deaths} ranks were`} dead to the program`];
}
