/**
 * What nonblocking collectives under way have taken. The program sees it when it looks at their requests and finds them complete, not before; until
 * then only the collective's own messages depend on it. By chance one collective takes a message before another one sends: if that counted,
 * processes that play in one world with the histories of several others could wait for each other in a circle (ADR 44).
 */
import type { RecordId } from "../../base/brand.ts";
import { lives, saves } from "../../base/saved-classes.ts";

/** A collective that has been under way for more messages than these is taken to depend on those before them. */
const reachMax = 1 << 16;

export class Strand {
  /** How many messages the program had seen when it started the collective (seen-order.ts). */
  readonly base: number;
  private readonly ranks: number[] = [];
  private readonly sequences: number[] = [];

  constructor(base: number) {
    this.base = base;
  }

  get length(): number {
    return this.ranks.length;
  }

  add(rank: number, sequence: number): void {
    this.ranks.push(rank);
    this.sequences.push(sequence);
  }

  rankAt(index: number): number {
    return this.ranks[index]!;
  }

  sequenceAt(index: number): number {
    return this.sequences[index]!;
  }
}

/** What a message depends on: what the program had seen before that position, and what a collective had taken by then. */
export interface Past {
  readonly position: number;
  /** Null: it is no message of a nonblocking collective. */
  readonly strand: Strand | null;
  readonly taken: number;
}

export class Strands {
  /** By the collective's request. */
  private readonly underWay = new Map<RecordId, Strand>();
  /** That of the collective that posts and takes messages now; null: the program does. */
  current: Strand | null = null;

  begin(collective: RecordId, base: number): void {
    this.underWay.set(collective, new Strand(base));
  }

  /** Messages are of that collective from now on; a blocking one is the program itself. */
  enter(collective: RecordId): void {
    if (this.underWay.size !== 0) this.current = this.underWay.get(collective) ?? null;
  }

  leave(): void {
    this.current = null;
  }

  /** The program sees what that collective has taken; null: it is blocking, or has been seen before. */
  end(collective: RecordId): Strand | null {
    if (this.underWay.size === 0) return null;
    const strand = this.underWay.get(collective) ?? null;
    this.underWay.delete(collective);
    return strand;
  }

  /** What was taken and is not seen by the program. */
  forEachTaken(visit: (rank: number, sequence: number) => void): void {
    for (const strand of this.underWay.values()) {
      for (let i = 0; i < strand.length; i++) visit(strand.rankAt(i), strand.sequenceAt(i));
    }
  }

  /** All that this process has seen and taken by now, if the program has seen messages up to that position. */
  pastNow(position: number): Past {
    const strand = new Strand(position);
    this.forEachTaken((rank, sequence) => strand.add(rank, sequence));
    return { position, strand, taken: strand.length };
  }

  /** The order from there on is asked for by messages that collectives have still to post. */
  oldest(end: number): number {
    let oldest = end;
    for (const { base } of this.underWay.values()) oldest = Math.min(oldest, base);
    return Math.max(oldest, end - reachMax);
  }
}

saves({ Strand });
lives({ Strands });
