/**
 * The order in which the program of this process has seen messages of other ranks: received them, or heard of them by a probe or by a look at
 * a request. What it sends may depend on all that it had seen before it posted the message: in a world that is behind the message
 * waits until the same has been sent there (world-gates.ts). What has come and was not seen yet has no part in it. Of what was seen before
 * the oldest message that is still kept the order does not matter, and is forgotten. What nonblocking collectives under way have taken is beside the order (strands.ts).
 */
import { lives } from "../../base/saved-classes.ts";
import { Strands } from "./strands.ts";

const placesMin = 1024;

export class SeenOrder {
  private ranks = new Int32Array(placesMin);
  private sequences = new Int32Array(placesMin);
  /** Positions count all messages that were ever seen: the first that is remembered, and the next one. */
  front = 0;
  end = 0;
  /** By rank: messages that the program has heard of, and has still to receive. */
  private readonly shown = new Map<number, Set<number>>();
  readonly strands = new Strands();

  add(rank: number, sequence: number): void {
    if (this.isFull) this.grow();
    const place = this.end++ & (this.ranks.length - 1);
    this.ranks[place] = rank;
    this.sequences[place] = sequence;
  }

  get isFull(): boolean {
    return this.end - this.front === this.ranks.length;
  }

  private grow(): void {
    const { ranks, sequences, front, end } = this;
    this.ranks = new Int32Array(2 * ranks.length);
    this.sequences = new Int32Array(2 * ranks.length);
    this.end = front;
    for (let position = front; position < end; position++) {
      const place = position & (ranks.length - 1);
      this.add(ranks[place]!, sequences[place]!);
    }
  }

  /** Nobody asks for what is before that position any more. Room that is mostly in use then is doubled soon: not every message has to try. */
  trim(position: number): void {
    this.front = Math.max(this.front, Math.min(position, this.end));
    if (2 * (this.end - this.front) > this.ranks.length) this.grow();
  }

  rankAt(position: number): number {
    return this.ranks[position & (this.ranks.length - 1)]!;
  }

  sequenceAt(position: number): number {
    return this.sequences[position & (this.ranks.length - 1)]!;
  }

  /** The program is about to see a message that it has still to receive. False: it has before. */
  show(rank: number, sequence: number): boolean {
    let numbers = this.shown.get(rank);
    if (numbers === undefined) {
      numbers = new Set();
      this.shown.set(rank, numbers);
    }
    if (numbers.has(sequence)) return false;
    numbers.add(sequence);
    return true;
  }

  isShown(rank: number, sequence: number): boolean {
    return this.shown.get(rank)?.has(sequence) === true;
  }

  /** The program receives a message. True: it had seen it before. */
  receive(rank: number, sequence: number): boolean {
    return this.shown.size !== 0 && this.shown.get(rank)?.delete(sequence) === true;
  }
}

lives({ SeenOrder });
