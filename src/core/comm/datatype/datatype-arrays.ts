/**
 * A process's part of a large array (MPI 5.0 §5.1.3 and §5.1.4): `subarray` is a box in the array, `darray` the part that a
 * distribution of High Performance Fortran gives to one process of a grid. Both types extend over the whole array, so that
 * consecutive items tile.
 *
 * Built from the fastest dimension outwards: each dimension repeats the type of the faster ones, some extents apart.
 */
import {
  DISTRIBUTE_BLOCK,
  DISTRIBUTE_CYCLIC,
  DISTRIBUTE_DFLT_DARG,
  DISTRIBUTE_NONE,
  ORDER_C,
  ORDER_FORTRAN,
} from "../../base/constants.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { Datatype } from "./datatype.ts";
import { Combiner } from "./datatype-combiner.ts";
import { boundShape, joinShapes, repeatShape, shiftShape, type TypeShape } from "./shape.ts";

export interface Subarray {
  readonly sizes: readonly number[];
  readonly subsizes: readonly number[];
  readonly starts: readonly number[];
  readonly order: number;
}

export function subarray(type: Datatype, { sizes, subsizes, starts, order }: Subarray): Datatype {
  checkDimensions([sizes, subsizes, starts], order);
  sizes.forEach((size, i) => {
    const [subsize, start] = [subsizes[i]!, starts[i]!];
    const fits = size > 0 && subsize > 0 && subsize <= size && start >= 0 && start + subsize <= size;
    if (!fits) throw wrong(`dimension ${i} takes ${subsize} from ${start} on and has ${size}`);
  });
  let [shape, stride] = [type.shape, type.extent];
  for (const i of fastestFirst(sizes.length, order)) {
    shape = shiftShape(repeatShape(shape, subsizes[i]!, stride), starts[i]! * stride);
    stride *= sizes[i]!;
  }
  return new Datatype(boundShape(shape, 0, stride), {
    combiner: Combiner.SUBARRAY,
    integers: [sizes.length, ...sizes, ...subsizes, ...starts, order],
    addresses: [],
    datatypes: [type],
  });
}

export interface Darray {
  /** Processes of the grid, and the number of this process, counted in row-major order for every `order`. */
  readonly size: number;
  readonly rank: number;
  readonly gsizes: readonly number[];
  readonly distributions: readonly number[];
  /** Block length of a dimension, or DISTRIBUTE_DFLT_DARG. */
  readonly dargs: readonly number[];
  readonly psizes: readonly number[];
  readonly order: number;
}

export function darray(type: Datatype, array: Darray): Datatype {
  const { size, rank, gsizes, distributions, dargs, psizes, order } = array;
  checkDimensions([gsizes, distributions, dargs, psizes], order);
  const processes = psizes.reduce((product, psize) => product * psize, 1);
  if (processes !== size) throw wrong(`the grid has ${processes} processes and must have ${size}`);
  if (!(rank >= 0 && rank < size)) throw wrong(`rank ${rank} is none of 0 to ${size - 1}`);
  const coordinates = rowMajor(rank, psizes);
  let [shape, stride] = [type.shape, type.extent];
  for (const i of fastestFirst(gsizes.length, order)) {
    const share = { gsize: gsizes[i]!, psize: psizes[i]!, coordinate: coordinates[i]!, block: blockOf(array, i) };
    shape = cyclic(shape, stride, share);
    stride *= gsizes[i]!;
  }
  return new Datatype(boundShape(shape, 0, stride), {
    combiner: Combiner.DARRAY,
    integers: [size, rank, gsizes.length, ...gsizes, ...distributions, ...dargs, ...psizes, order],
    addresses: [],
    datatypes: [type],
  });
}

/** Every distribution is a cyclic one: NONE is one block of the whole dimension, BLOCK one block for each process. */
function blockOf({ gsizes, distributions, dargs, psizes }: Darray, i: number): number {
  const [gsize, darg, psize] = [gsizes[i]!, dargs[i]!, psizes[i]!];
  const isDefault = darg === DISTRIBUTE_DFLT_DARG;
  if (gsize <= 0 || psize <= 0)
    throw wrong(`dimension ${i} has ${gsize} items on ${psize} processes and must have some`);
  if (!isDefault && darg <= 0) throw wrong(`the blocks of dimension ${i} have ${darg} items and must have some`);
  switch (distributions[i]) {
    case DISTRIBUTE_NONE:
      if (psize !== 1) throw wrong(`dimension ${i} is not distributed but has ${psize} processes and must have 1`);
      return gsize;
    case DISTRIBUTE_BLOCK:
      if (!isDefault && darg * psize < gsize) {
        throw wrong(`${psize} blocks of ${darg} do not hold the ${gsize} items of dimension ${i}`);
      }
      return isDefault ? Math.ceil(gsize / psize) : darg;
    case DISTRIBUTE_CYCLIC:
      return isDefault ? 1 : darg;
    default:
      throw wrong(`the distribution of dimension ${i} is ${distributions[i]} and must be block, cyclic or none`);
  }
}

interface Share {
  readonly gsize: number;
  readonly psize: number;
  readonly coordinate: number;
  readonly block: number;
}

/** Blocks coordinate, coordinate + psize, … of the dimension; the last one of the array may be short. */
function cyclic(item: TypeShape, stride: number, { gsize, psize, coordinate, block }: Share): TypeShape {
  const blocks = Math.ceil(gsize / block);
  const count = Math.max(0, Math.ceil((blocks - coordinate) / psize));
  const short = gsize % block;
  const endsShort = short !== 0 && count > 0 && coordinate + (count - 1) * psize === blocks - 1;
  const at = (i: number): number => (coordinate + i * psize) * block * stride;
  const whole = endsShort ? count - 1 : count;
  const body = repeatShape(repeatShape(item, block, stride), whole, psize * block * stride);
  const tail = repeatShape(item, endsShort ? short : 0, stride);
  return joinShapes([shiftShape(body, at(0)), shiftShape(tail, at(count - 1))]);
}

function rowMajor(rank: number, sizes: readonly number[]): number[] {
  let rest = rank;
  return sizes
    .map((_, i) => sizes.length - 1 - i)
    .map((i) => {
      const coordinate = rest % sizes[i]!;
      rest = Math.floor(rest / sizes[i]!);
      return coordinate;
    })
    .reverse();
}

function fastestFirst(dimensions: number, order: number): number[] {
  return Array.from({ length: dimensions }, (_, i) => (order === ORDER_C ? dimensions - 1 - i : i));
}

function checkDimensions(lists: readonly (readonly number[])[], order: number): void {
  const dimensions = lists[0]!.length;
  if (dimensions === 0) throw wrong("it has 0 dimensions and must have 1 or more");
  if (lists.some((list) => list.length !== dimensions)) throw wrong("its lists must have one entry for each dimension");
  if (order !== ORDER_C && order !== ORDER_FORTRAN) throw wrong(`order ${order} is neither ORDER_C nor ORDER_FORTRAN`);
}

function wrong(state: string): MpiError {
  return new MpiError(ErrorClass.ARG, `Cannot make the array datatype: ${state}`);
}
