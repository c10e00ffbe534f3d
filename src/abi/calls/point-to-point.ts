/** Messages between two processes: MPI 5.0 chapter 3, without probes (probes.ts) and requests (requests.ts). */
import type { Pointer } from "../../core/base/brand.ts";
import { PROC_NULL } from "../../core/base/constants.ts";
import { MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkCount, checkDest, checkSource, checkTag, checkWantedTag } from "../../core/binding/checks.ts";
import { Now } from "../../core/binding/operations.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { SendMode } from "../../core/request/records.ts";
import { checkOf, wordFilter } from "../arguments/arguments.ts";
import {
  addressMin,
  bufferBytes,
  ownCopyOf,
  packedFrom,
  ReleaseScratch,
  roomFor,
  startOf,
  Unpack,
} from "../arguments/buffers.ts";
import { statusBytes, writeStatus } from "../arguments/status.ts";
import { type Call, type CallTable, callsOf } from "../call-table.ts";
import { type CCommunicator, CRequest, type Restart } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { passOpens, showToPlane } from "../show-to-plane.ts";
import { Concluded, handOver } from "../waiting/conclude-requests.ts";
import { AfterAll } from "../waiting/unattended-requests.ts";
import { waitThen } from "../waiting/waiting.ts";

/** The arguments of a send or a receive, as MPI orders them. */
export interface MessageArguments {
  readonly buffer: number;
  readonly count: number;
  /** The datatype itself: a persistent request has it after its handle is freed. */
  readonly type: Datatype;
  readonly peer: number;
  readonly tag: number;
}

const messageOf = (
  program: Program,
  buffer: number,
  count: number,
  type: number,
  peer: number,
  tag: number,
): MessageArguments => ({ buffer, count, type: program.committed(type), peer, tag });

function checkSend(comm: CCommunicator, { peer, tag }: MessageArguments): void {
  checkDest(comm, peer);
  checkTag(tag);
}

function checkReceive(comm: CCommunicator, { peer, tag }: MessageArguments): void {
  checkSource(comm, peer);
  checkWantedTag(tag);
}

/** Both halves of an exchange, before either is started: it could not be taken back. */
export function checkBoth(
  program: Program,
  comm: CCommunicator,
  send: MessageArguments,
  receive: MessageArguments,
): void {
  checkSend(comm, send);
  bufferBytes(program, send.buffer, send.count, send.type);
  checkReceive(comm, receive);
  bufferBytes(program, receive.buffer, receive.count, receive.type);
}

/** Starts a send in `request`. */
export function startSend(program: Program, request: CRequest, message: MessageArguments, mode: SendMode): void {
  const { comm } = request;
  checkSend(comm, message);
  const { pointer, bytes, scratch } = packedFrom(program, message.buffer, message.count, message.type);
  request.after = scratch ? new ReleaseScratch(pointer) : null;
  request.record = program.operations.startSend(comm.core, pointer, bytes, message.peer, message.tag, mode);
}

export function startReceive(program: Program, request: CRequest, message: MessageArguments): void {
  const { comm } = request;
  checkReceive(comm, message);
  const { buffer, count, type } = message;
  const { pointer, bytes, scratch } = roomFor(program, buffer, count, type);
  request.after = scratch ? new Unpack(pointer, buffer, count, type) : null;
  request.record = program.operations.startReceive(comm.core, pointer, bytes, message.peer, message.tag);
}

/** A send in buffered mode: of a copy of our own, so it is complete for the program at once. */
function sendBuffered(program: Program, comm: CCommunicator, message: MessageArguments): void {
  checkSend(comm, message);
  const { buffer, count, type, peer, tag } = message;
  const { buffered, operations } = program;
  buffered.checkRoom(operations, bufferBytes(program, buffer, count, type));
  const { pointer, bytes } = ownCopyOf(program, buffer, count, type);
  const record = operations.startSend(comm.core, pointer, bytes, peer, tag, SendMode.BUFFERED);
  buffered.hold(operations, record, bytes, new AfterAll(program, new ReleaseScratch(pointer)));
}

/** A request that is complete from the start: a send whose message is on its way, or copied. */
export function startNothing({ operations }: Program, request: CRequest): void {
  request.record = operations.startSend(request.comm.core, 0 as Pointer, 0, PROC_NULL, 0, SendMode.STANDARD);
}

class SendAgain implements Restart {
  private readonly message: MessageArguments;
  private readonly mode: SendMode;

  constructor(message: MessageArguments, mode: SendMode) {
    this.message = message;
    this.mode = mode;
  }

  start(program: Program, request: CRequest): void {
    if (this.mode === SendMode.BUFFERED) {
      sendBuffered(program, request.comm, this.message);
      startNothing(program, request);
    } else startSend(program, request, this.message, this.mode);
  }
}

class ReceiveAgain implements Restart {
  private readonly message: MessageArguments;

  constructor(message: MessageArguments) {
    this.message = message;
  }

  start(program: Program, request: CRequest): void {
    startReceive(program, request, this.message);
  }
}

/** A blocking send that could not leave at once, or is not in standard mode. */
function sendAndWait(program: Program, comm: CCommunicator, message: MessageArguments, mode: SendMode): number {
  const request = new CRequest(comm);
  startSend(program, request, message, mode);
  return waitThen(program, request.record, new Concluded(request, 0));
}

function receiveAndWait(program: Program, comm: CCommunicator, message: MessageArguments, status: number): number {
  const request = new CRequest(comm);
  startReceive(program, request, message);
  return waitThen(program, request.record, new Concluded(request, status));
}

// Every function has as many parameters as C passes: WebAssembly calls such a one without a detour.

const blockingSend =
  (mode: SendMode) =>
  (program: Program, b: number, count: number, type: number, peer: number, tag: number, comm: number): number =>
    sendAndWait(program, program.comm(comm), messageOf(program, b, count, type, peer, tag), mode);

const startedSend =
  (mode: SendMode) =>
  (program: Program, b: number, count: number, type: number, peer: number, tag: number, comm: number, out: number) => {
    const request = new CRequest(program.comm(comm));
    startSend(program, request, messageOf(program, b, count, type, peer, tag), mode);
    showToPlane(program, request.comm);
    return handOver(program, request, out);
  };

const persistentSend =
  (mode: SendMode) =>
  (
    program: Program,
    b: number,
    count: number,
    type: number,
    peer: number,
    tag: number,
    handle: number,
    out: number,
  ) => {
    const comm = program.comm(handle);
    const message = messageOf(program, b, count, type, peer, tag);
    checkSend(comm, message);
    bufferBytes(program, b, count, message.type);
    return handOver(program, new CRequest(comm, new SendAgain(message, mode)), out);
  };

const table: CallTable = {
  MPI_Ssend: blockingSend(SendMode.SYNCHRONOUS),
  MPI_Rsend: blockingSend(SendMode.READY),
  MPI_Bsend(program, b: number, count: number, type: number, peer: number, tag: number, handle: number) {
    sendBuffered(program, program.comm(handle), messageOf(program, b, count, type, peer, tag));
    return 0;
  },
  MPI_Isend: startedSend(SendMode.STANDARD),
  MPI_Issend: startedSend(SendMode.SYNCHRONOUS),
  MPI_Irsend: startedSend(SendMode.READY),
  MPI_Ibsend(program, b: number, count: number, type: number, peer: number, tag: number, comm: number, out: number) {
    const request = new CRequest(program.comm(comm));
    sendBuffered(program, request.comm, messageOf(program, b, count, type, peer, tag));
    startNothing(program, request);
    return handOver(program, request, out);
  },
  MPI_Irecv(program, b: number, count: number, type: number, peer: number, tag: number, comm: number, out: number) {
    const request = new CRequest(program.comm(comm));
    startReceive(program, request, messageOf(program, b, count, type, peer, tag));
    showToPlane(program, request.comm);
    return handOver(program, request, out);
  },
  MPI_Send_init: persistentSend(SendMode.STANDARD),
  MPI_Ssend_init: persistentSend(SendMode.SYNCHRONOUS),
  MPI_Rsend_init: persistentSend(SendMode.READY),
  MPI_Bsend_init: persistentSend(SendMode.BUFFERED),
  MPI_Recv_init(
    program,
    b: number,
    count: number,
    type: number,
    peer: number,
    tag: number,
    handle: number,
    out: number,
  ) {
    const comm = program.comm(handle);
    const message = messageOf(program, b, count, type, peer, tag);
    checkReceive(comm, message);
    bufferBytes(program, b, count, message.type);
    return handOver(program, new CRequest(comm, new ReceiveAgain(message)), out);
  },
};

/** Where a buffer of 0 bytes is that has an unusual address; throws for any other. */
function unusualPlace(program: Program, call: string, buffer: number, count: number, type: Datatype): Pointer {
  program.call = call;
  return startOf(buffer, bufferBytes(program, buffer, count, type), type);
}

/** MPI_Send, under the name that its errors tell, by the short way where there is one. */
export function sender(program: Program, name: string): Call {
  const { bytes: memory, operations } = program;
  const { pass } = program.process;
  return (buffer: number, count: number, typeHandle: number, dest: number, tag: number, commHandle: number): number => {
    try {
      program.checkRunning(name);
      const comm = program.comm(commHandle);
      const type = program.committed(typeHandle);
      checkDest(comm, dest);
      checkTag(tag);
      checkCount(count);
      const { core } = comm;
      if (dest === PROC_NULL) {
        program.call = name;
        bufferBytes(program, buffer, count, type);
        if (!operations.isRevoked(core)) return 0;
      } else if (type.isContiguous(count)) {
        const bytes = type.size * count;
        const at = buffer + type.trueLb;
        const isUsual = at >= addressMin && at + bytes <= memory.length;
        const from = isUsual ? (at as Pointer) : unusualPlace(program, name, buffer, count, type);
        if (operations.sendNow(core, from, bytes, dest, tag)) {
          if (pass.isUsed) passOpens(program, comm);
          return 0;
        }
      }
      program.call = name;
      return sendAndWait(program, comm, { buffer, count, type, peer: dest, tag }, SendMode.STANDARD);
    } catch (error) {
      program.call = name;
      return program.raise(error);
    }
  };
}

/** MPI_Recv, likewise. */
export function receiver(program: Program, name: string): Call {
  const { bytes: memory, operations, ints } = program;
  const { pass } = program.process;
  const isNoWord = wordFilter(program);
  const checkArguments = checkOf(program, name)!;
  return (
    buffer: number,
    count: number,
    typeHandle: number,
    source: number,
    tag: number,
    commHandle: number,
    status: number,
  ): number => {
    try {
      program.checkRunning(name);
      const comm = program.comm(commHandle);
      const type = program.committed(typeHandle);
      if (status !== 0 && isNoWord(status, statusBytes)) {
        checkArguments([buffer, count, typeHandle, source, tag, commHandle, status]);
      }
      checkSource(comm, source);
      checkWantedTag(tag);
      checkCount(count);
      // A reduction by the program's own operation may have to go on meanwhile.
      if (!type.isContiguous(count) || source === PROC_NULL || operations.programReductions !== 0) {
        program.call = name;
        return receiveAndWait(program, comm, { buffer, count, type, peer: source, tag }, status);
      }
      const bytes = type.size * count;
      const at = buffer + type.trueLb;
      const isUsual = at >= addressMin && at + bytes <= memory.length;
      const to = isUsual ? (at as Pointer) : unusualPlace(program, name, buffer, count, type);
      const now = operations.receiveNow(comm.core, to, bytes, source, tag);
      if (now === Now.NOTHING) return program.suspension.stop(null);
      if (now === Now.MUST_POST) {
        program.call = name;
        return receiveAndWait(program, comm, { buffer, count, type, peer: source, tag }, status);
      }
      if (pass.isUsed) showToPlane(program, comm);
      if (status !== 0) {
        writeStatus(ints, status, operations.lastSource(comm.core), operations.lastTag, operations.lastBytes);
      }
      const code = operations.lastError;
      if (code === 0) return 0;
      const text = program.errorCodes.stringOf(code);
      throw new MpiError(code, `Cannot receive from rank ${source} with tag ${tag}: ${text}`);
    } catch (error) {
      program.call = name;
      return program.raise(error);
    }
  };
}

export function pointToPointCalls(program: Program): Record<string, Call> {
  return { ...callsOf(program, table), MPI_Send: sender(program, "MPI_Send"), MPI_Recv: receiver(program, "MPI_Recv") };
}

saves({ SendAgain, ReceiveAgain });
