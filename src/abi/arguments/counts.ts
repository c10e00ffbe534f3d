/**
 * The numbers of a call: most functions exist twice, with counts of 4 bytes (int, MPI_Aint) and, their names ending in `_c`,
 * with counts of 8 (MPI_Count). `Counts` reads and writes either, so that one description serves both forms.
 */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { Program } from "../program.ts";

export interface Counts {
  /** What the names of these functions end in. */
  readonly suffix: "" | "_c";
  /** A parameter. */
  of(value: number | bigint): number;
  /** One in memory. */
  at(address: number): number;
  list(address: number, length: number): number[];
  /** A result; MPI_UNDEFINED where it does not fit (MPI 5.0 §5.1.5). */
  put(address: number, value: number | bigint): void;
}

export const intMax = 2 ** 31 - 1;
/** An MPI_Count is no larger. */
export const countMax = 2n ** 63n - 1n;

export const fitsInt = (value: number | bigint): boolean => value >= -(2 ** 31) && value <= intMax;

export function smallCounts(program: Program): Counts {
  const { ints } = program;
  return {
    suffix: "",
    of: Number,
    at: (address) => ints[address >> 2]!,
    list(address, length) {
      return program.list(address, length);
    },
    put(address, value) {
      ints[address >> 2] = fitsInt(value) ? Number(value) : UNDEFINED;
    },
  };
}

export function largeCounts(program: Program): Counts {
  const { longs } = program;
  return {
    suffix: "_c",
    of: numberOf,
    at: (address) => numberOf(longs[address >> 3]!),
    list(address, length) {
      program.checkWords(address, 2 * length);
      return Array.from(longs.subarray(address >> 3, (address >> 3) + length), numberOf);
    },
    put(address, value) {
      longs[address >> 3] = BigInt(value);
    },
  };
}

/** A count of 64 bits. Sizes are exact up to 2^53, and no memory is as large. */
export function numberOf(value: number | bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new MpiError(ErrorClass.COUNT, `Cannot use a count of ${value}: counts are at most 2^53`);
}

/** A size or an offset of a file, which has 64 bits; the same holds. */
export function offsetOf(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new MpiError(ErrorClass.ARG, `Cannot use ${value} as a size or offset of a file: they are at most 2^53`);
}
