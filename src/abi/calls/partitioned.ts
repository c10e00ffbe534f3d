/**
 * Partitioned messages: MPI 5.0 chapter 4. A message leaves when all its partitions are ready, and its partitions arrive all
 * at once; the standard allows both.
 *
 * They match each other only, in the order of the init calls with the same peer and tag, whatever the order of the starts. So
 * they travel in a context of their own, under a tag made of the program's and the number of the init call.
 */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkDest, checkSource, checkTag } from "../../core/binding/checks.ts";
import { bufferBytes, packedFrom, ReleaseScratch, roomFor, Unpack } from "../arguments/buffers.ts";
import { numberOf } from "../arguments/counts.ts";
import { type CCommunicator, CRequest, type Restart } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { chooseTest } from "../replay/choices.ts";
import { handOver } from "../waiting/conclude-requests.ts";
import { CallAgain } from "../waiting/waiting.ts";
import type { MessageArguments } from "./point-to-point.ts";

/** The first init call with a tag uses the tag itself; later ones are spread over twice as many. */
export const partitionedTag = (tag: number, call: number): number => (tag + Math.imul(call, 0x9e3779b1)) & 0x7fffffff;

const partitionsMax = 1 << 24;

interface PartitionedMessage extends MessageArguments {
  readonly partitions: number;
  /** Under which it travels. */
  readonly ownTag: number;
}

class SendParts implements Restart {
  readonly message: PartitionedMessage;
  /** Which partitions of the send under way are ready. */
  private ready: boolean[] = [];
  private left = 0;

  constructor(message: PartitionedMessage) {
    this.message = message;
  }

  /** The request is not complete until the message can leave. */
  start({ operations }: Program, request: CRequest): void {
    this.left = this.message.partitions;
    this.ready = new Array<boolean>(this.left).fill(false);
    request.record = operations.startHeld(request.comm.core);
  }

  /** All of them, or none if one of them cannot be. */
  setReady(program: Program, request: CRequest, partitions: readonly number[]): void {
    const once = new Set<number>();
    for (const partition of partitions) {
      checkPartition(partition, this.message.partitions);
      if (request.record < 0 || this.ready[partition] || once.has(partition)) {
        const state = request.record < 0 ? "its request has not been started" : "it is ready already";
        throw new MpiError(ErrorClass.ARG, `Cannot make partition ${partition} ready: ${state}`);
      }
      once.add(partition);
    }
    for (const partition of partitions) this.ready[partition] = true;
    this.left -= partitions.length;
    if (partitions.length > 0 && this.left === 0) this.send(program, request);
  }

  private send(program: Program, request: CRequest): void {
    const { operations } = program;
    const { buffer, count, type, peer, ownTag } = this.message;
    const { pointer, bytes, scratch } = packedFrom(program, buffer, count, type);
    operations.endHeld(request.record);
    request.after = scratch ? new ReleaseScratch(pointer) : null;
    request.record = operations.startPartitionedSend(request.comm.core, pointer, bytes, peer, ownTag);
  }
}

class ReceiveParts implements Restart {
  readonly message: PartitionedMessage;

  constructor(message: PartitionedMessage) {
    this.message = message;
  }

  start(program: Program, request: CRequest): void {
    const { buffer, count, type, peer, ownTag } = this.message;
    const { pointer, bytes, scratch } = roomFor(program, buffer, count, type);
    request.after = scratch ? new Unpack(pointer, buffer, count, type) : null;
    request.record = program.operations.startPartitionedReceive(request.comm.core, pointer, bytes, peer, ownTag);
  }
}

function checkPartition(partition: number, partitions: number): void {
  if (partition >= 0 && partition < partitions) return;
  throw new MpiError(ErrorClass.ARG, `Cannot use partition ${partition}: the message has 0 to ${partitions - 1}`);
}

function refuse(verb: string, wanted: string): never {
  throw new MpiError(ErrorClass.REQUEST, `Cannot ${verb} the partition: the request is not that of ${wanted}`);
}

export function partitionedCalls(program: Program) {
  const { ints, operations, requests } = program;

  /** `way`: whether it is a send or a receive; each is counted for itself. */
  function messageOf(
    comm: CCommunicator,
    way: "to" | "from",
    message: MessageArguments,
    partitions: number,
  ): PartitionedMessage {
    if (partitions < 1 || partitions > partitionsMax) {
      throw new MpiError(ErrorClass.ARG, `Cannot make ${partitions} partitions: there must be 1 to ${partitionsMax}`);
    }
    const count = message.count * partitions;
    bufferBytes(program, message.buffer, count, message.type);
    const key = `${way} ${message.peer} ${message.tag}`;
    const call = comm.partitioned.get(key) ?? 0;
    comm.partitioned.set(key, call + 1);
    return { ...message, count, partitions, ownTag: partitionedTag(message.tag, call) };
  }

  const init =
    (way: "to" | "from") =>
    (
      buffer: number,
      partitions: number,
      count: number | bigint,
      type: number,
      peer: number,
      tag: number,
      handle: number,
      _info: number,
      out: number,
    ): number => {
      const comm = program.comm(handle);
      if (way === "to") checkDest(comm, peer);
      else checkSource(comm, peer);
      checkTag(tag);
      const given = { buffer, count: numberOf(count), type: program.committed(type), peer, tag };
      const message = messageOf(comm, way, given, partitions);
      const request = new CRequest(comm, way === "to" ? new SendParts(message) : new ReceiveParts(message));
      request.statusTag = tag;
      return handOver(program, request, out);
    };

  function sendOf(handle: number): [CRequest, SendParts] {
    const request = requests.get(handle);
    program.owner = request.comm;
    return request.restart instanceof SendParts ? [request, request.restart] : refuse("send", "a partitioned send");
  }

  return {
    MPI_Psend_init: init("to"),
    MPI_Precv_init: init("from"),
    MPI_Pready(partition: number, handle: number): number {
      const [request, parts] = sendOf(handle);
      parts.setReady(program, request, [partition]);
      return 0;
    },
    MPI_Pready_range(first: number, last: number, handle: number): number {
      const [request, parts] = sendOf(handle);
      if (first > last) return 0;
      checkPartition(first, parts.message.partitions);
      checkPartition(last, parts.message.partitions);
      const range = Array.from({ length: last - first + 1 }, (_, i) => first + i);
      parts.setReady(program, request, range);
      return 0;
    },
    MPI_Pready_list(length: number, list: number, handle: number): number {
      const [request, parts] = sendOf(handle);
      parts.setReady(program, request, program.list(list, length));
      return 0;
    },
    MPI_Parrived(handle: number, partition: number, flag: number): number {
      const request = requests.get(handle);
      program.owner = request.comm;
      const { restart } = request;
      if (!(restart instanceof ReceiveParts)) refuse("look for", "a partitioned receive");
      checkPartition(partition, restart.message.partitions);
      const tell = (isHere: boolean) => {
        ints[flag >> 2] = isHere ? 1 : 0;
        if (isHere) deliver(request);
        return 0;
      };
      const again = new CallAgain("MPI_Parrived", handle, partition, flag);
      return chooseTest(program, [request], tell, again);
    },
  };

  /** The program may look at the partition now, though the request is not over. */
  function deliver(request: CRequest): void {
    const { record, after } = request;
    if (record >= 0) operations.show(record);
    if (after === null) return;
    request.after = null;
    after.finish(program, operations.bytesOf(record), operations.errorOf(record));
  }
}

saves({ SendParts, ReceiveParts });
