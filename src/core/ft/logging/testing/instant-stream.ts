/** A stream whose entries are stable as soon as they are born: for tests, and for measuring what stability costs. */

import { determinantHeaderWords } from "../../determinants/determinant-entries.ts";
import type { DeterminantKind, DeterminantStream } from "../../determinants/determinant-stream.ts";

export class InstantStream implements DeterminantStream {
  born = 0;
  readonly words: number[] = [];

  get stable(): number {
    return this.born;
  }

  append(rank: number, kind: DeterminantKind, words: readonly number[]): void {
    const length = determinantHeaderWords + words.length;
    this.words.push(length, rank, kind, ...words);
    this.born = (this.born + length) | 0;
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {}
}
