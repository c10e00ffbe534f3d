/**
 * The stream of determinants of one life of a correlated set, simulated: entries are on their way to the event logger after a
 * while, sooner when somebody waits; what is not there when the set falls is lost with it, and so are acknowledgements. What
 * has not been acknowledged is sent again when the connection to the event logger was lost and is there again.
 */
import type { DeterminantKind, DeterminantStream } from "../../core/ft/logging/determinant-stream.ts";
import { determinantHeaderWords } from "../../core/wire/determinant-entries.ts";

export interface SetStreamPorts {
  /** After a while, unless the set has fallen by then. */
  later(isUrgent: boolean, act: () => void): void;
  /** Something travels to the event logger: it may get there even when the set has fallen, but nothing overtakes anything. */
  travel(act: () => void): void;
  /** Something travels back, if the connection lasts. */
  acknowledge(act: () => void): void;
  /** The event logger takes a part: the position up to which it has all, or null: it does not hear this life any more. */
  append(from: number, part: Int32Array): number | null;
  /** Something is stable now. */
  changed(): void;
}

export class SetStream implements DeterminantStream {
  born: number;
  stable: number;
  /** Position behind what is on its way; and all up to there that is not acknowledged. */
  #sent: number;
  #unacknowledged: { readonly from: number; readonly part: Int32Array }[] = [];
  readonly #ports: SetStreamPorts;
  #waiting: number[] = [];
  #isPlanned = false;
  #isUrgent = false;

  /** `position`: where the life before it ended, as far as the event logger knows. */
  constructor(position: number, ports: SetStreamPorts) {
    this.born = position;
    this.stable = position;
    this.#sent = position;
    this.#ports = ports;
  }

  append(rank: number, kind: DeterminantKind, words: readonly number[]): void {
    this.#waiting.push(determinantHeaderWords + words.length, rank, kind, ...words);
    this.born = (this.#sent + this.#waiting.length) | 0;
    this.#plan(false);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {
    if (this.#isUrgent || this.#waiting.length === 0) return;
    this.#isUrgent = true;
    this.#isPlanned = false;
    this.#plan(true);
  }

  #plan(isUrgent: boolean): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#ports.later(isUrgent, () => this.#send());
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    const part = Int32Array.from(this.#waiting);
    const from = this.#sent;
    this.#waiting = [];
    this.#sent = this.born;
    this.#isPlanned = false;
    this.#isUrgent = false;
    // A connection knows nothing of entries: who falls may have sent a part of one.
    const cut = (5 * part.length) >> 3;
    for (const [begin, piece] of [
      [0, part.subarray(0, cut)],
      [cut, part.subarray(cut)],
    ] as const) {
      this.#unacknowledged.push({ from: (from + begin) | 0, part: piece });
      this.#ports.travel(() => this.#arrive((from + begin) | 0, piece));
    }
  }

  /** The connection is new: whatever was on its way on the old one, either way, may be lost. */
  reconnect(): void {
    for (const { from, part } of this.#unacknowledged) this.#ports.travel(() => this.#arrive(from, part));
  }

  #arrive(from: number, part: Int32Array): void {
    const end = this.#ports.append(from, part);
    if (end === null) return;
    this.#ports.acknowledge(() => {
      if (((end - this.stable) | 0) <= 0) return;
      this.stable = end;
      this.#unacknowledged = this.#unacknowledged.filter(({ from, part }) => ((from + part.length - end) | 0) > 0);
      this.#ports.changed();
    });
  }
}
