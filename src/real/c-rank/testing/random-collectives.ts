/**
 * Random blocking collectives of all ranks of a communicator: every operation on every kind of element, lengths around all limits, in
 * place and not, any root; now and then lengths that differ, or another function, or an argument that one rank must refuse.
 */
import type { SeededRandom } from "../../../core/base/seeded-random.ts";
import type { Argument, Step } from "./random-calls.ts";

const IN_PLACE = 1;
/** Handles, and bytes of one item. */
const integers: readonly (readonly [number, number])[] = [
  [0x243, 1],
  [0x245, 1],
  [0x208, 2],
  [0x20c, 2],
  [0x209, 4],
  [0x20d, 4],
  [0x20a, 4],
  [0x20b, 8],
  [0x20f, 8],
  [0x258, 8],
];
const floats: readonly (readonly [number, number])[] = [
  [0x210, 4],
  [0x214, 8],
  [0x214, 8],
];
/** The engine's: long double, a complex number. */
const others: readonly (readonly [number, number])[] = [
  [0x220, 16],
  [0x212, 8],
];
const BYTE: readonly [number, number] = [0x247, 1];
const [SUM, PROD] = [0x21, 0x24];
const orders = [0x22, 0x23];
const bits = [0x28, 0x29, 0x2a];
const truths = [0x30, 0x31, 0x32];
/** Around what crosses at once (16, 64, 128 bytes) and what a part of the board holds (256 bytes in most worlds, or 1024). */
const counts = [0, 1, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 255, 257];

const kinds = [
  ...["MPI_Barrier", "MPI_Bcast", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allreduce"],
  ...["MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"],
];
/** Of all blocks of a buffer: a rank has little memory. */
const blocksBytesMax = 16_384;

interface RandomCollectiveOptions {
  readonly random: SeededRandom;
  readonly ranks: number;
  readonly comm: Argument;
  /** The rank in the communicator of a rank of the job. */
  rankOf(world: number): number;
  /** A new buffer of so many bytes. */
  bufferOf(bytes: number): number;
  /** May ranks disagree? */
  readonly mayDiffer: boolean;
}

/** The call of each rank. */
export function randomCollective(options: RandomCollectiveOptions): Step[] {
  const { random, ranks, comm, bufferOf, mayDiffer } = options;
  const below = (bound: number): number => random.bits() % bound;
  const of = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const [type, size] = of([...integers, ...floats, ...floats, of(others), BYTE]);
  const isInteger = integers.some(([handle]) => handle === type);
  const isFloat = floats.some(([handle]) => handle === type);
  const kind = of(kinds);
  const hasBlocks =
    kind === "MPI_Gather" || kind === "MPI_Scatter" || kind === "MPI_Allgather" || kind === "MPI_Alltoall";
  const count = of(hasBlocks ? counts.filter((each) => each * size * ranks <= blocksBytesMax) : counts);
  const root = below(ranks);
  const sums = type === BYTE[0] ? bits : [SUM, SUM, PROD];
  const op = of(isInteger ? [...sums, ...orders, ...bits, ...truths] : isFloat ? [...sums, ...orders] : sums);
  const callOf = (name: string, rank: number, length: number): Step => {
    const buffer = (): number => bufferOf(length * size);
    const isInPlace = below(4) === 0;
    switch (name) {
      case "MPI_Barrier":
        return { name, args: [comm] };
      case "MPI_Bcast":
        return { name, args: [buffer(), length, type, root, comm] };
      case "MPI_Reduce":
        return {
          name,
          args: [
            isInPlace && options.rankOf(rank) === root ? IN_PLACE : buffer(),
            buffer(),
            length,
            type,
            op,
            root,
            comm,
          ],
        };
      case "MPI_Scatter":
        return scatterOf(name, rank, length, isInPlace);
      case "MPI_Gather":
      case "MPI_Allgather":
      case "MPI_Alltoall":
        return blocksOf(name, rank, length, isInPlace);
      default:
        return { name, args: [isInPlace ? IN_PLACE : buffer(), buffer(), length, type, op, comm] };
    }
  };
  /** Now and then one side says the same length in bytes, or another length. */
  const blocksOf = (name: string, rank: number, length: number, isInPlace: boolean): Step => {
    const isGather = name === "MPI_Gather";
    const mayBeInPlace = !isGather || options.rankOf(rank) === root;
    const sent = bufferOf(length * size * (name === "MPI_Alltoall" ? ranks : 1));
    const items = below(8) === 0 ? [length * size, BYTE[0]] : [length, type];
    const room = mayDiffer && below(12) === 0 ? [length + of([-1, 1]), type] : items;
    const args = [
      isInPlace && mayBeInPlace ? IN_PLACE : sent,
      length,
      type,
      bufferOf((length + 1) * size * ranks),
      ...room,
    ];
    return { name, args: isGather ? [...args, root, comm] : [...args, comm] };
  };
  const scatterOf = (name: string, rank: number, length: number, isInPlace: boolean): Step => {
    const isRoot = options.rankOf(rank) === root;
    const items = below(8) === 0 ? [length * size, BYTE[0]] : [length, type];
    const room = mayDiffer && below(12) === 0 ? [length + of([-1, 1]), type] : [length, type];
    const from = isRoot ? bufferOf(length * size * ranks) : of([0, 1, bufferOf(8)]);
    const to = isInPlace && isRoot ? IN_PLACE : bufferOf((length + 1) * size);
    return { name, args: [from, ...items, to, ...room, root, comm] };
  };
  const calls = Array.from({ length: ranks }, (_, rank) => callOf(kind, rank, count));
  if (mayDiffer && below(6) === 0) {
    const odd = below(ranks);
    const dice = below(3);
    if (dice === 0) calls[odd] = callOf(kind, odd, of(counts));
    else if (dice === 1) calls[odd] = callOf(of(["MPI_Barrier", "MPI_Reduce", "MPI_Allreduce"]), odd, count);
    else {
      const args = [...calls[odd]!.args];
      args[below(args.length)] = of([-1, 0, 8, 0x1ff, 0x3f, ranks, 1 << 30]);
      calls[odd] = { name: calls[odd]!.name, args };
    }
  }
  return calls;
}
