/**
 * Carries what the node's ranks print to the dispatcher, in turns, so that no rank waits for another. At most
 * `outputWindowBytes` are under way: beyond that the rings fill, and the ranks wait. What the channel has
 * taken outlives the node; what is still in a ring, or waits for a dispatcher that is slow to read, does not, see line-ring.ts.
 */

import { outputWindowBytes } from "../messages/lines.ts";
import type { Output } from "../messages/node-messages.ts";
import type { LineReader } from "./line-ring.ts";

export class OutputRelay {
  readonly #send: (output: Output) => void;
  readonly #readers = new Map<number, LineReader>();
  #creditBytes = outputWindowBytes;
  #lastRank = -1;

  constructor(send: (output: Output) => void) {
    this.#send = send;
  }

  add(rank: number, reader: LineReader): void {
    this.#readers.set(rank, reader);
  }

  /** Sends one chunk of each rank in turn, until nothing is left or the window is full. */
  relay(): void {
    for (let moved = true; moved; ) {
      moved = false;
      for (const [rank, reader] of this.#inTurn()) {
        if (this.#creditBytes <= 0) return;
        moved = this.#relayOne(rank, reader) || moved;
      }
    }
  }

  /** The dispatcher is done with so many bytes. */
  written(bytes: number): void {
    this.#creditBytes += bytes;
    this.relay();
  }

  /** Everything there is, window or not: the rings are bounded, and the node is about to leave. */
  relayAll(): void {
    for (const [rank, reader] of this.#readers) while (this.#relayOne(rank, reader));
  }

  #relayOne(rank: number, reader: LineReader): boolean {
    const chunk = reader.read();
    if (chunk === undefined) return false;
    this.#lastRank = rank;
    this.#creditBytes -= chunk.bytes.length;
    this.#send({ kind: "output", rank, chunk });
    return true;
  }

  /** Begins behind the rank that was served last: a full window must not always favour the same ranks. */
  #inTurn(): [number, LineReader][] {
    const all = [...this.#readers];
    const next = all.findIndex(([rank]) => rank > this.#lastRank);
    return next <= 0 ? all : [...all.slice(next), ...all.slice(0, next)];
  }
}
