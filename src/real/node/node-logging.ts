/**
 * Message logging, the part of a node's main thread: the streams of determinants of the sets that are here, and what ranks that
 * begin a life must know.
 */

import { SetStream } from "../logging/set-stream.ts";
import type { Job } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/tcp/tcp-host.ts";
import type { CallsPassed, Life, LoggingSetup } from "./messages.ts";
import type { RankLogging } from "./rank-messages.ts";

/** One life of a set. */
interface SetHere {
  readonly ranks: readonly number[];
  readonly stream: SetStream;
}

export class NodeLogging {
  #setup: LoggingSetup;
  readonly #job: Job;
  readonly #sets = new Map<number, SetHere>();
  /** How many calls each rank of this node has passed in its present life. */
  readonly #passed = new Map<number, Float64Array>();
  /** The present one of every rank, as far as it has been heard of. */
  readonly #incarnations: number[];
  /** Of the event logger; null: there is none yet. */
  #address: Address | null = null;

  constructor(setup: LoggingSetup, ranks: readonly number[], job: Job) {
    this.#setup = setup;
    this.#job = job;
    this.#incarnations = [...setup.incarnations];
    this.#open(ranks);
  }

  /**
   * Those ranks, all of their sets, are about to begin their next life, and the threads of the old one are gone. What that has not
   * handed over is lost.
   */
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
    const { setOf, streams } = this.#setup;
    for (const set of new Set(ranks.map((rank) => setOf[rank]!))) {
      this.#sets.get(set)?.stream.close();
      const members = ranks.filter((rank) => setOf[rank] === set);
      const incarnation = this.#incarnations[members[0]!]!;
      const { from, words: known } = streams.find((it) => it.set === set) ?? { from: 0, words: new Int32Array(0) };
      const stream = new SetStream({ job: this.#job, set, incarnation, members: members.length, from, known });
      this.#sets.set(set, { ranks: members, stream });
      if (this.#address !== null) stream.connectTo(this.#address);
    }
  }

  incarnationOf(rank: number): number {
    return this.#incarnations[rank]!;
  }

  /** For the thread of a rank. */
  forRank(rank: number): RankLogging {
    const { restarts, streams: _, ...facts } = this.#setup;
    const incarnations = [...this.#incarnations];
    const { ranks, stream } = this.#sets.get(facts.setOf[rank]!)!;
    const restart = restarts.find((it) => it.rank === rank) ?? null;
    const passed = new Float64Array(new SharedArrayBuffer(8));
    this.#passed.set(rank, passed);
    return { ...facts, incarnations, stream: stream.forMember(ranks.indexOf(rank)), passed, restart };
  }

  /** How far the ranks of this node have come. */
  get passed(): CallsPassed[] {
    return [...this.#passed].map(([rank, [calls]]) => ({ rank, calls: calls! }));
  }

  /** The bell has rung: somebody may have appended. */
  relay(): void {
    for (const { stream } of this.#sets.values()) stream.relay();
  }

  /** There is an event logger, perhaps a new one. */
  connectTo(address: Address): void {
    this.#address = address;
    for (const { stream } of this.#sets.values()) stream.connectTo(address);
  }

  /** No image of that set will be restored whose position is lower. */
  trim(set: number, below: number): void {
    this.#sets.get(set)?.stream.trim(below);
  }
}
