/** The fault-simulation layer's part for the whole job: it counts deaths and flipped bits, of which nobody else outside the program hears. */
import { kind, object, oneOf, type Shape, whole } from "../../base/value-shape.ts";
import type { JobPart } from "../job-part.ts";

/** A rank is dead to its program from now on. */
export interface DiedWords {
  readonly kind: "died";
}

/** A rank comes to its end: so many bits of its messages have flipped. */
export interface FlippedWords {
  readonly kind: "flipped";
  readonly bits: number;
}

type RankWords = DiedWords | FlippedWords;

export const rankShape: Shape<RankWords> = oneOf<RankWords>({
  died: object<DiedWords>({ kind: kind("died") }),
  flipped: object<FlippedWords>({ kind: kind("flipped"), bits: whole(1, Number.MAX_SAFE_INTEGER) }),
});

/** For the summary. */
export interface FaultLayerReport {
  readonly deaths: number;
  readonly bits: number;
}

export class FaultLayerJob implements Omit<JobPart, "forNode" | "tick" | "nextTimeMs"> {
  readonly #dead = new Set<number>();
  #bits = 0;

  get report(): FaultLayerReport {
    return { deaths: this.#dead.size, bits: this.#bits };
  }

  rankSaid(rank: number, words: unknown): void {
    const said = words as RankWords;
    if (said.kind === "died") this.#dead.add(rank);
    else this.#bits += said.bits;
  }

  /** Nobody is started again. */
  prepare(): void {}
  mayCommit(): boolean {
    return false;
  }
  committed(): void {}
}

/** For the sentence that sums up the job. */
export function faultsText({ deaths, bits }: FaultLayerReport = { deaths: 0, bits: 0 }): string[] {
  const ranks = deaths === 1 ? "1 rank was" : `${deaths} ranks were`;
  const flips = bits === 1 ? "1 bit" : `${bits} bits`;
  return [
    ...(deaths === 0 ? [] : [`${ranks} dead to the program`]),
    ...(bits === 0 ? [] : [`${flips} of messages flipped`]),
  ];
}
