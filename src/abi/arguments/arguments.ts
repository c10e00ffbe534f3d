/**
 * The arguments of MPI functions, checked once, before a function does anything: every address that it will follow lies in the
 * program's memory, with all of what it leads to; words lie where words can lie; addresses of results are not 0. Which of its
 * parameters are addresses, and of what, says include/mpi.h (scripts/mpi-signatures.mjs).
 *
 * Buffers of messages (`data` there) have lengths that only counts, datatypes and the communicator tell: buffers.ts checks them.
 * What is no address (counts, ranks, handles) is checked by the functions themselves.
 *
 * A bad argument is MPI_ERR_ARG, a bad buffer MPI_ERR_BUFFER, told to the error handler of the communicator or file that the
 * call is about.
 */
import { signatures } from "../../../include/mpi.h";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { isRoot } from "../../core/binding/checks.ts";
import { MPI_IN_PLACE } from "../collectives/collective-arguments.ts";
import type { CCommunicator } from "../handles/objects.ts";
import { type Program, textBytesMax } from "../program.ts";
import { addressMin } from "./buffers.ts";
import { statusBytes } from "./status.ts";

type Values = readonly (number | bigint)[];
/** Throws when an argument is bad. */
export type Check = (args: Values) => void;

const BUFFER_AUTOMATIC = 2;
const UNWEIGHTED = 10;
const WEIGHTS_EMPTY = 11;

/** Bytes of what an address leads to; 4 for ints, handles, MPI_Aint and addresses themselves. */
const elementBytes: Readonly<Record<string, number>> = {
  char: 1,
  bytes: 1,
  attached: 1,
  MPI_Count: 8,
  MPI_Offset: 8,
  MPI_Status: statusBytes,
};

/** Addresses that stand for something else. */
const specialValues: Readonly<Record<string, readonly number[]>> = {
  attached: [BUFFER_AUTOMATIC],
  weights: [UNWEIGHTED, WEIGHTS_EMPTY],
  // MPI_COMM_NULL_COPY_FN and MPI_COMM_DUP_FN.
  "function?": [0, 1],
};

/** What is not followed, or checked elsewhere. */
const unchecked = new Set(["comm", "file", "data", "list", "value"]);

type Length = (program: Program, args: Values) => number;

/** A parameter that is an address. */
interface Pointer {
  readonly name: string;
  readonly index: number;
  /** What it leads to: `int`, `MPI_Status`, `bytes`, …; `text` and `function` are looked at more closely. */
  readonly kind: string;
  readonly isPlain: boolean;
  readonly isOptional: boolean;
  readonly specials: readonly number[];
  /** Of one element. */
  readonly bytes: number;
  /** The bits of an address that must be 0. */
  readonly mask: number;
  /** How many elements; null: one. */
  readonly length: Length | null;
}

interface Signature {
  readonly name: string;
  /** Where the communicator and the file stand among the arguments; −1: nowhere. */
  readonly comm: number;
  readonly file: number;
  readonly pointers: readonly Pointer[];
}

/** Lengths that the communicator knows. */
const lengths: Readonly<Record<string, (comm: CCommunicator, args: Values, root: number) => number>> = {
  peers: ({ core }) => core.peers.size,
  peersAtRoot: (comm, args, root) => (isRoot(comm, "gather or scatter", Number(args[root])) ? comm.core.peers.size : 0),
  peersUnlessInPlace: ({ core }, args) => (args[0] === MPI_IN_PLACE ? 0 : core.peers.size),
  members: ({ core }) => core.size,
  sources: ({ core }) => core.topology?.neighbours(core.rank).sources.length ?? 0,
  destinations: ({ core }) => core.topology?.neighbours(core.rank).destinations.length ?? 0,
};

/** `128`, `count`, `3*n`, `valuelen+1`, `*buflen` (the int there), or one of `lengths`. */
function lengthOf(text: string, names: readonly string[], comm: number): Length {
  const known = lengths[text];
  const root = names.indexOf("root");
  if (known !== undefined) return (program, args) => known(program.comm(args[comm] as number), args, root);
  const [, factor = 1, star, name, more = 0] = /^(?:(\d+)\*)?(\*)?(\w+)(?:\+(\d+))?$/.exec(text)!;
  const index = names.indexOf(name!);
  if (index < 0) return () => Number(name);
  if (star !== undefined) return ({ ints }, args) => ints[(args[index] as number) >> 2] ?? 0;
  return (_program, args) => Number(factor) * Number(args[index]) + Number(more);
}

/** Those that have been read: they are the same for every program of the thread. */
const known = new Map<string, Signature>();

function signatureOf(name: string): Signature {
  let signature = known.get(name);
  if (signature === undefined) {
    signature = parse(name, signatures[name] ?? "");
    known.set(name, signature);
  }
  return signature;
}

/** Reads the line of a function. */
function parse(name: string, line: string): Signature {
  const parameters = line.split(" ").map((each) => /^(\w*)(?::([\w*]+)(?:\[([^\]]+)\])?(\?)?)?$/.exec(each)!);
  const names = parameters.map(([, parameter]) => parameter!);
  const find = (wanted: string): number => parameters.findIndex(([, , kind]) => kind === wanted);
  const [comm, file] = [find("comm"), find("file")];
  const pointers = parameters.flatMap(([, parameter, kind, length, optional = ""], index): Pointer[] => {
    if (kind === undefined || unchecked.has(kind)) return [];
    const bytes = elementBytes[kind] ?? 4;
    return [
      {
        name: parameter!,
        index,
        kind,
        isPlain: kind !== "text" && kind !== "function",
        isOptional: optional === "?",
        specials: specialValues[kind + optional] ?? specialValues[kind] ?? [],
        bytes,
        mask: bytes === 1 ? 0 : bytes === 8 ? 7 : 3,
        length: length === undefined ? null : lengthOf(length, names, comm),
      },
    ];
  });
  return { name, comm, file, pointers };
}

/** The check of a function's arguments; null when there is nothing to check. */
export function checkOf(program: Program, name: string): Check | null {
  const signature = signatureOf(name);
  const { pointers } = signature;
  const { bytes: memory } = program;
  if (pointers.length === 0) return null;
  return (args) => {
    for (let i = 0; i < pointers.length; i++) {
      const pointer = pointers[i]!;
      const address = args[pointer.index] as number;
      if (address === 0 && pointer.isOptional) continue;
      const bytes = pointer.length === null ? pointer.bytes : pointer.bytes * pointer.length(program, args);
      const isInside = (address & pointer.mask) === 0 && address >= addressMin && address + bytes <= memory.length;
      if (pointer.isPlain ? isInside || bytes <= 0 : isGood(program, pointer.kind, address)) continue;
      if (!pointer.specials.includes(address)) throw refusal(program, signature, pointer, args, bytes);
    }
  };
}

function isGood(program: Program, kind: string, address: number): boolean {
  return kind === "text" ? program.textEnd(address) >= 0 : program.isFunction(address);
}

function refusal(program: Program, signature: Signature, pointer: Pointer, args: Values, bytes: number): MpiError {
  tellOwner(program, signature, args);
  const state = stateOf(program, pointer, args[pointer.index] as number, bytes);
  return new MpiError(classOf(pointer), `Cannot call ${signature.name}: ${pointer.name} ${state}`);
}

/** Whose error handler hears of it. A handle that is none is the worse mistake, and told instead. */
function tellOwner(program: Program, { name, comm, file }: Signature, args: Values): void {
  if (file >= 0) program.file(args[file] as number);
  else if (/^MPI_(File_|Register_datarep)/.test(name)) program.owner = program.noFile;
  else if (comm >= 0) program.comm(args[comm] as number);
}

/** The communicator that the arguments of a function name; null: they name none that there is. */
export function communicatorOf(program: Program, name: string, args: Values): CCommunicator | null {
  const { comm } = signatureOf(name);
  if (comm < 0) return null;
  const { owner } = program;
  try {
    return program.comm(args[comm] as number);
  } catch (error) {
    if (error instanceof MpiError) return null;
    throw error;
  } finally {
    program.owner = owner;
  }
}

function classOf({ name, kind }: Pointer): number {
  if (kind === "bytes" || kind === "attached") return ErrorClass.BUFFER;
  if (kind === "text" && name === "key") return ErrorClass.INFO_KEY;
  if (kind === "text" && name === "value") return ErrorClass.INFO_VALUE;
  return ErrorClass.ARG;
}

/** What is wrong, and what is wanted. */
function stateOf({ bytes: memory }: Program, pointer: Pointer, address: number, bytes: number): string {
  const { kind, length, mask } = pointer;
  if (kind === "function") return `is ${address}, which is no function of the program; give the address of one`;
  if (address === 0) return `is a null pointer; give the address of ${wantedBy(pointer, bytes)}`;
  if ((address & mask) !== 0) {
    const what = length === null ? "it must be" : "arrays of it are";
    return `is address ${address >>> 0}; for ${kind} ${what} a multiple of ${mask + 1}`;
  }
  if (kind === "text") {
    return `is address ${address >>> 0}, where no string begins; give one that a zero closes, of at most ${textBytesMax} bytes`;
  }
  const end = (address >>> 0) + bytes;
  return `has bytes ${address >>> 0} to ${end}, and the memory of the program ${addressMin} to ${memory.length}`;
}

function wantedBy({ kind, length }: Pointer, bytes: number): string {
  if (kind === "text") return "a string";
  if (kind === "void*") return "a pointer";
  if (kind === "weights") return "an array, or MPI_UNWEIGHTED";
  if (length === null) return /^(int|MPI)/.test(kind) ? `an ${kind}` : `a ${kind}`;
  return kind === "bytes" || kind === "attached" ? `${bytes} bytes` : `an array of ${kind}`;
}

/** For the fastest functions: can no word, or status, lie at that address? Then their `Check` says why. */
export function wordFilter({ bytes }: Program): (address: number, length: number) => boolean {
  return (address, length) => (address & 3) !== 0 || address < addressMin || address > bytes.length - length;
}
