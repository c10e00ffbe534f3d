/**
 * The `_c` forms of messages and collectives: the plain form with counts of 8 bytes. A message is one int32 of bytes long at
 * most, so a count that is no int is refused, and all others are handed to the plain form. Arrays of counts are copied to
 * ints first; displacements (MPI_Aint) have 4 bytes in both forms.
 */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { isRoot } from "../../core/binding/checks.ts";
import { fitsInt, intMax, largeCounts } from "../arguments/counts.ts";
import type { Call } from "../call-table.ts";
import { MPI_IN_PLACE } from "../collectives/collective-arguments.ts";
import type { CCommunicator } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { receiver, sender } from "./point-to-point.ts";

type Args = (number | bigint)[];

/** An array of counts among the arguments: which one, and how many there are here; 0 where the array means nothing. */
interface CountArray {
  readonly index: number;
  readonly length: (comm: CCommunicator, args: Args) => number;
}

/** Where the communicator stands among the arguments; −1: there is none. */
const noComm = -1;

const messages: Readonly<Record<string, number>> = {
  MPI_Send: 5,
  MPI_Bsend: 5,
  MPI_Ssend: 5,
  MPI_Rsend: 5,
  MPI_Recv: 5,
  MPI_Isend: 5,
  MPI_Ibsend: 5,
  MPI_Issend: 5,
  MPI_Irsend: 5,
  MPI_Irecv: 5,
  MPI_Send_init: 5,
  MPI_Bsend_init: 5,
  MPI_Ssend_init: 5,
  MPI_Rsend_init: 5,
  MPI_Recv_init: 5,
  MPI_Sendrecv: 10,
  MPI_Sendrecv_replace: 7,
  MPI_Isendrecv: 10,
  MPI_Isendrecv_replace: 7,
  MPI_Mrecv: noComm,
  MPI_Imrecv: noComm,
  MPI_Reduce_local: noComm,
  MPI_Buffer_attach: noComm,
  MPI_Comm_attach_buffer: 0,
  MPI_Session_attach_buffer: noComm,
};

/** Those that raise their errors themselves, and are told their name. */
const telling: Readonly<Record<string, (program: Program, name: string) => Call>> = {
  MPI_Send: sender,
  MPI_Recv: receiver,
};

/** Those that only write a count: which argument is its address. */
const results: Readonly<Record<string, number>> = {
  MPI_Buffer_detach: 1,
  MPI_Comm_detach_buffer: 2,
  MPI_Session_detach_buffer: 2,
};

const peers = ({ core }: CCommunicator): number => core.peers.size;
const members = ({ core }: CCommunicator): number => core.size;
const sources = ({ core }: CCommunicator): number => core.topology?.neighbours(core.rank).sources.length ?? 0;
const destinations = ({ core }: CCommunicator): number => core.topology?.neighbours(core.rank).destinations.length ?? 0;
/** Counts of a gather or scatter mean something at the root alone. */
const atRoot = (comm: CCommunicator, args: Args): number =>
  isRoot(comm, "gather or scatter", Number(args[7])) ? peers(comm) : 0;
const unlessInPlace = (comm: CCommunicator, args: Args): number => (args[0] === MPI_IN_PLACE ? 0 : peers(comm));

interface Collective {
  readonly comm: number;
  readonly arrays?: readonly CountArray[];
}

/** Without MPI_, MPI_I and _init. */
const collectives: Readonly<Record<string, Collective>> = {
  Bcast: { comm: 4 },
  Gather: { comm: 7 },
  Gatherv: { comm: 8, arrays: [{ index: 4, length: atRoot }] },
  Scatter: { comm: 7 },
  Scatterv: { comm: 8, arrays: [{ index: 1, length: atRoot }] },
  Allgather: { comm: 6 },
  Allgatherv: { comm: 7, arrays: [{ index: 4, length: peers }] },
  Alltoall: { comm: 6 },
  Alltoallv: {
    comm: 8,
    arrays: [
      { index: 1, length: unlessInPlace },
      { index: 5, length: peers },
    ],
  },
  Alltoallw: {
    comm: 8,
    arrays: [
      { index: 1, length: unlessInPlace },
      { index: 5, length: peers },
    ],
  },
  Reduce: { comm: 6 },
  Allreduce: { comm: 5 },
  Scan: { comm: 5 },
  Exscan: { comm: 5 },
  Reduce_scatter: { comm: 5, arrays: [{ index: 2, length: members }] },
  Reduce_scatter_block: { comm: 5 },
  Neighbor_allgather: { comm: 6 },
  Neighbor_allgatherv: { comm: 7, arrays: [{ index: 4, length: sources }] },
  Neighbor_alltoall: { comm: 6 },
  Neighbor_alltoallv: {
    comm: 8,
    arrays: [
      { index: 1, length: destinations },
      { index: 5, length: sources },
    ],
  },
  Neighbor_alltoallw: {
    comm: 8,
    arrays: [
      { index: 1, length: destinations },
      { index: 5, length: sources },
    ],
  },
};

/** `calls`: the plain forms. Those that are not there have no `_c` form either. */
export function largeCountCalls(program: Program, calls: Readonly<Record<string, Call>>): Record<string, Call> {
  const { ints, memory } = program;
  const { list } = largeCounts(program);
  const large: Record<string, Call> = {};

  function intsOf(args: Args): number[] {
    return args.map((value) => {
      if (fitsInt(value)) return Number(value);
      const state =
        value < 0 ? "counts are whole numbers from 0" : `a message has at most ${intMax} elements; send it in pieces`;
      throw new MpiError(ErrorClass.COUNT, `Cannot use a count of ${value}: ${state}`);
    });
  }

  /** A copy of an array of counts, as ints. */
  function intArray(address: number, length: number): Pointer {
    const counts = intsOf(list(address, length));
    const copy = memory.allocate(4 * length);
    ints.set(counts, copy >> 2);
    return copy;
  }

  function add(name: string, makeForm: (plain: Call) => Call): void {
    const plain = calls[name];
    if (plain !== undefined) large[`${name}_c`] = makeForm(telling[name]?.(program, `${name}_c`) ?? plain);
  }

  /** Arrays are read during the call, also those of persistent requests. */
  function withArrays(plain: Call, { comm, arrays = [] }: Collective): Call {
    return (...args: Args) => {
      const communicator = program.comm(args[comm] as number);
      const small = intsOf(args);
      const copies: Pointer[] = [];
      try {
        for (const { index, length } of arrays) {
          const copy = intArray(small[index]!, length(communicator, args));
          copies.push(copy);
          small[index] = copy;
        }
        return plain(...small);
      } finally {
        for (const copy of copies) memory.free(copy);
      }
    };
  }

  for (const [name, comm] of Object.entries(messages)) {
    add(name, (plain) => (...args: Args) => {
      if (comm !== noComm) program.comm(args[comm] as number);
      return plain(...intsOf(args));
    });
  }
  for (const [name, out] of Object.entries(results)) {
    add(name, (plain) => (...args: Args) => {
      // The lower half is where an int would be; sizes are never negative.
      ints[((args[out] as number) >> 2) + 1] = 0;
      return plain(...args);
    });
  }
  for (const [name, collective] of Object.entries(collectives)) {
    const lower = name[0]!.toLowerCase() + name.slice(1);
    for (const form of [name, `I${lower}`, `${name}_init`])
      add(`MPI_${form}`, (plain) => withArrays(plain, collective));
  }
  return large;
}
