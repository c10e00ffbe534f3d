/**
 * A C program as its imports see it: its memory, its handles, its process. The files in calls/ are the imports themselves,
 * one for each chapter of the standard.
 *
 * Errors: an import throws an `MpiError`, `raise` gives it to the error handler of the communicator or file the call was
 * about. A program's own handler cannot be called from here (see callbacks.ts).
 */
import type { RecordId } from "../core/base/brand.ts";
import { bytesOfText, textOfBytes } from "../core/base/byte-text.ts";
import { ErrorClass, errorClassName, MpiError } from "../core/base/mpi-error.ts";
import { lives } from "../core/base/saved-classes.ts";
import { BufferedSends } from "../core/binding/buffered-sends.ts";
import { Mover } from "../core/binding/movement.ts";
import type { Operations } from "../core/binding/operations.ts";
import { ProcessOperations } from "../core/binding/process-operations.ts";
import { Keyvals } from "../core/comm/attributes.ts";
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import { LB, predefinedTypes, UB } from "../core/comm/datatype/datatype-predefined.ts";
import { ErrorCodes } from "../core/comm/error-codes.ts";
import { type ErrorHandling, errorsAbort, errorsAreFatal, errorsReturn } from "../core/comm/error-handler.ts";
import { Group } from "../core/comm/group.ts";
import { Info } from "../core/comm/info.ts";
import { predefinedOps } from "../core/comm/op/op-predefined.ts";
import type { ChoiceKind, Outcome } from "../core/ft/choices.ts";
import { unionOf } from "../core/process/communicators/member-order.ts";
import type { Process } from "../core/process/process.ts";
import type { Memory } from "../core/request/memory.ts";
import { addressMin } from "./arguments/buffers.ts";
import { type CItems, ProgramGround } from "./collectives/collective-sides.ts";
import { unwatched } from "./crash/low-memory.ts";
import { type CFile, NoFile } from "./files/file.ts";
import type { ProgramFiles } from "./files/program-files.ts";
import { Handles, Kind } from "./handles/handles.ts";
import {
  type AttributeFunctions,
  CCommunicator,
  CDatatype,
  type COperation,
  type CRequest,
  type ErrorSubject,
  type FunctionPointer,
} from "./handles/objects.ts";
import { Callbacks } from "./waiting/callbacks.ts";
import type { CHost } from "./waiting/host.ts";
import { Suspension } from "./waiting/suspension.ts";

export const COMM_WORLD = 0x101;
export const COMM_SELF = 0x102;
export const COMM_NULL = 0x100;
export const GROUP_EMPTY = 0x109;
export const REQUEST_NULL = 0x180;
export const INFO_ENV = 0x131;
export const DATATYPE_NULL = 0x200;
/** MPI_LB and MPI_UB, which the ABI has no numbers for. */
export const TYPE_LB = 0xf00;
export const TYPE_UB = 0xf01;

/** No call needs longer lists, and copies of much longer ones would take all memory of the node. */
export const listLengthMax = 1 << 24;

/** Texts are names, keys and paths: one without end is found before all of memory is searched. */
export const textBytesMax = 1 << 20;

export class Program {
  static readonly unsaved = {
    calls: {},
    operations: null,
    mover: null,
    ground: null,
    bytes: null,
    ints: null,
    longs: null,
    disk: null,
    again: null,
    lowMemory: null,
  };
  readonly host: CHost;
  readonly process: Process;
  /** What the program does with its process goes this way. */
  readonly operations: Operations;
  readonly memory: Memory;
  readonly ground: ProgramGround;
  readonly mover: Mover<CItems>;
  /** The program's memory. Addresses are below 2³¹, and it never moves. */
  readonly bytes: Uint8Array;
  readonly ints: Int32Array;
  readonly longs: BigInt64Array;

  readonly communicators = new Handles<CCommunicator>({
    kind: Kind.COMMUNICATOR,
    name: "communicator",
    errorClass: ErrorClass.COMM,
  });
  readonly groups = new Handles<Group>({ kind: Kind.GROUP, name: "group", errorClass: ErrorClass.GROUP });
  readonly types = new Handles<CDatatype>({ kind: Kind.DATATYPE, name: "datatype", errorClass: ErrorClass.TYPE });
  /** Of reductions. */
  readonly ops = new Handles<COperation>({
    kind: Kind.OPERATION,
    name: "operation",
    errorClass: ErrorClass.OP,
  });
  readonly requests = new Handles<CRequest>({ kind: Kind.REQUEST, name: "request", errorClass: ErrorClass.REQUEST });
  readonly errorHandlers = new Handles<ErrorHandling<FunctionPointer>>({
    kind: Kind.ERROR_HANDLER,
    name: "error handler",
    errorClass: ErrorClass.ERRHANDLER,
  });
  readonly infos = new Handles<Info>({ kind: Kind.INFO, name: "info object", errorClass: ErrorClass.INFO });
  /** Messages set aside by a matched probe: their envelopes. */
  readonly messages = new Handles<{ readonly comm: CCommunicator; readonly envelope: RecordId }>({
    kind: Kind.MESSAGE,
    name: "message",
    errorClass: ErrorClass.REQUEST,
  });
  readonly files = new Handles<CFile>({ kind: Kind.FILE, name: "file", errorClass: ErrorClass.FILE });
  readonly keyvals = new Keyvals<AttributeFunctions>();
  readonly errorCodes = new ErrorCodes();
  readonly callbacks: Callbacks;
  readonly suspension: Suspension;
  /** Every function of MPI by its name, without what catches errors: set by binding.ts. */
  calls: Readonly<Record<string, (...args: number[]) => number>> = {};
  /** Watched once the program's module is there. */
  lowMemory = unwatched;
  readonly buffered = new BufferedSends();
  /** What MPI_Alloc_mem gave and MPI_Free_mem has not taken back. */
  readonly blocks = new Set<number>();
  readonly world: CCommunicator;
  readonly self: CCommunicator;
  /** Of a spawned process, once it has met those who spawned it: MPI_Comm_get_parent. */
  parent: CCommunicator | null = null;
  /** Who hears of errors about no file that is open: MPI_FILE_NULL. Files inherit its handler. */
  readonly noFile = new NoFile();
  /** What MPI's files are kept in: set by the world that instantiates the program. Null: it has no files. */
  disk: ProgramFiles | null = null;
  /** The call that is running, for messages. The fastest calls set it only when they fail. */
  call = "";
  /** The call that waits, or waited last, by its arguments: for those who ask where the program is. */
  again: { readonly name: string; readonly args: readonly number[] } | null = null;
  /** Whose error handler hears of an error in the call that is running. */
  owner: ErrorSubject;
  /** Is it one of the program's functions? The world that instantiates the program knows. */
  isFunction: (fn: FunctionPointer) => boolean = (fn) => fn !== 0;
  /** How many parameters a function of the program has. The world that instantiates the program knows. */
  parametersOf: (fn: FunctionPointer) => number = () => 3;
  isInitialized = false;
  isFinalized = false;
  threadLevel = 0;
  /** What a call that is made again has taken from a replay before; undefined: nothing. Only between `CallAgain` and the call. */
  known: Outcome | undefined = undefined;

  constructor(host: CHost, operations: Operations = new ProcessOperations(host)) {
    this.host = host;
    this.process = host.process;
    this.operations = operations;
    this.memory = host.process.memory;
    this.ground = new ProgramGround(this.memory);
    this.mover = new Mover(operations, this.ground);
    this.bytes = this.memory.bytes;
    this.ints = new Int32Array(this.bytes.buffer);
    this.longs = new BigInt64Array(this.bytes.buffer);
    this.callbacks = new Callbacks(this);
    this.suspension = new Suspension(host.stop);
    this.world = this.predefinedCommunicator(COMM_WORLD, "MPI_COMM_WORLD", new CCommunicator(this.process.world));
    this.self = this.predefinedCommunicator(COMM_SELF, "MPI_COMM_SELF", new CCommunicator(this.process.self));
    this.owner = this.self;
    this.groups.predefine(GROUP_EMPTY, Group.empty);
    this.infos.predefine(INFO_ENV, new Info());
    for (const handler of [errorsAreFatal, errorsAbort, errorsReturn]) {
      this.errorHandlers.predefine(handler.handle, handler);
    }
    for (const core of Object.values(predefinedOps)) {
      this.ops.predefine(core.handle, { core, function: 0 });
    }
    for (const core of Object.values(predefinedTypes)) this.predefinedType(core.handle, core);
    this.predefinedType(TYPE_LB, LB);
    this.predefinedType(TYPE_UB, UB);
  }

  private predefinedType(handle: number, core: Datatype): void {
    const type = new CDatatype(core);
    type.handle = handle;
    this.types.predefine(handle, type);
  }

  private predefinedCommunicator(handle: number, name: string, comm: CCommunicator): CCommunicator {
    comm.handle = handle;
    comm.name = name;
    this.communicators.predefine(handle, comm);
    return comm;
  }

  /**
   * Who hears of errors in calls that are about no communicator: MPI_COMM_SELF since MPI 4.0, MPI_COMM_WORLD before. Programs of
   * those days, which are most, set a handler on the latter only.
   */
  get anyone(): CCommunicator {
    return this.self.errorHandler === errorsAreFatal ? this.world : this.self;
  }

  /** Between MPI_Init and MPI_Finalize. */
  get isRunning(): boolean {
    return this.isInitialized && !this.isFinalized;
  }

  /** Before MPI_Init and after MPI_Finalize a program may not call that function. */
  checkRunning(call: string): void {
    if (!this.isRunning) this.refuseOutside(call);
  }

  private refuseOutside(call: string): never {
    this.owner = this.anyone;
    const state = this.isFinalized ? "MPI_Finalize has been called" : "MPI_Init has not been called";
    throw new MpiError(ErrorClass.OTHER, `Cannot call ${call}: ${state}`);
  }

  /** What the next choice came to in the life before, as `Choices.replay` says it; each is taken once. */
  takeKnown(kind: ChoiceKind): Outcome | undefined {
    const { known } = this;
    this.known = undefined;
    return known === undefined ? this.operations.choices!.replay(kind) : known;
  }

  // Handles

  /** The communicator a call is about: its error handler hears of what goes wrong from here on. */
  comm(handle: number): CCommunicator {
    const comm = this.communicators.find(handle);
    if (comm === undefined) return this.noComm(handle);
    this.owner = comm;
    return comm;
  }

  private noComm(handle: number): never {
    this.owner = this.anyone;
    return this.communicators.get(handle) as never;
  }

  /** The file a call is about, likewise. A handle that is none is an error of MPI_FILE_NULL. */
  file(handle: number): CFile {
    this.owner = this.noFile;
    const file = this.files.get(handle);
    this.owner = file;
    return file;
  }

  /** A datatype as it must be to move data. */
  committed(handle: number): Datatype {
    const { core } = this.types.get(handle);
    if (core.isCommitted) return core;
    throw new MpiError(ErrorClass.TYPE, `Cannot use ${core.name || "the datatype"}: call MPI_Type_commit on it first`);
  }

  addCommunicator(comm: CCommunicator): number {
    comm.handle = this.communicators.add(comm);
    return comm.handle;
  }

  /** The handle stands for nothing any more. */
  removeCommunicator(handle: number): void {
    this.communicators.remove(handle);
    this.process.pass.forgetCommunicator(handle);
  }

  addType(core: Datatype): number {
    const type = new CDatatype(core);
    type.handle = this.types.add(type);
    return type.handle;
  }

  // Texts

  /** Where the closing zero of a text is; −1: there is no text at that address. */
  textEnd(address: number): number {
    if (address < addressMin) return -1;
    const length = this.bytes.subarray(address, address + textBytesMax).indexOf(0);
    return length < 0 ? -1 : address + length;
  }

  text(address: number): string {
    if (address === 0) return "";
    const end = this.textEnd(address);
    if (end < 0) this.refuseAddress(address, "no string begins there");
    return textOfBytes(this.bytes.slice(address, end));
  }

  /** Writes text and a closing zero, cut to `room` bytes; returns its length without the zero. */
  putText(address: number, text: string, room: number): number {
    const bytes = bytesOfText(text).subarray(0, Math.max(0, room - 1));
    this.bytes.set(bytes, address);
    this.bytes[address + bytes.length] = 0;
    return bytes.length;
  }

  /** Writes an int that a call tells; gives the code of success, which is what such a call answers. */
  putInt(address: number, value: number): number {
    this.ints[address >> 2] = value;
    return 0;
  }

  /** `count` ints at an address, copied. */
  list(address: number, count: number): number[] {
    this.checkWords(address, count);
    return Array.from(this.ints.subarray(address >> 2, (address >> 2) + count));
  }

  putList(address: number, values: readonly number[]): void {
    this.checkWords(address, values.length);
    if (values.length > 0) this.ints.set(values, address >> 2);
  }

  /** For arrays whose length only the call knows; arguments.ts has looked at all others. */
  checkWords(address: number, count: number): void {
    if (count <= 0) return;
    if (count > listLengthMax) this.refuseAddress(address, `${count} ints are too many, a list has ${listLengthMax}`);
    if ((address & 3) === 0 && address >= addressMin && address + 4 * count <= this.bytes.length) return;
    this.refuseAddress(address, `an array of ${count} ints does not fit there`);
  }

  private refuseAddress(address: number, state: string): never {
    const memory = `the memory of the program has bytes ${addressMin} to ${this.bytes.length}`;
    throw new MpiError(ErrorClass.ARG, `Cannot call ${this.call}: of address ${address >>> 0}, ${state}; ${memory}`);
  }

  // Errors

  /**
   * What a call that failed answers: its error code, or that the program's error handler is to be called first. `answer`: the call answers
   * that instead, and the handler hears of the error (MPI 5.0 §9.3.1 on MPI_ERR_IN_STATUS).
   */
  raise(error: unknown, answer: number | null = null): number {
    if (!(error instanceof MpiError)) throw error;
    const { owner } = this;
    const handler = owner.errorHandler;
    // A program may try again and again, and what it waits for needs the thread, or news of deaths.
    if (this.host.survivesDeaths) this.operations.look();
    switch (handler.kind) {
      case "return":
        return answer ?? error.code;
      case "user":
        return this.callbacks.callErrorHandler(handler.callback, owner.handle, error.code, answer);
      default: {
        const code = error.code > 0 && error.code < 256 ? error.code : 1;
        const place = error.message.includes(this.call) ? "" : ` in ${this.call}`;
        const state = `${errorClassName(error.code)}${place}; errors of ${owner.title} are fatal`;
        const members = handler.kind === "abort" ? abortedWith(this, owner) : [];
        return this.host.abort(code, `${error.message} (${state})`, members);
      }
    }
  }
}

/** World ranks of those whom MPI_Abort on a communicator means; none: all processes, which is what it means on MPI_COMM_WORLD. */
export function abortedWith(program: Program, subject: ErrorSubject): readonly number[] {
  if (!(subject instanceof CCommunicator) || subject === program.world) return [];
  return unionOf(subject.core).worldRanks();
}

lives({ Program });
