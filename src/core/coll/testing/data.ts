/**
 * Test data of this folder: sizes, roots, distinguishable blocks, and operations for which order matters, with the canonical
 * fold written a second time, by its recursive definition.
 */
import { filledBytes } from "../../../../test/filled-bytes.ts";
import { tries } from "../../../../test/long.ts";
import { type Combine, equal, random } from "./collective-world.ts";

/**
 * Row M3: every algorithm is checked exhaustively for 1 … 33 ranks. What differs above 17 is one more round for more than 32: those around
 * that limit run always, for the time that a size takes grows with its square.
 */
export const sizes: readonly number[] = Array.from({ length: 33 }, (_, index) => index + 1).filter(
  (size) => size <= 17 || size >= 31 || tries(0, 1) === 1,
);

/** Every root of small communicators, some of large ones. */
export function rootsOf(size: number): number[] {
  if (size <= 9) return Array.from({ length: size }, (_, rank) => rank);
  return [0, 1, size >> 1, size - 1];
}

export const ranksOf = (size: number): number[] => Array.from({ length: size }, (_, rank) => rank);

/** Placements: consecutive ranks together, round robin, unequal nodes, no order at all. */
export function memberNodesOf(size: number): number[][] {
  const draw = random(size);
  return [
    ranksOf(size).map((rank) => Math.floor(rank / 4)),
    ranksOf(size).map((rank) => rank % 3),
    ranksOf(size).map((rank) => (rank < 2 ? 7 : rank < 7 ? 1 : 4)),
    ranksOf(size).map(() => draw(5)),
  ];
}

/** Bytes that identify their owner. */
export function pattern(from: number, to: number, bytes: number): Uint8Array {
  const draw = random(from * 1009 + to * 31 + bytes);
  return filledBytes(bytes, () => draw(256));
}

export interface TestReduction {
  readonly name: string;
  readonly elementBytes: number;
  readonly combine: Combine;
  /** A contribution of that many elements. */
  contribution(rank: number, elements: number): Uint8Array;
}

const doubles = (bytes: Uint8Array): Float64Array =>
  new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
const bytesOf = (numbers: Float64Array | Uint32Array): Uint8Array => new Uint8Array(numbers.buffer);

/** Magnitudes that absorb each other: the sum depends on every bracket. */
const sum: TestReduction = {
  name: "floating-point sum",
  elementBytes: 8,
  combine(left, right, into) {
    const [a, b, c] = [doubles(left), doubles(right), doubles(into)];
    for (let index = 0; index < c.length; index++) c[index] = a[index]! + b[index]!;
  },
  contribution(rank, elements) {
    const draw = random(rank + 77);
    const magnitudes = [1e16, 1, -1e16, 1e-3];
    return bytesOf(
      Float64Array.from({ length: elements }, () => magnitudes[draw(4)]! * (1 + draw(1 << 30) / (1 << 30))),
    );
  },
};

/** Neither commutative nor, with rounding, associative; elements of 32 bytes. */
const matrix: TestReduction = {
  name: "product of 2×2 matrices",
  elementBytes: 32,
  combine(left, right, into) {
    const [x, y, z] = [doubles(left), doubles(right), doubles(into)];
    for (let at = 0; at < z.length; at += 4) {
      const [a, b, c, d] = [x[at]!, x[at + 1]!, x[at + 2]!, x[at + 3]!];
      const [e, f, g, h] = [y[at]!, y[at + 1]!, y[at + 2]!, y[at + 3]!];
      z[at] = a * e + b * g;
      z[at + 1] = a * f + b * h;
      z[at + 2] = c * e + d * g;
      z[at + 3] = c * f + d * h;
    }
  },
  contribution(rank, elements) {
    const draw = random(rank + 5);
    return bytesOf(Float64Array.from({ length: elements * 4 }, () => draw(1 << 30) / (1 << 30) - 0.3));
  },
};

/** Mixes bits so that two brackets or two orders never agree: equal results prove the same tree. */
const mix: TestReduction = {
  name: "hash of the tree",
  elementBytes: 4,
  combine(left, right, into) {
    const [a, b, c] = [words(left), words(right), words(into)];
    for (let index = 0; index < c.length; index++) {
      const [x, y] = [Math.imul(a[index]!, 0x9e3779b1), Math.imul(b[index]!, 0x85ebca6b)];
      const turned = (y << 13) | (y >>> 19);
      c[index] = (x ^ (x >>> 15)) + turned + 0x7f4a7c15;
    }
  },
  contribution(rank, elements) {
    const draw = random(rank + 9);
    return bytesOf(Uint32Array.from({ length: elements }, () => draw(2 ** 32)));
  },
};

export const reductions: readonly TestReduction[] = [sum, matrix, mix];

/** The canonical result: folds the parts of ranks first … first + parts − 1 as the definition says. */
export function canonical(parts: readonly Uint8Array[], combine: Combine): Uint8Array {
  let width = 1;
  while (width * 2 <= parts.length) width *= 2;
  const pairs = parts.length - width;
  const join = (left: Uint8Array, right: Uint8Array): Uint8Array => {
    const into = new Uint8Array(left.length);
    combine(left, right, into);
    return into;
  };
  const virtuals = [
    ...ranksOf(pairs).map((pair) => join(parts[2 * pair]!, parts[2 * pair + 1]!)),
    ...parts.slice(2 * pairs),
  ];
  const fold = (blocks: readonly Uint8Array[]): Uint8Array => {
    if (blocks.length === 1) return blocks[0]!;
    const middle = blocks.length / 2;
    return join(fold(blocks.slice(0, middle)), fold(blocks.slice(middle)));
  };
  return fold(virtuals);
}

export function assertBytes(actual: Uint8Array | undefined, expected: Uint8Array, where: string): void {
  if (actual !== undefined && equal(actual, expected)) return;
  throw new Error(`${where}: got ${actual?.slice(0, 64)}, wanted ${expected.slice(0, 64)}`);
}
