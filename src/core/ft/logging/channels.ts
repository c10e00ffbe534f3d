/**
 * The channels of a process: one with each rank of another correlated set that it has had to do with. Inside the set there are none.
 */
import { lives } from "../../base/saved-classes.ts";
import { Channel } from "./channel.ts";
import type { Kept } from "./kept.ts";

export class Channels {
  /** Correlated set of each rank, and our own. */
  readonly setOf: Int32Array;
  private ownSet: number;
  readonly byRank = new Map<number, Channel>();
  /** The channel that was asked for last: most messages take the way of the one before. */
  private last: Channel | null = null;

  constructor(rank: number, setOf: Int32Array) {
    this.setOf = setOf;
    this.ownSet = setOf[rank]!;
  }

  /** A rank may have become a set of its own since the image was taken. */
  setsAre(rank: number, setOf: readonly number[]): void {
    this.setOf.set(setOf);
    this.ownSet = this.setOf[rank]!;
    this.last = null;
  }

  /** The channel with a rank of another set, made when it is first asked for; null: the rank is of our own, or none. */
  with(rank: number): Channel | null {
    const { last } = this;
    if (last !== null && last.peer === rank) return last;
    return this.setOf[rank] === this.ownSet ? null : this.find(rank);
  }

  private find(rank: number): Channel | null {
    if (this.setOf[rank] === undefined) return null;
    let channel = this.byRank.get(rank);
    if (channel === undefined) {
      channel = new Channel(rank);
      this.byRank.set(rank, channel);
    }
    this.last = channel;
    return channel;
  }

  all(): IterableIterator<Channel> {
    return this.byRank.values();
  }

  /** Messages of the payload log that have bytes in the process's memory; in the same order after a restore. */
  get kept(): Kept[] {
    const isInMemory = (message: Kept): boolean => message.bytes !== 0 && message.isInMemory;
    return [...this.all()].flatMap(({ kept }) => kept.filter(isInMemory));
  }

  /** Bytes in the payload log. */
  get keptBytes(): number {
    let bytes = 0;
    for (const { kept } of this.all()) for (const message of kept) bytes += message.bytes;
    return bytes;
  }

  /** All payload that was ever put into the log, by the set of the receiver. */
  get loggedBytesTo(): number[] {
    const bytesTo = new Array<number>(1 + this.setOf.reduce((most, set) => Math.max(most, set), 0)).fill(0);
    for (const { peer, loggedBytes } of this.all()) bytesTo[this.setOf[peer]!]! += loggedBytes;
    return bytesTo;
  }
}

lives({ Channels });
