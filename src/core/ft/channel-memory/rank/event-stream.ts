/**
 * The determinants of a rank on their way to its home memory. Positions count events, in all lives of the rank: an image has the number
 * of those before it.
 */
import { lives } from "../../../base/saved-classes.ts";
import type { DeterminantKind, DeterminantStream } from "../../determinants/determinant-stream.ts";
import { ToMemory } from "../frames.ts";
import type { PostBox } from "./post-box.ts";

export class EventStream implements DeterminantStream {
  static readonly unsaved = { stable: 0 };
  private readonly home: PostBox;
  born = 0;
  stable = 0;

  constructor(home: PostBox) {
    this.home = home;
  }

  append(_rank: number, kind: DeterminantKind, words: readonly number[]): void {
    const number = this.born++;
    this.home.addWords([ToMemory.EVENT, number, kind, ...words]);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {
    this.home.urge();
  }

  /** A life begins with an image: its events are with the home memory. */
  beginLife(): void {
    this.stable = this.born;
  }

  /** An event of an earlier life, which this one will repeat. */
  heard(number: number): void {
    this.born = number + 1;
    this.stable = this.born;
  }

  confirmed(number: number): void {
    this.stable = Math.max(this.stable, number + 1);
  }
}

lives({ EventStream });
