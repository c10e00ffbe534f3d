/**
 * Questions whether another process is alive, and their answers (thesis §5.2.1, §5.3.1). The layer of the other one answers whenever its process
 * makes progress, in whatever call its program is: nobody waits for a matching call. Questions between two processes are numbered; an answer counts for its question
 * and those before.
 */
import type { WorldRank } from "../base/brand.ts";

class Partner {
  asked = 0;
  answered = 0;
  /** The first question that was answered "dead". */
  deadFrom = Number.POSITIVE_INFINITY;
}

export const Standing = { UNKNOWN: 0, ALIVE: 1, DEAD: 2 } as const;
export type Standing = (typeof Standing)[keyof typeof Standing];

export class Handshakes {
  readonly #partners = new Map<WorldRank, Partner>();

  /** The number of a new question. */
  ask(rank: WorldRank): number {
    return ++this.#partnerOf(rank).asked;
  }

  hasAsked(rank: WorldRank): boolean {
    return (this.#partners.get(rank)?.asked ?? 0) > 0;
  }

  answered(rank: WorldRank, number: number, isDead: boolean): void {
    const partner = this.#partnerOf(rank);
    partner.answered = Math.max(partner.answered, number);
    if (isDead) partner.deadFrom = Math.min(partner.deadFrom, number);
  }

  /** What is known of a process as of that question. Question 0 is that of a process to itself. */
  standingOf(rank: WorldRank, number: number): Standing {
    const partner = this.#partnerOf(rank);
    if (number >= partner.deadFrom) return Standing.DEAD;
    return number <= partner.answered ? Standing.ALIVE : Standing.UNKNOWN;
  }

  #partnerOf(rank: WorldRank): Partner {
    const partner = this.#partners.get(rank) ?? new Partner();
    this.#partners.set(rank, partner);
    return partner;
  }
}
