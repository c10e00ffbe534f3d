/** Probes, and receives of what they have found: MPI 5.0 §3.8. */
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../../core/base/constants.ts";
import { checkSource, checkWantedTag, probeFailure } from "../../core/binding/checks.ts";
import type { MessageOutcome } from "../../core/binding/operations.ts";
import { roomFor, Unpack } from "../arguments/buffers.ts";
import { writeStatus } from "../arguments/status.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { type CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { chooseMessage, chooseMessageLater } from "../replay/choices.ts";
import { Concluded, handOver } from "../waiting/conclude-requests.ts";
import { CallAgain, look, waitThen, waitUntil } from "../waiting/waiting.ts";
import { startReceive } from "./point-to-point.ts";

const MESSAGE_NULL = 0x128;
const MESSAGE_NO_PROC = 0x129;

/** A probe: whose messages it looks for, and what it does with the one it finds, or with the message of PROC_NULL. */
interface Probe {
  readonly comm: CCommunicator;
  readonly source: number;
  readonly tag: number;
  readonly found: (envelope: RecordId) => number;
  readonly nobody: () => number;
  /** For probes that do not wait: where they say whether there is a message. */
  readonly flag: number;
  readonly again: CallAgain;
}

function commOf(program: Program, source: number, tag: number, handle: number): CCommunicator {
  const comm = program.comm(handle);
  checkSource(comm, source);
  checkWantedTag(tag);
  return comm;
}

function probeLater(program: Program, { comm, source, tag, found, nobody, again }: Probe): number {
  if (source === PROC_NULL) return nobody();
  const { operations } = program;
  const { core } = comm;
  if (operations.choices !== null && source === ANY_SOURCE) {
    return chooseMessageLater(program, { comm, source, tag }, found, again);
  }
  /** Something can be told: a message, or that none can come. */
  const isOver = () => operations.probe(core, source, tag) >= 0 || operations.probeError(core, source) !== 0;
  const finish = () => {
    const envelope = operations.probe(core, source, tag);
    if (envelope >= 0) return found(envelope);
    throw probeFailure(operations, comm, source)!;
  };
  return waitUntil(program, isOver, finish, again);
}

function probeNow(program: Program, { comm, source, tag, found, nobody, flag, again }: Probe): number {
  const { ints, operations } = program;
  if (source === PROC_NULL) {
    const tellNobody = () => {
      ints[flag >> 2] = 1;
      return nobody();
    };
    return look(program, tellNobody, again);
  }
  const tell = (envelope: RecordId) => {
    ints[flag >> 2] = envelope >= 0 ? 1 : 0;
    if (envelope >= 0) return found(envelope);
    const failure = probeFailure(operations, comm, source);
    if (failure !== null) throw failure;
    return 0;
  };
  return chooseMessage(program, { comm, source, tag }, tell, again);
}

const envelopeOutcome: MessageOutcome = { source: 0, tag: 0, bytes: 0, error: 0, cancelled: false };

function putEnvelope({ ints, operations }: Program, comm: CCommunicator, envelope: RecordId, status: number): number {
  operations.readEnvelope(comm.core, envelope, envelopeOutcome);
  writeStatus(ints, status, envelopeOutcome.source, envelopeOutcome.tag, envelopeOutcome.bytes);
  return 0;
}

/** What a probe does with the status of the message it has found. */
const telling = (program: Program, comm: CCommunicator, status: number) => ({
  found: (envelope: RecordId) => putEnvelope(program, comm, envelope, status),
  nobody: () => {
    writeStatus(program.ints, status, PROC_NULL, ANY_TAG, 0);
    return 0;
  },
});

/** The same for a matched probe, which sets the message aside for the program's handle of it. */
const taking = (program: Program, comm: CCommunicator, message: number, status: number) => ({
  found: (envelope: RecordId) => {
    program.operations.setAside(envelope);
    program.ints[message >> 2] = program.messages.add({ comm, envelope });
    return putEnvelope(program, comm, envelope, status);
  },
  nobody: () => {
    writeStatus(program.ints, status, PROC_NULL, ANY_TAG, 0);
    program.ints[message >> 2] = MESSAGE_NO_PROC;
    return 0;
  },
});

function matchedReceive(program: Program, buffer: number, count: number, type: number, message: number): CRequest {
  const { ints, messages, operations } = program;
  const handle = ints[message >> 2]!;
  const core = program.committed(type);
  if (handle === MESSAGE_NO_PROC) {
    const request = new CRequest(program.world);
    startReceive(program, request, { buffer, count, type: core, peer: PROC_NULL, tag: ANY_TAG });
    ints[message >> 2] = MESSAGE_NULL;
    return request;
  }
  const { comm, envelope } = messages.get(handle);
  program.owner = comm;
  const request = new CRequest(comm);
  // A program whose buffer is refused still has the message.
  const { pointer, bytes, scratch } = roomFor(program, buffer, count, core);
  messages.remove(handle);
  ints[message >> 2] = MESSAGE_NULL;
  request.after = scratch ? new Unpack(pointer, buffer, count, core) : null;
  request.record = operations.startMatchedReceive(pointer, bytes, envelope);
  return request;
}

const table: CallTable = {
  MPI_Probe(program, source: number, tag: number, handle: number, status: number) {
    const comm = commOf(program, source, tag, handle);
    const again = new CallAgain("MPI_Probe", source, tag, handle, status);
    return probeLater(program, { comm, source, tag, ...telling(program, comm, status), flag: 0, again });
  },
  MPI_Iprobe(program, source: number, tag: number, handle: number, flag: number, status: number) {
    const comm = commOf(program, source, tag, handle);
    const again = new CallAgain("MPI_Iprobe", source, tag, handle, flag, status);
    return probeNow(program, { comm, source, tag, ...telling(program, comm, status), flag, again });
  },
  MPI_Mprobe(program, source: number, tag: number, handle: number, message: number, status: number) {
    const comm = commOf(program, source, tag, handle);
    const again = new CallAgain("MPI_Mprobe", source, tag, handle, message, status);
    return probeLater(program, { comm, source, tag, ...taking(program, comm, message, status), flag: 0, again });
  },
  MPI_Improbe(program, source: number, tag: number, handle: number, flag: number, message: number, status: number) {
    const comm = commOf(program, source, tag, handle);
    const again = new CallAgain("MPI_Improbe", source, tag, handle, flag, message, status);
    return probeNow(program, { comm, source, tag, ...taking(program, comm, message, status), flag, again });
  },
  MPI_Mrecv(program, buffer: number, count: number, type: number, message: number, status: number) {
    const request = matchedReceive(program, buffer, count, type, message);
    return waitThen(program, request.record, new Concluded(request, status));
  },
  MPI_Imrecv(program, buffer: number, count: number, type: number, message: number, out: number) {
    return handOver(program, matchedReceive(program, buffer, count, type, message), out);
  },
};

export const probeCalls = (program: Program) => callsOf(program, table);
