/** A send and a receive in one call (MPI 5.0 §3.10), or as one request (§3.7.8). */
import { SUSPENDED } from "../../core/base/capture-points.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Exchange } from "../../core/binding/exchange.ts";
import { SendMode } from "../../core/request/records.ts";
import { ownCopyOf, ReleaseScratch } from "../arguments/buffers.ts";
import { type Call, type CallTable, callsOf } from "../call-table.ts";
import { type After, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { showToPlane } from "../show-to-plane.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { conclude, handOver } from "../waiting/conclude-requests.ts";
import { type Condition, waitForThen } from "../waiting/waiting.ts";
import { checkBoth, startNothing, startReceive, startSend } from "./point-to-point.ts";

class EndBoth implements After {
  private readonly send: CRequest;
  private readonly receive: CRequest;

  constructor(send: CRequest, receive: CRequest) {
    this.send = send;
    this.receive = receive;
  }

  finish(program: Program): void {
    conclude(program, this.send, 0);
    conclude(program, this.receive, 0);
  }

  /** A receive that stood still and does not any more has ended, or goes on: then so does the exchange. */
  isPending({ operations }: Program, request: CRequest): boolean {
    if (operations.errorOf(request.record) !== ErrorClass.PROC_FAILED_PENDING) return false;
    const { record } = this.receive;
    if (operations.isComplete(record) && operations.isStalled(record)) return true;
    operations.end(request.record);
    request.record = operations.startTask(new Exchange(this.send.record, record));
    return false;
  }
}

/** Ends a sendrecv: the receive's outcome counts, the send must be over as well. */
class BothDone implements Condition, Continuation {
  private readonly send: CRequest;
  private readonly receive: CRequest;
  private readonly status: number;

  constructor(send: CRequest, receive: CRequest, status: number) {
    this.send = send;
    this.receive = receive;
    this.status = status;
  }

  isReady({ operations }: Program): boolean {
    return operations.isComplete(this.receive.record) && operations.isComplete(this.send.record);
  }

  resume(program: Program): number {
    const sent = conclude(program, this.send, 0);
    const received = conclude(program, this.receive, this.status);
    const code = received !== 0 ? received : sent;
    return code === 0
      ? 0
      : program.raise(new MpiError(code, `Cannot complete the exchange: ${program.errorCodes.stringOf(code)}`));
  }
}

type ExchangeArguments = [
  sendBuffer: number,
  sendCount: number,
  sendType: number,
  dest: number,
  sendTag: number,
  buffer: number,
  count: number,
  type: number,
  source: number,
  tag: number,
  comm: number,
  /** Where the status goes, or the request. */
  out: number,
];

type ReplacementArguments = [
  buffer: number,
  count: number,
  type: number,
  dest: number,
  sendTag: number,
  source: number,
  tag: number,
  comm: number,
  out: number,
];

function exchange(program: Program, ...args: ExchangeArguments): [send: CRequest, receive: CRequest] {
  const [sendBuffer, sendCount, sendType, dest, sendTag, buffer, count, type, source, tag, handle] = args;
  const comm = program.comm(handle);
  const [send, receive] = [new CRequest(comm), new CRequest(comm)];
  const sendCore = program.committed(sendType);
  const sent = { buffer: sendBuffer, count: sendCount, type: sendCore, peer: dest, tag: sendTag };
  const received = { buffer, count, type: program.committed(type), peer: source, tag };
  checkBoth(program, comm, sent, received);
  startReceive(program, receive, received);
  startSend(program, send, sent, SendMode.STANDARD);
  return [send, receive];
}

function replacement(program: Program, ...args: ReplacementArguments): [send: CRequest, receive: CRequest] {
  const [buffer, count, type, dest, sendTag, source, tag, handle] = args;
  const comm = program.comm(handle);
  const [send, receive] = [new CRequest(comm), new CRequest(comm)];
  const message = { buffer, count, type: program.committed(type) };
  const received = { ...message, peer: source, tag };
  checkBoth(program, comm, { ...message, peer: dest, tag: sendTag }, received);
  const { pointer, bytes } = ownCopyOf(program, buffer, count, message.type);
  send.after = new ReleaseScratch(pointer);
  send.record = program.operations.startSend(comm.core, pointer, bytes, dest, sendTag, SendMode.STANDARD);
  startReceive(program, receive, received);
  return [send, receive];
}

function wait(program: Program, [send, receive]: [CRequest, CRequest], status: number): number {
  const both = new BothDone(send, receive, status);
  return waitForThen(program, both, both);
}

/** MPI_Sendrecv. Afterwards perhaps the next call needs no engine. */
function exchangeAndWait(program: Program, ...args: ExchangeArguments): number {
  const requests = exchange(program, ...args);
  showToPlane(program, requests[1].comm);
  const answer = wait(program, requests, args[11]);
  if (answer === 0) program.process.openPass();
  return answer;
}

/**
 * The rest of an MPI_Sendrecv whose message a data plane has sent: the other is received. It does not stop before the receive is posted, for
 * the call cannot be made again from its beginning. Its arguments are good: the plane has looked at them.
 */
export function restOfExchange(program: Program): Call {
  const rest = (...args: ExchangeArguments): number => {
    const [, , , , , buffer, count, type, source, tag, handle, status] = args;
    try {
      const comm = program.comm(handle);
      const [send, receive] = [new CRequest(comm), new CRequest(comm)];
      startNothing(program, send);
      startReceive(program, receive, { buffer, count, type: program.committed(type), peer: source, tag });
      return wait(program, [send, receive], status);
    } catch (error) {
      return program.raise(error);
    }
  };
  return (a, b, c, d, e, f, g, h, i, j, k, l) => {
    program.call = "MPI_Sendrecv";
    const answer = rest(a, b, c, d, e, f, g, h, i, j, k, l);
    return answer === SUSPENDED ? program.suspension.unwind() : answer;
  };
}

function begin(program: Program, [send, receive]: [CRequest, CRequest], out: number): number {
  const request = new CRequest(receive.comm);
  request.tellsMessage = true;
  request.record = program.operations.startTask(new Exchange(send.record, receive.record));
  request.after = new EndBoth(send, receive);
  return handOver(program, request, out);
}

const table: CallTable = {
  MPI_Sendrecv: exchangeAndWait,
  MPI_Isendrecv: (program, ...args: ExchangeArguments) => begin(program, exchange(program, ...args), args[11]),
  MPI_Sendrecv_replace: (program, ...args: ReplacementArguments) =>
    wait(program, replacement(program, ...args), args[8]),
  MPI_Isendrecv_replace: (program, ...args: ReplacementArguments) =>
    begin(program, replacement(program, ...args), args[8]),
};

export const exchangeCalls = (program: Program) => callsOf(program, table);

saves({ EndBoth, BothDone });
