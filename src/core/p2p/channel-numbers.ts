/**
 * The numbers of messages: each channel from this process counts its own, without gaps. With a data plane the next number of a
 * channel is in the pass, where the plane counts on, and here only when an image is taken.
 */
import { lives } from "../base/saved-classes.ts";
import type { Pass } from "./pass.ts";
import type { Way } from "./peers.ts";
import { SparseTable } from "./sparse-table.ts";

/** Words of a channel, behind the rank that it leads to: the next number. */
const C_NEXT = 1;

export class ChannelNumbers {
  static readonly unsaved = { pass: null };
  /** By rank. */
  private readonly channels = new SparseTable([0]);
  private readonly pass: Pass;
  private readonly ranks: number;

  constructor(pass: Pass, ranks: number) {
    this.pass = pass;
    this.ranks = ranks;
  }

  /** Where `Way.channel` finds the channel to that rank. */
  channelTo(dest: number): number {
    return this.channels.at(dest);
  }

  /** Numbers the next message of the channel that a way has. */
  takeOf(way: Way): number {
    if (this.pass.isUsed) return this.take(way.rank);
    const { words } = this.channels;
    const at = way.channel + C_NEXT;
    const sequence = words[at]!;
    words[at] = (sequence + 1) | 0;
    return sequence;
  }

  /** The number of the message numbered last. */
  last(dest: number): number {
    return (this.next(dest) - 1) | 0;
  }

  /** Numbers the next message of a channel. */
  take(dest: number): number {
    const sequence = this.next(dest);
    this.setNext(dest, (sequence + 1) | 0);
    return sequence;
  }

  /** The message numbered last has not left and will not: the next one has its number. */
  giveBack(dest: number): void {
    this.setNext(dest, this.last(dest));
  }

  private next(dest: number): number {
    return this.pass.isUsed ? this.pass.nextNumber(dest) : this.channels.get(dest, C_NEXT);
  }

  private setNext(dest: number, sequence: number): void {
    if (this.pass.isUsed) this.pass.setNextNumber(dest, sequence);
    else this.channels.put(dest, C_NEXT, sequence);
  }

  /** An image is about to be taken: the numbers are where it finds them. */
  remember(): void {
    if (!this.pass.isUsed) return;
    for (let dest = 0; dest < this.ranks; dest++) {
      const next = this.pass.nextNumber(dest);
      if (next !== 0) this.channels.put(dest, C_NEXT, next);
    }
  }

  /** The numbers are those of an image. */
  restored(): void {
    if (!this.pass.isUsed) return;
    const { words } = this.channels;
    this.channels.forEach((slot) => {
      this.pass.setNextNumber(words[slot]!, words[slot + C_NEXT]!);
    });
  }
}

lives({ ChannelNumbers });
