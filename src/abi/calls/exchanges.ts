/** A send and a receive that are one request: MPI_Isendrecv and MPI_Isendrecv_replace, MPI 5.0 §3.7.8. */

import { saves } from "../../core/base/saved-classes.ts";
import type { Process } from "../../core/process/process.ts";
import { Task } from "../../core/process/task.ts";
import { R_ERROR, R_STATUS_BYTES, R_STATUS_SOURCE, R_STATUS_TAG, SendMode } from "../../core/request/records.ts";
import { checkCount, packedFrom, Release } from "../buffers.ts";
import { type After, type CCommunicator, CRequest } from "../objects.ts";
import type { Program } from "../program.ts";
import { checkDest, checkSource, checkTag, type Message, startReceive, startSend } from "./point-to-point.ts";
import { conclude } from "./requests.ts";

/** Ends when both messages are complete, and tells what the received one does. */
class Exchange extends Task {
  private readonly send: CRequest;
  private readonly receive: CRequest;

  constructor(send: CRequest, receive: CRequest) {
    super();
    this.send = send;
    this.receive = receive;
  }

  override advance({ engine }: Process): boolean {
    const { records } = engine;
    const [sent, received] = [this.send.record, this.receive.record];
    if (!engine.isComplete(sent) || !engine.isComplete(received)) return false;
    for (const field of [R_STATUS_SOURCE, R_STATUS_TAG, R_STATUS_BYTES]) {
      records.put(this.request, field, records.get(received, field));
    }
    this.error = records.get(received, R_ERROR) || records.get(sent, R_ERROR);
    return true;
  }
}

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
}

export function exchangeCalls(program: Program) {
  const { ints, memory, process } = program;

  function begin(send: CRequest, receive: CRequest, out: number): number {
    const request = new CRequest(receive.comm);
    request.tellsMessage = true;
    request.record = process.start(new Exchange(send, receive));
    request.after = new EndBoth(send, receive);
    request.handle = program.requests.add(request);
    ints[out >> 2] = request.handle;
    return 0;
  }

  /** Before anything is started: a half of an exchange could not be taken back. */
  function check(comm: CCommunicator, send: Message, receive: Message): void {
    checkDest(comm, send.peer);
    checkTag(send.tag, false);
    checkCount(send.count);
    checkSource(comm, receive.peer);
    checkTag(receive.tag, true);
    checkCount(receive.count);
  }

  return {
    MPI_Isendrecv(
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
      handle: number,
      out: number,
    ): number {
      const comm = program.comm(handle);
      const [send, receive] = [new CRequest(comm), new CRequest(comm)];
      const sendCore = program.committed(sendType);
      const sent = { buffer: sendBuffer, count: sendCount, type: sendCore, peer: dest, tag: sendTag };
      const received = { buffer, count, type: program.committed(type), peer: source, tag };
      check(comm, sent, received);
      startReceive(program, receive, received);
      startSend(program, send, sent, SendMode.STANDARD);
      return begin(send, receive, out);
    },
    MPI_Isendrecv_replace(
      buffer: number,
      count: number,
      type: number,
      dest: number,
      sendTag: number,
      source: number,
      tag: number,
      handle: number,
      out: number,
    ): number {
      const comm = program.comm(handle);
      const [send, receive] = [new CRequest(comm), new CRequest(comm)];
      const message = { buffer, count, type: program.committed(type) };
      const received = { ...message, peer: source, tag };
      check(comm, { ...message, peer: dest, tag: sendTag }, received);
      const place = packedFrom(program, buffer, count, message.type);
      let { pointer } = place;
      if (!place.scratch) {
        pointer = memory.allocate(place.bytes);
        memory.copy(pointer, 0, place.pointer, 0, place.bytes);
      }
      send.after = new Release(pointer);
      send.record = process.startSend(comm.core, pointer, place.bytes, dest, sendTag, SendMode.STANDARD);
      startReceive(program, receive, received);
      return begin(send, receive, out);
    },
  };
}

saves({ Exchange, EndBoth });
