/** Messages between two processes: MPI 5.0 chapter 3, without the requests (requests.ts). */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Datatype } from "../../core/comm/datatype.ts";
import { Now } from "../../core/p2p/engine.ts";
import { R_BYTES, R_PEER, R_TAG, SendMode } from "../../core/request/records.ts";
import { checkOf, wordFilter } from "../arguments.ts";
import {
  addressMin,
  bufferBytes,
  checkCount,
  ownCopyOf,
  packedFrom,
  Release,
  roomFor,
  startOf,
  Unpack,
} from "../buffers.ts";
import { chooseMessage, chooseMessageLater } from "../choices.ts";
import { type CCommunicator, CRequest, type Restart } from "../objects.ts";
import type { Program } from "../program.ts";
import { statusBytes, writeStatus } from "../status.ts";
import { CallAgain, interrupted, look, waitThen, waitUntil } from "../waiting.ts";
import { Concluded } from "./requests.ts";

const MESSAGE_NULL = 0x128;
const MESSAGE_NO_PROC = 0x129;

export function checkDest(comm: CCommunicator, dest: number): void {
  const { core } = comm;
  if (dest === PROC_NULL || (dest >= 0 && dest < core.peers.size)) return;
  const last = core.peers.size - 1;
  throw new MpiError(ErrorClass.RANK, `Cannot send to rank ${dest}: communicator ${comm.label} has ranks 0 to ${last}`);
}

export function checkSource(comm: CCommunicator, source: number): void {
  const { core } = comm;
  if (source === PROC_NULL || source === ANY_SOURCE || (source >= 0 && source < core.peers.size)) return;
  const last = core.peers.size - 1;
  throw new MpiError(
    ErrorClass.RANK,
    `Cannot receive from rank ${source}: communicator ${comm.label} has ranks 0 to ${last}`,
  );
}

export function checkTag(tag: number, orAny: boolean): void {
  if ((tag >= 0 && tag <= TAG_UB) || (orAny && tag === ANY_TAG)) return;
  const wanted = `tags are from 0 to ${TAG_UB}${orAny ? ", or MPI_ANY_TAG" : ""}`;
  throw new MpiError(ErrorClass.TAG, `Cannot use tag ${tag}: ${wanted}`);
}

/** The arguments of a send or a receive, as MPI orders them. */
export interface Message {
  readonly buffer: number;
  readonly count: number;
  /** The datatype itself: a persistent request has it after its handle is freed. */
  readonly type: Datatype;
  readonly peer: number;
  readonly tag: number;
}

/** Starts a send in `request`. */
export function startSend(program: Program, request: CRequest, message: Message, mode: SendMode): void {
  const { comm } = request;
  checkDest(comm, message.peer);
  checkTag(message.tag, false);
  const { pointer, bytes, scratch } = packedFrom(program, message.buffer, message.count, message.type);
  request.after = scratch ? new Release(pointer) : null;
  request.record = program.process.startSend(comm.core, pointer, bytes, message.peer, message.tag, mode);
}

export function startReceive(program: Program, request: CRequest, message: Message): void {
  const { comm } = request;
  checkSource(comm, message.peer);
  checkTag(message.tag, true);
  const { buffer, count, type } = message;
  const { pointer, bytes, scratch } = roomFor(program, buffer, count, type);
  request.after = scratch ? new Unpack(pointer, buffer, count, type) : null;
  request.record = program.process.startReceive(comm.core, pointer, bytes, message.peer, message.tag);
}

/** A send in buffered mode: of a copy of our own, so it is complete for the program at once. */
function sendBuffered(program: Program, comm: CCommunicator, message: Message): void {
  checkDest(comm, message.peer);
  checkTag(message.tag, false);
  const { process } = program;
  const { pointer, bytes } = ownCopyOf(program, message.buffer, message.count, message.type);
  program.buffered.hold(pointer, bytes, () =>
    process.startSend(comm.core, pointer, bytes, message.peer, message.tag, SendMode.BUFFERED),
  );
}

class SendAgain implements Restart {
  private readonly message: Message;
  private readonly mode: SendMode;

  constructor(message: Message, mode: SendMode) {
    this.message = message;
    this.mode = mode;
  }

  start(program: Program, request: CRequest): void {
    if (this.mode === SendMode.BUFFERED) {
      sendBuffered(program, request.comm, this.message);
      request.record = program.process.startSend(request.comm.core, 0 as Pointer, 0, PROC_NULL, 0, SendMode.STANDARD);
    } else startSend(program, request, this.message, this.mode);
  }
}

class ReceiveAgain implements Restart {
  private readonly message: Message;

  constructor(message: Message) {
    this.message = message;
  }

  start(program: Program, request: CRequest): void {
    startReceive(program, request, this.message);
  }
}

const textOf = (program: Program, code: number): string => program.errorCodes.stringOf(code);

export function pointToPointCalls(program: Program) {
  const { engine, process, host, ints } = program;
  const { bytes: memory } = program;
  const isNoWord = wordFilter(program);
  const checkReceive = checkOf(program, "MPI_Recv")!;

  const world = (comm: CCommunicator, rank: number): number =>
    rank === ANY_SOURCE ? ANY_SOURCE : comm.core.peers.worldRank(rank as never);

  /** Where a buffer of 0 bytes is that has an unusual address; throws for any other. */
  function pointerTo(call: string, buffer: number, count: number, type: Datatype): Pointer {
    program.call = call;
    return startOf(buffer, bufferBytes(program, buffer, count, type), type);
  }

  /** A blocking send that could not leave at once, or is not in standard mode. */
  function sendAndWait(comm: CCommunicator, message: Message, mode: SendMode): number {
    const request = new CRequest(comm);
    startSend(program, request, message, mode);
    return waitThen(program, request.record, new Concluded(request, 0));
  }

  function receiveAndWait(comm: CCommunicator, message: Message, status: number): number {
    const request = new CRequest(comm);
    startReceive(program, request, message);
    return waitThen(program, request.record, new Concluded(request, status));
  }

  function begin(comm: CCommunicator, start: (request: CRequest) => void, out: number): number {
    const request = new CRequest(comm);
    start(request);
    request.handle = program.requests.add(request);
    ints[out >> 2] = request.handle;
    return 0;
  }

  function persistent(comm: CCommunicator, restart: Restart, out: number): number {
    const request = new CRequest(comm, restart);
    request.handle = program.requests.add(request);
    ints[out >> 2] = request.handle;
    return 0;
  }

  function putEnvelope(comm: CCommunicator, envelope: RecordId, status: number): void {
    const { records } = engine;
    const source = comm.core.peers.rankOf(records.get(envelope, R_PEER) as never);
    writeStatus(ints, status, source, records.get(envelope, R_TAG), records.get(envelope, R_BYTES));
  }

  /** Sets a message aside for the program's handle of it. */
  function take(comm: CCommunicator, envelope: RecordId, message: number, status: number): number {
    engine.setAside(envelope);
    putEnvelope(comm, envelope, status);
    ints[message >> 2] = program.messages.add({ comm, envelope });
    return 0;
  }

  function checkProbe(source: number, tag: number, handle: number): CCommunicator {
    const comm = program.comm(handle);
    checkSource(comm, source);
    checkTag(tag, true);
    return comm;
  }

  /** Is there something to tell a program that probes: a message, or that none can come? Changes nothing. */
  const isOver = (comm: CCommunicator, source: number, tag: number): boolean =>
    engine.probe(world(comm, source), tag, comm.core.context) >= 0 ||
    process.failures.errorOfProbe(comm.core, source) !== 0;

  /** What a probe waited for; throws when it is an error. */
  function find(comm: CCommunicator, source: number, tag: number): RecordId {
    const envelope = engine.probe(world(comm, source), tag, comm.core.context);
    if (envelope < 0) process.failures.checkProbe(comm.core, source);
    return envelope;
  }

  const sends = (mode: SendMode) => ({
    now: (buffer: number, count: number, type: number, peer: number, tag: number, handle: number): number =>
      sendAndWait(program.comm(handle), { buffer, count, type: program.committed(type), peer, tag }, mode),
    start: (b: number, count: number, type: number, peer: number, tag: number, handle: number, out: number): number => {
      const comm = program.comm(handle);
      const message = { buffer: b, count, type: program.committed(type), peer, tag };
      return begin(comm, (request) => startSend(program, request, message, mode), out);
    },
    init: (buffer: number, count: number, type: number, peer: number, tag: number, handle: number, out: number) => {
      const comm = program.comm(handle);
      checkDest(comm, peer);
      checkTag(tag, false);
      const message = { buffer, count, type: program.committed(type), peer, tag };
      bufferBytes(program, buffer, count, message.type);
      return persistent(comm, new SendAgain(message, mode), out);
    },
  });
  const synchronous = sends(SendMode.SYNCHRONOUS);
  const ready = sends(SendMode.READY);
  const standard = sends(SendMode.STANDARD);
  const buffered = sends(SendMode.BUFFERED);

  return {
    MPI_Send(buffer: number, count: number, typeHandle: number, dest: number, tag: number, commHandle: number): number {
      try {
        program.checkRunning("MPI_Send");
        const comm = program.comm(commHandle);
        const type = program.committed(typeHandle);
        checkDest(comm, dest);
        checkTag(tag, false);
        checkCount(count);
        const { core } = comm;
        if (dest === PROC_NULL) {
          program.call = "MPI_Send";
          bufferBytes(program, buffer, count, type);
          return core.isRevoked ? sendAndWait(comm, { buffer, count, type, peer: dest, tag }, SendMode.STANDARD) : 0;
        }
        if (type.isContiguous(count)) {
          const to = core.peers.worldRank(dest as never);
          const bytes = type.size * count;
          const at = buffer + type.trueLb;
          const from = (
            at >= addressMin && at + bytes <= memory.length ? at : pointerTo("MPI_Send", buffer, count, type)
          ) as Pointer;
          if (engine.sendNow(from, bytes, to, tag, core.context)) return 0;
        }
        return sendAndWait(comm, { buffer, count, type, peer: dest, tag }, SendMode.STANDARD);
      } catch (error) {
        return program.raise(error);
      }
    },
    MPI_Recv(
      buffer: number,
      count: number,
      typeHandle: number,
      source: number,
      tag: number,
      commHandle: number,
      status: number,
    ): number {
      try {
        program.checkRunning("MPI_Recv");
        const comm = program.comm(commHandle);
        const type = program.committed(typeHandle);
        if (status !== 0 && isNoWord(status, statusBytes)) {
          checkReceive([buffer, count, typeHandle, source, tag, commHandle, status]);
        }
        checkSource(comm, source);
        checkTag(tag, true);
        checkCount(count);
        // A reduction by the program's own operation may have to go on meanwhile.
        if (!type.isContiguous(count) || source === PROC_NULL || process.collectives.programOperations !== 0) {
          return receiveAndWait(comm, { buffer, count, type, peer: source, tag }, status);
        }
        const { core } = comm;
        const bytes = type.size * count;
        const at = buffer + type.trueLb;
        const to = (
          at >= addressMin && at + bytes <= memory.length ? at : pointerTo("MPI_Recv", buffer, count, type)
        ) as Pointer;
        const now = host.receiveNow(to, bytes, world(comm, source), tag, core.context);
        if (now === Now.NOTHING) return program.suspension.stop(null);
        if (now === Now.MUST_POST) return receiveAndWait(comm, { buffer, count, type, peer: source, tag }, status);
        if (status !== 0) {
          const from = core.peers.rankOf(engine.lastSource as never);
          writeStatus(ints, status, from, engine.lastTag, engine.lastBytes);
        }
        if (engine.lastError === 0) return 0;
        throw new MpiError(
          engine.lastError,
          `Cannot receive from rank ${source} with tag ${tag}: ${textOf(program, engine.lastError)}`,
        );
      } catch (error) {
        return program.raise(error);
      }
    },
    MPI_Ssend: synchronous.now,
    MPI_Rsend: ready.now,
    MPI_Bsend(buffer: number, count: number, type: number, peer: number, tag: number, handle: number): number {
      const comm = program.comm(handle);
      sendBuffered(program, comm, { buffer, count, type: program.committed(type), peer, tag });
      return 0;
    },
    MPI_Isend: standard.start,
    MPI_Issend: synchronous.start,
    MPI_Irsend: ready.start,
    MPI_Ibsend(buffer: number, count: number, type: number, peer: number, tag: number, handle: number, out: number) {
      const comm = program.comm(handle);
      const message = { buffer, count, type: program.committed(type), peer, tag };
      sendBuffered(program, comm, message);
      const nothing = { ...message, buffer: 0, count: 0, peer: PROC_NULL, tag: 0 };
      return begin(comm, (request) => startSend(program, request, nothing, SendMode.STANDARD), out);
    },
    MPI_Irecv(buffer: number, count: number, type: number, peer: number, tag: number, handle: number, out: number) {
      const comm = program.comm(handle);
      const message = { buffer, count, type: program.committed(type), peer, tag };
      return begin(comm, (request) => startReceive(program, request, message), out);
    },
    MPI_Send_init: standard.init,
    MPI_Ssend_init: synchronous.init,
    MPI_Rsend_init: ready.init,
    MPI_Bsend_init: buffered.init,
    MPI_Recv_init(buffer: number, count: number, type: number, peer: number, tag: number, handle: number, out: number) {
      const comm = program.comm(handle);
      checkSource(comm, peer);
      checkTag(tag, true);
      const message = { buffer, count, type: program.committed(type), peer, tag };
      bufferBytes(program, buffer, count, message.type);
      return persistent(comm, new ReceiveAgain(message), out);
    },

    // Probes

    MPI_Probe(source: number, tag: number, handle: number, status: number): number {
      const comm = checkProbe(source, tag, handle);
      if (source === PROC_NULL) {
        writeStatus(ints, status, PROC_NULL, ANY_TAG, 0);
        return 0;
      }
      const tell = (found: RecordId) => {
        putEnvelope(comm, found, status);
        return 0;
      };
      const again = new CallAgain("MPI_Probe", source, tag, handle, status);
      if (process.choices !== null && source === ANY_SOURCE) {
        return chooseMessageLater(program, { source, tag, context: comm.core.context }, tell, again);
      }
      return waitUntil(
        program,
        () => isOver(comm, source, tag),
        () => tell(find(comm, source, tag)),
        again,
      );
    },
    MPI_Iprobe(source: number, tag: number, handle: number, flag: number, status: number): number {
      const comm = checkProbe(source, tag, handle);
      const again = new CallAgain("MPI_Iprobe", source, tag, handle, flag, status);
      if (source === PROC_NULL) {
        const nobody = () => {
          writeStatus(ints, status, PROC_NULL, ANY_TAG, 0);
          ints[flag >> 2] = 1;
          return 0;
        };
        return look(program, nobody, again);
      }
      const tell = (envelope: RecordId) => {
        ints[flag >> 2] = envelope >= 0 ? 1 : 0;
        if (envelope < 0) process.failures.checkProbe(comm.core, source);
        else putEnvelope(comm, envelope, status);
        return 0;
      };
      const { context } = comm.core;
      if (process.choices !== null) {
        return chooseMessage(program, { source: world(comm, source), tag, context }, tell, again);
      }
      return interrupted(program, again) ?? tell(engine.probe(world(comm, source), tag, context));
    },
    MPI_Mprobe(source: number, tag: number, handle: number, message: number, status: number): number {
      const comm = checkProbe(source, tag, handle);
      if (source === PROC_NULL) {
        writeStatus(ints, status, PROC_NULL, ANY_TAG, 0);
        ints[message >> 2] = MESSAGE_NO_PROC;
        return 0;
      }
      const again = new CallAgain("MPI_Mprobe", source, tag, handle, message, status);
      if (process.choices !== null && source === ANY_SOURCE) {
        const tell = (found: RecordId) => take(comm, found, message, status);
        return chooseMessageLater(program, { source, tag, context: comm.core.context }, tell, again);
      }
      const finish = () => take(comm, find(comm, source, tag), message, status);
      return waitUntil(program, () => isOver(comm, source, tag), finish, again);
    },
    MPI_Improbe(source: number, tag: number, handle: number, flag: number, message: number, status: number): number {
      const comm = checkProbe(source, tag, handle);
      const again = new CallAgain("MPI_Improbe", source, tag, handle, flag, message, status);
      if (source === PROC_NULL) {
        const nobody = () => {
          writeStatus(ints, status, PROC_NULL, ANY_TAG, 0);
          ints[message >> 2] = MESSAGE_NO_PROC;
          ints[flag >> 2] = 1;
          return 0;
        };
        return look(program, nobody, again);
      }
      const tell = (envelope: RecordId) => {
        ints[flag >> 2] = envelope >= 0 ? 1 : 0;
        if (envelope >= 0) return take(comm, envelope, message, status);
        process.failures.checkProbe(comm.core, source);
        return 0;
      };
      const { context } = comm.core;
      if (process.choices !== null) {
        return chooseMessage(program, { source: world(comm, source), tag, context }, tell, again);
      }
      return interrupted(program, again) ?? tell(engine.probe(world(comm, source), tag, context));
    },
    MPI_Mrecv(buffer: number, count: number, type: number, message: number, status: number): number {
      const request = matchedReceive(buffer, count, type, message);
      return waitThen(program, request.record, new Concluded(request, status));
    },
    MPI_Imrecv(buffer: number, count: number, type: number, message: number, out: number): number {
      const request = matchedReceive(buffer, count, type, message);
      request.handle = program.requests.add(request);
      ints[out >> 2] = request.handle;
      return 0;
    },
  };

  function matchedReceive(buffer: number, count: number, type: number, message: number): CRequest {
    const handle = ints[message >> 2]!;
    const core = program.committed(type);
    ints[message >> 2] = MESSAGE_NULL;
    if (handle === MESSAGE_NO_PROC) {
      const request = new CRequest(program.world);
      startReceive(program, request, { buffer, count, type: core, peer: PROC_NULL, tag: ANY_TAG });
      return request;
    }
    const { comm, envelope } = program.messages.get(handle);
    program.owner = comm;
    program.messages.remove(handle);
    const request = new CRequest(comm);
    const { pointer, bytes, scratch } = roomFor(program, buffer, count, core);
    request.after = scratch ? new Unpack(pointer, buffer, count, core) : null;
    request.record = engine.startMatchedReceive(pointer, bytes, envelope);
    return request;
  }
}

saves({ SendAgain, ReceiveAgain });
