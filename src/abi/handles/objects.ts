/** What the handles of a C program stand for, where core's own objects do not say all of it. */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { type Attribute, AttributeSet } from "../../core/comm/attributes.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { type ErrorHandling, errorsAreFatal } from "../../core/comm/error-handler.ts";
import { Info } from "../../core/comm/info.ts";
import type { Op } from "../../core/comm/op/op.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Program } from "../program.ts";

/** Functions of the program are numbers in its table; 0 is no function. */
export type FunctionPointer = number;

export interface AttributeFunctions {
  readonly copy: FunctionPointer;
  readonly delete: FunctionPointer;
  readonly extraState: number;
}
export type CAttribute = Attribute<AttributeFunctions>;

/** Whose error handler hears of an error: a communicator, a file. */
export interface ErrorSubject {
  readonly handle: number;
  readonly errorHandler: ErrorHandling<FunctionPointer>;
  /** How messages to people call it, and what kind of thing it is. */
  readonly title: string;
}

export class CCommunicator implements ErrorSubject {
  readonly core: Communicator;
  handle = 0;
  name = "";
  errorHandler: ErrorHandling<FunctionPointer> = errorsAreFatal;
  attributes = new AttributeSet<AttributeFunctions>();
  info = new Info();
  /** How many partitioned messages were made, by direction, peer and tag. */
  readonly partitioned = new Map<string, number>();

  constructor(core: Communicator) {
    this.core = core;
  }

  /** How messages to people call it. Put together each time: only where something is said. */
  get label(): string {
    return this.name === "" ? `0x${this.handle.toString(16)}` : `"${this.name}"`;
  }

  get title(): string {
    return `communicator ${this.label}`;
  }
}

/** A datatype of the program; predefined ones are shared, so what the program hangs on them is here. */
export class CDatatype {
  readonly core: Datatype;
  handle = 0;
  name: string;
  readonly attributes = new AttributeSet<AttributeFunctions>();
  /** Reductions under way that give its handle to an operation of the program (datatypes-in-use.ts). */
  uses = 0;
  /** The program has freed it: the handle goes with the last use. */
  isFreed = false;

  constructor(core: Datatype) {
    this.core = core;
    this.name = core.name;
  }
}

export interface COperation {
  readonly core: Op;
  /** Of the program's own operations; 0 for predefined ones. */
  readonly function: FunctionPointer;
}

/** What is left to do when the bytes of a request are there: unpack them, free scratch memory. Plain data. */
export interface After {
  /** Called once, also after an error. */
  finish(program: Program, bytes: number, error: number): void;
  /** Of a request that is complete: does a part of it stand still, until the program has acknowledged a death? */
  isPending?(program: Program, request: CRequest): boolean;
}

/** The functions of a generalized request (generalized-requests.ts). */
interface Generalized {
  readonly query: FunctionPointer;
  readonly free: FunctionPointer;
  readonly cancel: FunctionPointer;
  readonly extraState: number;
  /** A status in the program's memory that its query function writes. */
  readonly status: Pointer;
  /** The program has freed the request before its operation was complete. */
  isUnwanted: boolean;
}

export const inactive = -1 as RecordId;

export class CRequest {
  handle = 0;
  readonly comm: CCommunicator;
  record: RecordId = inactive;
  after: After | null = null;
  /** Its record is that of an operation, and tells about a message that came nevertheless. */
  tellsMessage = false;
  /** What its status says where the message travels under another tag. */
  statusTag: number | null = null;
  /** Set for an operation of the program's own. */
  generalized: Generalized | null = null;
  /** How a persistent request is started again; null for others. */
  readonly restart: Restart | null;

  constructor(comm: CCommunicator, restart: Restart | null = null) {
    this.comm = comm;
    this.restart = restart;
  }
}

/** Starts a persistent request: sets its `record` and `after`. */
export interface Restart {
  start(program: Program, request: CRequest): void;
}

saves({ CCommunicator, CDatatype, CRequest });
