/**
 * Message logging, the part of a node's main thread: carries the determinants of the sets that are here to the event logger,
 * and its acknowledgements back.
 */
import { createDeterminantRing, DeterminantReader } from "./determinant-ring.ts";
import type { Determinants, LoggingSetup, RankLogging } from "./messages.ts";

export interface NodeLoggingPorts {
  send(determinants: Determinants): void;
  /** Wakes a rank of this node, if it sleeps. */
  ring(rank: number): void;
}

interface SetHere {
  readonly ranks: number[];
  readonly incarnation: number;
  readonly ring: SharedArrayBuffer;
  readonly reader: DeterminantReader;
}

export class NodeLogging {
  readonly #setup: LoggingSetup;
  readonly #ports: NodeLoggingPorts;
  readonly #sets = new Map<number, SetHere>();

  constructor(setup: LoggingSetup, ranks: readonly number[], ports: NodeLoggingPorts) {
    this.#setup = setup;
    this.#ports = ports;
    for (const rank of ranks) {
      const set = setup.setOf[rank]!;
      const here = this.#sets.get(set);
      if (here !== undefined) here.ranks.push(rank);
      else this.#open(set, rank);
    }
  }

  #open(set: number, rank: number): void {
    const ring = createDeterminantRing(this.#setup.positions[set]!);
    const incarnation = this.#setup.incarnations[rank]!;
    this.#sets.set(set, { ranks: [rank], incarnation, ring, reader: new DeterminantReader(ring) });
  }

  incarnationOf(rank: number): number {
    return this.#setup.incarnations[rank]!;
  }

  /** For the thread of a rank. */
  forRank(rank: number): RankLogging {
    const { setOf, incarnations, checkpointFolder, restarts } = this.#setup;
    const { ring } = this.#sets.get(setOf[rank]!)!;
    const restart = restarts.find((it) => it.rank === rank) ?? null;
    return { setOf, incarnations, checkpointFolder, stream: ring, restart };
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
