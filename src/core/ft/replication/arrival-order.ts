/**
 * The order in which messages of other ranks have come to this process. What it sends may depend on all that came before it was posted:
 * a message for a world that is behind waits until the same has been sent there (world-gates.ts). Of what came before the oldest
 * message that is still kept the order does not matter, and is forgotten.
 */
import { lives } from "../../base/saved-classes.ts";

const placesMin = 1024;

export class ArrivalOrder {
  private ranks = new Int32Array(placesMin);
  private sequences = new Int32Array(placesMin);
  /** Positions count all messages that ever came: the first that is remembered, and the next one. */
  front = 0;
  end = 0;

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
}

lives({ ArrivalOrder });
