/**
 * Message logging, the part of a node's main thread: carries the determinants of the sets that are here to the event logger,
 * and its acknowledgements back.
 */
import { createDeterminantRing, DeterminantReader } from "./determinant-ring.ts";
import type { Determinants, Life, LoggingSetup } from "./messages.ts";
import type { RankLogging } from "./rank-messages.ts";

export interface NodeLoggingPorts {
  send(determinants: Determinants): void;
  /** Wakes a rank of this node, if it sleeps. */
  ring(rank: number): void;
}

/** One life of a set. */
interface SetHere {
  readonly ranks: number[];
  readonly incarnation: number;
  readonly ring: SharedArrayBuffer;
  readonly reader: DeterminantReader;
}

export class NodeLogging {
  #setup: LoggingSetup;
  readonly #ports: NodeLoggingPorts;
  readonly #sets = new Map<number, SetHere>();
  /** The present one of every rank, as far as it has been heard of. */
  readonly #incarnations: number[];

  constructor(setup: LoggingSetup, ranks: readonly number[], ports: NodeLoggingPorts) {
    this.#setup = setup;
    this.#ports = ports;
    this.#incarnations = [...setup.incarnations];
    this.#open(ranks);
  }

  /** Those ranks, all of their sets, are about to begin their next life. What their old one has not handed over is lost. */
  restart(setup: LoggingSetup, ranks: readonly number[]): void {
    this.#setup = setup;
    for (const [rank, incarnation] of setup.incarnations.entries()) this.returned({ rank, incarnation });
    this.#open(ranks);
  }

  /** Somebody lives again, here or elsewhere. */
  returned({ rank, incarnation }: Life): void {
    this.#incarnations[rank] = Math.max(this.#incarnations[rank]!, incarnation);
  }

  #open(ranks: readonly number[]): void {
    const { setOf, positions } = this.#setup;
    for (const set of new Set(ranks.map((rank) => setOf[rank]!))) {
      const members = ranks.filter((rank) => setOf[rank] === set);
      const ring = createDeterminantRing(positions[set]!);
      const incarnation = this.#incarnations[members[0]!]!;
      this.#sets.set(set, { ranks: members, incarnation, ring, reader: new DeterminantReader(ring) });
    }
  }

  incarnationOf(rank: number): number {
    return this.#incarnations[rank]!;
  }

  /** For the thread of a rank. */
  forRank(rank: number): RankLogging {
    const { restarts, positions: _, ...facts } = this.#setup;
    const incarnations = [...this.#incarnations];
    const { ring } = this.#sets.get(facts.setOf[rank]!)!;
    const restart = restarts.find((it) => it.rank === rank) ?? null;
    return { ...facts, incarnations, stream: ring, restart };
  }

  /** The bell has rung: somebody may have appended. */
  relay(): void {
    for (const [set, { incarnation, reader }] of this.#sets) {
      const taken = reader.take();
      if (taken !== null) this.#ports.send({ kind: "determinants", set, incarnation, ...taken });
    }
  }

  /** The event logger has acknowledged. */
  stable(set: number, position: number): void {
    const here = this.#sets.get(set);
    if (here === undefined) return;
    here.reader.acknowledge(position);
    for (const rank of here.ranks) this.#ports.ring(rank);
  }
}
