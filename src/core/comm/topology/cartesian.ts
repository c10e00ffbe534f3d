/**
 * A grid of processes (MPI 5.0 §8.5.1): ranks in row-major order, each dimension open or closed to a ring. Only arithmetic: the
 * order of ranks is never changed to suit the machine, so `reorder` has no effect.
 */
import { CART, PROC_NULL, UNDEFINED } from "../../base/constants.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Neighbours } from "./graph.ts";

export class CartesianTopology {
  readonly kind = CART;
  readonly dims: readonly number[];
  readonly periods: readonly boolean[];
  /** Processes in the grid; one in a grid without dimensions. */
  readonly size: number;

  /** `processes` is the size of the old communicator; those beyond the grid are left out of the new one. */
  constructor(dims: readonly number[], periods: readonly boolean[], processes: number) {
    if (dims.length !== periods.length) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot make the grid: it has ${dims.length} dimensions and ${periods.length} periods`,
      );
    }
    const wrong = dims.findIndex((dim) => !Number.isSafeInteger(dim) || dim <= 0);
    if (wrong >= 0) {
      throw new MpiError(
        ErrorClass.DIMS,
        `Cannot make the grid: dimension ${wrong} is ${dims[wrong]} and must be 1 or more`,
      );
    }
    this.dims = [...dims];
    this.periods = [...periods];
    this.size = dims.reduce((product, dim) => product * dim, 1);
    if (this.size > processes) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot make the grid: it takes ${this.size} processes and the communicator has ${processes}`,
      );
    }
  }

  coordinates(rank: number): number[] {
    this.checkRank(rank);
    const coordinates: number[] = new Array(this.dims.length);
    let rest = rank;
    for (let i = this.dims.length - 1; i >= 0; i--) {
      coordinates[i] = rest % this.dims[i]!;
      rest = Math.floor(rest / this.dims[i]!);
    }
    return coordinates;
  }

  /** Coordinates of a periodic dimension may lie outside and wrap round; those of an open dimension may not. */
  rank(coordinates: readonly number[]): number {
    if (coordinates.length < this.dims.length) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot find the rank: there are ${coordinates.length} coordinates for ${this.dims.length} dimensions`,
      );
    }
    return this.dims.reduce((rank, dim, i) => {
      const coordinate = this.wrapped(i, coordinates[i]!);
      if (coordinate === undefined) {
        throw new MpiError(
          ErrorClass.ARG,
          `Cannot find the rank: coordinate ${i} is ${coordinates[i]} and must be 0 to ${dim - 1}`,
        );
      }
      return rank * dim + coordinate;
    }, 0);
  }

  /** The ranks that `rank` receives from and sends to when every process sends `displacement` steps ahead. */
  shift(rank: number, direction: number, displacement: number): { source: number; destination: number } {
    if (!(direction >= 0 && direction < this.dims.length)) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot shift in dimension ${direction}: the grid has ${this.dims.length} dimensions, from 0 on`,
      );
    }
    const coordinates = this.coordinates(rank);
    const neighbour = (by: number): number => {
      const coordinate = this.wrapped(direction, coordinates[direction]! + by);
      return coordinate === undefined ? PROC_NULL : this.rank(coordinates.with(direction, coordinate));
    };
    return { source: neighbour(-displacement), destination: neighbour(displacement) };
  }

  /**
   * The slice that contains `rank`, where `remain` says which dimensions stay: how to split the communicator, and the slice's
   * grid.
   */
  sub(rank: number, remain: readonly boolean[]): { color: number; key: number; topology: CartesianTopology } {
    if (remain.length < this.dims.length) {
      throw new MpiError(
        ErrorClass.ARG,
        `Cannot slice the grid: ${remain.length} of ${this.dims.length} dimensions say whether they stay`,
      );
    }
    const coordinates = this.coordinates(rank);
    const number = (stays: boolean): number =>
      this.dims.reduce((value, dim, i) => (remain[i] === stays ? value * dim + coordinates[i]! : value), 0);
    const keep = <T>(list: readonly T[]): T[] => list.filter((_, i) => remain[i]);
    const topology = new CartesianTopology(keep(this.dims), keep(this.periods), this.size);
    return { color: number(false), key: number(true), topology };
  }

  /** The rank in the grid of a process of the old communicator; UNDEFINED when the process is left out. */
  map(rank: number): number {
    return rank < this.size ? rank : UNDEFINED;
  }

  /** For each dimension the neighbours at −1 and +1, PROC_NULL at an open end (§8.6). */
  neighbours(rank: number): Neighbours {
    const list = this.dims.flatMap((_, direction) => {
      const { source, destination } = this.shift(rank, direction, 1);
      return [source, destination];
    });
    return { sources: list, destinations: list };
  }

  private wrapped(dimension: number, coordinate: number): number | undefined {
    const dim = this.dims[dimension]!;
    if (coordinate >= 0 && coordinate < dim) return coordinate;
    return this.periods[dimension] ? ((coordinate % dim) + dim) % dim : undefined;
  }

  private checkRank(rank: number): void {
    if (rank >= 0 && rank < this.size) return;
    throw new MpiError(ErrorClass.RANK, `Cannot find rank ${rank} in the grid: it has ranks 0 to ${this.size - 1}`);
  }
}

saves({ CartesianTopology });
