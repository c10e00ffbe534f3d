/**
 * The stream of determinants of one life of a correlated set, simulated: entries are on their way to the event logger after a while,
 * sooner when somebody waits. What is not there when the set falls is lost with it, and so are acknowledgements.
 *
 * As nodes do, it keeps the words since the oldest image that may be restored. When the connection to the event logger was lost,
 * or the event logger itself, the next hello says from which position on they are kept, and is answered with the position from
 * which on they are wanted; before them goes how far the stream has been acknowledged.
 */

import { determinantHeaderWords } from "../../core/ft/logging/determinant-entries.ts";
import type { DeterminantKind, DeterminantStream } from "../../core/ft/logging/determinant-stream.ts";

interface SetStreamPorts {
  /** After a while, unless the set has fallen by then. */
  later(isUrgent: boolean, act: () => void): void;
  /** Something travels to the event logger: it may get there even when the set has fallen, but nothing overtakes anything. */
  travel(act: () => void): void;
  /** Something travels back, if the connection lasts. */
  travelBack(act: () => void): void;
  /** At the event logger; see there. Null: it does not hear this life any more. `owes` is acknowledged as words are. */
  open(begin: number): number | null;
  owes(position: number): number | null;
  append(from: number, part: Int32Array): number | null;
  /** Something is stable now. */
  changed(): void;
}

export class SetStream implements DeterminantStream {
  born: number;
  stable: number;
  /** Position of the first word that is kept, and all words from there on. */
  #begin: number;
  #kept: number[];
  /** Position behind what is on its way. */
  #sent: number;
  readonly #ports: SetStreamPorts;
  #isOpen = false;
  #isPlanned = false;
  #isUrgent = false;

  /** `known`: words of the lives before, as far as the event logger has them, from a position on. */
  constructor(known: { readonly from: number; readonly words: Int32Array }, ports: SetStreamPorts) {
    this.#begin = known.from;
    this.#kept = [...known.words];
    this.born = (known.from + known.words.length) | 0;
    this.stable = this.born;
    this.#sent = this.born;
    this.#ports = ports;
  }

  append(rank: number, kind: DeterminantKind, words: readonly number[]): void {
    this.#kept.push(determinantHeaderWords + words.length, rank, kind, ...words);
    this.born = (this.#begin + this.#kept.length) | 0;
    this.#plan(false);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {
    if (this.#isUrgent || this.born === this.#sent) return;
    this.#isUrgent = true;
    this.#isPlanned = false;
    this.#plan(true);
  }

  /** No image will be restored whose position is lower. */
  trim(below: number): void {
    const count = (below - this.#begin) | 0;
    if (count <= 0) return;
    this.#kept.splice(0, count);
    this.#begin = below;
  }

  /** There is a connection to the event logger, and nothing has been said on it. */
  connect(): void {
    this.#isOpen = false;
    const ports = this.#ports;
    const begin = this.#begin;
    ports.travel(() => {
      const from = ports.open(begin);
      if (from !== null) ports.travelBack(() => this.#opened(from));
    });
  }

  #opened(from: number): void {
    // Trimmed meanwhile: said again, as real ones do.
    if (((from - this.#begin) | 0) < 0) {
      this.connect();
      return;
    }
    this.#isOpen = true;
    const { stable } = this;
    this.#ports.travel(() => this.#acknowledge(this.#ports.owes(stable)));
    this.#sent = from;
    this.#send();
  }

  #plan(isUrgent: boolean): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#ports.later(isUrgent, () => {
      this.#isPlanned = false;
      this.#isUrgent = false;
      this.#send();
    });
  }

  #send(): void {
    if (!this.#isOpen || this.born === this.#sent) return;
    const from = this.#sent;
    const part = Int32Array.from(this.#kept.slice((from - this.#begin) | 0));
    this.#sent = this.born;
    // A connection knows nothing of entries: who falls may have sent a part of one.
    const cut = (5 * part.length) >> 3;
    this.#sendPart(from, part.subarray(0, cut));
    this.#sendPart((from + cut) | 0, part.subarray(cut));
  }

  #sendPart(from: number, part: Int32Array): void {
    this.#ports.travel(() => this.#acknowledge(this.#ports.append(from, part)));
  }

  #acknowledge(end: number | null): void {
    if (end === null) return;
    this.#ports.travelBack(() => {
      if (((end - this.stable) | 0) <= 0) return;
      this.stable = end;
      this.#ports.changed();
    });
  }
}
