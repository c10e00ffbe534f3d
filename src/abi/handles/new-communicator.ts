/**
 * How a communicator that core has made (core/process/communicators/) becomes one of the program's: it gets a handle, what it
 * inherits, and after a duplication the attributes that the program's copy functions want it to have.
 */
import { MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { AttributeSet } from "../../core/comm/attributes.ts";
import type { ErrorHandling } from "../../core/comm/error-handler.ts";
import type { Info } from "../../core/comm/info.ts";
import type { Topology } from "../../core/comm/topology/topology.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { NewCommunicator } from "../../core/process/communicators/new-communicator.ts";
import { COMM_NULL, type Program, REQUEST_NULL } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { handOver } from "../waiting/conclude-requests.ts";
import { forget } from "../waiting/unattended-requests.ts";
import { waitThen } from "../waiting/waiting.ts";
import { type Bearer, copyAttributes } from "./attributes.ts";
import { type After, type AttributeFunctions, CCommunicator, CRequest, type FunctionPointer } from "./objects.ts";

/** What the new communicator has besides its members. */
interface Heritage {
  /** The parent's unless given. */
  readonly errorHandler?: ErrorHandling<FunctionPointer>;
  readonly topology?: Topology | null;
  readonly info?: Info;
  /** Attributes are copied from the parent. */
  readonly isDuplicate?: boolean;
}

/** Runs the task; the handle, or MPI_COMM_NULL where this process is no member, goes to `out`. */
export function makeCommunicator(
  program: Program,
  parent: CCommunicator,
  task: NewCommunicator,
  out: number,
  heritage: Heritage = {},
): number {
  return waitThen(program, program.operations.startTask(task), new Made(parent, task, out, heritage));
}

/** Gives the program a communicator that core has made. */
export function adopt(program: Program, core: Communicator, parent: CCommunicator, heritage: Heritage): CCommunicator {
  const comm = new CCommunicator(core);
  comm.errorHandler = heritage.errorHandler ?? parent.errorHandler;
  if (heritage.topology !== undefined) core.topology = heritage.topology;
  if (heritage.info !== undefined) comm.info = heritage.info;
  program.addCommunicator(comm);
  return comm;
}

class Made implements Continuation {
  private readonly parent: CCommunicator;
  private readonly task: NewCommunicator;
  private readonly out: number;
  private readonly heritage: Heritage;

  constructor(parent: CCommunicator, task: NewCommunicator, out: number, heritage: Heritage) {
    this.parent = parent;
    this.task = task;
    this.out = out;
    this.heritage = heritage;
  }

  resume(program: Program): number {
    const { errorCodes, ints, operations } = program;
    const { request, error, result } = this.task;
    const parent = this.parent;
    operations.end(request);
    program.owner = parent;
    ints[this.out >> 2] = COMM_NULL;
    // Raised here, not thrown: the call has taken part, and is none of those that were refused.
    if (error !== 0) {
      const unknown = new MpiError(error, `Cannot make the communicator: ${errorCodes.stringOf(error)}`);
      return program.raise(parent.core.takeDisagreement(error) ?? unknown);
    }
    if (result === null) return 0;
    const comm = adopt(program, result, parent, this.heritage);
    if (this.heritage.isDuplicate) return copyAttributes(program, parent, comm, new Filled(parent, comm, this.out));
    ints[this.out >> 2] = comm.handle;
    return 0;
  }
}

/** A duplicate has its attributes, or one of the copy functions has failed and it goes again. */
class Filled implements Continuation {
  private readonly parent: CCommunicator;
  private readonly comm: CCommunicator;
  private readonly out: number;

  constructor(parent: CCommunicator, comm: CCommunicator, out: number) {
    this.parent = parent;
    this.comm = comm;
    this.out = out;
  }

  resume(program: Program, code: number): number {
    const { core, handle } = this.comm;
    program.owner = this.parent;
    if (code !== 0) {
      program.removeCommunicator(handle);
      program.operations.freeCommunicator(core);
      return program.raise(notCopied(code));
    }
    program.ints[this.out >> 2] = handle;
    return 0;
  }
}

const notCopied = (code: number): MpiError =>
  new MpiError(code, `Cannot duplicate the communicator: a copy function of its attributes gave error ${code}`);

/** Addresses of what a non-blocking duplication gives. */
interface Outs {
  readonly comm: number;
  readonly request: number;
}

/**
 * MPI_Comm_idup: attributes are copied now, as they are now (MPI 5.0 §7.4.2), while the communicator is being made; its handle
 * is there when the request is complete.
 */
export function startDuplicate(
  program: Program,
  parent: CCommunicator,
  task: NewCommunicator,
  outs: Outs,
  heritage: Heritage,
): number {
  const request = new CRequest(parent);
  request.record = program.operations.startTask(task);
  // Functions that take back copies get no communicator: there is none yet.
  const copies: Bearer = { handle: COMM_NULL, attributes: new AttributeSet<AttributeFunctions>() };
  const { errorHandler } = parent;
  const after = new AdoptLater(parent, task, { errorHandler, ...heritage }, copies, outs.comm);
  return copyAttributes(program, parent, copies, new Started(request, after, task, outs));
}

/** The same for communicators that are no copies, and inherit nothing but the error handler. */
export function startCommunicator(program: Program, parent: CCommunicator, task: NewCommunicator, outs: Outs): number {
  const { ints, operations } = program;
  const request = new CRequest(parent);
  const nothing: Bearer = { handle: COMM_NULL, attributes: new AttributeSet<AttributeFunctions>() };
  const { errorHandler } = parent;
  ints[outs.comm >> 2] = COMM_NULL;
  request.record = operations.startTask(task);
  request.after = new AdoptLater(parent, task, { errorHandler }, nothing, outs.comm);
  return handOver(program, request, outs.request);
}

class Started implements Continuation {
  private readonly request: CRequest;
  private readonly after: After;
  private readonly task: NewCommunicator;
  private readonly outs: Outs;

  constructor(request: CRequest, after: After, task: NewCommunicator, outs: Outs) {
    this.request = request;
    this.after = after;
    this.task = task;
    this.outs = outs;
  }

  resume(program: Program, code: number): number {
    const { ints } = program;
    const request = this.request;
    program.owner = request.comm;
    ints[this.outs.comm >> 2] = COMM_NULL;
    if (code !== 0) {
      // The others make the communicator all the same, and need us for it.
      request.after = new FreeLater(this.task);
      forget(program, request);
      ints[this.outs.request >> 2] = REQUEST_NULL;
      return program.raise(notCopied(code));
    }
    request.after = this.after;
    return handOver(program, request, this.outs.request);
  }
}

class AdoptLater implements After {
  private readonly parent: CCommunicator;
  private readonly task: NewCommunicator;
  private readonly heritage: Heritage;
  private readonly copies: Bearer;
  private readonly out: number;

  constructor(parent: CCommunicator, task: NewCommunicator, heritage: Heritage, copies: Bearer, out: number) {
    this.parent = parent;
    this.task = task;
    this.heritage = heritage;
    this.copies = copies;
    this.out = out;
  }

  finish(program: Program, _bytes: number, error: number): void {
    if (error !== 0) return;
    const comm = adopt(program, this.task.result!, this.parent, this.heritage);
    comm.attributes = this.copies.attributes;
    program.ints[this.out >> 2] = comm.handle;
  }
}

class FreeLater implements After {
  private readonly task: NewCommunicator;

  constructor(task: NewCommunicator) {
    this.task = task;
  }

  finish(program: Program): void {
    if (this.task.result !== null) program.operations.freeCommunicator(this.task.result);
  }
}

saves({ Made, Filled, Started, AdoptLater, FreeLater });
