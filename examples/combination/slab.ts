/**
 * One grid's solution in time, or the rows of it that one process has.
 *
 * Both problems are sums of one-dimensional operators with constant coefficients, so a time step is a sweep along each axis in turn with a stencil of three
 * points. A grid has 2^l_k points along axis k, at i · 2^−l_k, and the point at 1 is the point at 0: the domain is periodic, or the solution is zero at the edge,
 * where it is 0 at both. Values are in row-major order; a slab is a range of rows, the points of axis 0, with a border row at either side. All grids take the same time
 * steps, those that the finest level needs: then the error of time is the same everywhere, and does not disturb the combination.
 */
import type { Level } from "./scheme.ts";

/** Weights of the point before, the point itself and the point behind. */
export type Stencil = readonly [number, number, number];

export interface Problem {
  readonly name: string;
  /** Is the solution zero at the edge of the domain? Otherwise the domain is periodic. */
  readonly isZeroAtEdge: boolean;
  /** Time steps of all grids. */
  steps(finest: number): number;
  stencil(axis: number, points: number, steps: number): Stencil;
  /** The solution at the beginning, and at the end; it is a product of functions of one coordinate. */
  start(axis: number, x: number): number;
  exact(axis: number, x: number): number;
}

export interface Rows {
  readonly first: number;
  readonly count: number;
}

/** The rows of one of `size` processes. Where there are more processes than rows, the last ones have none. */
export function rowsOf(level: Level, rank: number, size: number): Rows {
  const rows = 2 ** level[0]!;
  const busy = Math.min(size, rows);
  if (rank >= busy) return { first: rows, count: 0 };
  const first = Math.floor((rows * rank) / busy);
  return { first, count: Math.floor((rows * (rank + 1)) / busy) - first };
}

/** Points of a row: of all axes but the first. */
export function rowPoints(level: Level): number {
  return level.slice(1).reduce((product, l) => product * 2 ** l, 1);
}

/** Values of a product of functions of one coordinate, at the points of some rows. */
export function sample(f: (axis: number, x: number) => number, level: Level, { first, count }: Rows): Float64Array {
  const row = rowPoints(level);
  const values = new Float64Array(count * row).fill(1);
  let stride = row;
  for (const [axis, l] of level.entries()) {
    const points = 2 ** l;
    if (axis > 0) stride /= points;
    const factors = Array.from({ length: points }, (_, i) => f(axis, i / points));
    for (let i = 0; i < values.length; i++) {
      const at = Math.floor(i / stride);
      values[i]! *= factors[axis === 0 ? first + at : at % points]!;
    }
  }
  return values;
}

export class Slab {
  readonly rows: Rows;
  readonly #row: number;
  readonly #level: Level;
  readonly #stencils: readonly Stencil[];
  readonly #isZeroAtEdge: boolean;
  /** With a border row before and behind. */
  #values: Float64Array;
  #next: Float64Array;

  constructor(problem: Problem, level: Level, { rows, steps }: { rows: Rows; steps: number }) {
    this.rows = rows;
    this.#level = level;
    this.#row = rowPoints(level);
    this.#isZeroAtEdge = problem.isZeroAtEdge;
    this.#stencils = level.map((l, axis) => problem.stencil(axis, 2 ** l, steps));
    this.#values = new Float64Array((rows.count + 2) * this.#row);
    this.#values.set(sample(problem.start, level, rows), this.#row);
    this.#next = new Float64Array(this.#values.length);
  }

  /** Row −1 and row `count` are the border rows. */
  rowAt(row: number): Float64Array {
    return this.#values.subarray((row + 1) * this.#row, (row + 2) * this.#row);
  }

  get ownValues(): Float64Array {
    return this.#values.subarray(this.#row, (this.rows.count + 1) * this.#row);
  }

  /** One time step. The border rows are those of the neighbours. */
  step(): void {
    this.#sweep(0, this.#row);
    let stride = this.#row;
    for (let axis = 1; axis < this.#level.length; axis++) {
      stride /= 2 ** this.#level[axis]!;
      this.#sweep(axis, stride);
    }
  }

  #sweep(axis: number, stride: number): void {
    const [before, here, behind] = this.#stencils[axis]!;
    const [from, to] = [this.#values, this.#next];
    const points = axis === 0 ? this.rows.count : 2 ** this.#level[axis]!;
    const last = (this.rows.count + 1) * this.#row;
    for (let line = this.#row; line < last; line += points * stride) {
      for (let i = 0; i < points; i++) {
        const at = line + i * stride;
        // The lines of axis 0 go on in the border rows, the others begin again.
        const left = axis > 0 && i === 0 ? line + (points - 1) * stride : at - stride;
        const right = axis > 0 && i === points - 1 ? line : at + stride;
        for (let j = 0; j < stride; j++) {
          to[at + j] = before * from[left + j]! + here * from[at + j]! + behind * from[right + j]!;
        }
      }
      const hasEdge = this.#isZeroAtEdge && (axis > 0 || this.rows.first === 0);
      if (hasEdge) to.fill(0, line, line + stride);
    }
    [this.#values, this.#next] = [to, from];
  }
}

/** The whole grid in one process. */
export function solveAlone(problem: Problem, level: Level, finest: number): Float64Array {
  const steps = problem.steps(finest);
  const slab = new Slab(problem, level, { rows: rowsOf(level, 0, 1), steps });
  for (let step = 0; step < steps; step++) {
    slab.rowAt(-1).set(slab.rowAt(slab.rows.count - 1));
    slab.rowAt(slab.rows.count).set(slab.rowAt(0));
    slab.step();
  }
  return slab.ownValues;
}
