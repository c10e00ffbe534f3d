/**
 * The operands of a reduction. Kernels see one memory, the node's shared one: arrays that lie there are used in place, all
 * others are copied to allocated memory and the result back. An ordinary array is copied once each way: the reduction then
 * runs in place on the copy.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkSize } from "../core/binding/checks.ts";
import type { Operations } from "../core/binding/operations.ts";
import {
  localRoles,
  type OperandRoles,
  type PlacedOperands,
  type ReductionCall,
  resultCount,
} from "../core/binding/reduction-arguments.ts";
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import { pack, unpack } from "../core/comm/datatype/pack.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { type Reduction, reductionFor } from "../core/process/reduction.ts";
import { arrayOf, type BufferLike, type Buffers, isTypedArray, normalized, type TypedArray } from "./buffers.ts";
import { countOf, IN_PLACE, type InPlace, newArrayFor } from "./collective-sides.ts";
import { typeOf } from "./element-types.ts";
import { type OpLike, opOf } from "./operations.ts";
import { type AfterCompletion, noRecord, type Started } from "./request.ts";
import { Status } from "./status.ts";

const nowhere = 0 as Pointer;

/** The arrays that a program gives. */
interface Given<T extends TypedArray> {
  /** Null: this rank contributes nothing (the root's group of an inter-communicator). */
  readonly data: BufferLike<T> | InPlace | null;
  readonly op: OpLike;
  readonly into: BufferLike<T> | undefined;
}

/** One is made for every reduction: its fields are plain ones, set once each, because V8 takes a microsecond for `#` ones. */
export class ReductionOperands<T extends TypedArray>
  implements PlacedOperands, Started<T | null>, AfterCompletion<T | null>
{
  declare record: RecordId;
  declare readonly reduction: Reduction;
  /** Elements, and bytes, of the input. */
  declare readonly count: number;
  declare readonly bytes: number;
  declare readonly send: Pointer;
  declare readonly receive: Pointer;
  declare readonly inPlace: boolean;
  declare private readonly buffers: Buffers;
  declare private readonly type: Datatype;
  declare private readonly into: BufferLike<T> | null;
  declare private readonly resultCount: number;
  /** Allocated memory behind `send` and `receive`, `nowhere` where there is none. */
  declare private readonly sendStage: Pointer;
  declare private readonly receiveStage: Pointer;

  /** `comm`: null where no other rank takes part. */
  constructor(
    buffers: Buffers,
    comm: Communicator | null,
    call: ReductionCall,
    { input, hasResult, inPlace }: OperandRoles,
    given: Given<T>,
  ) {
    const source = sourceOf(input, given);
    // Elements that are in the result's array, but get no result, are sent from there.
    const data = input === null ? null : inPlace ? IN_PLACE : source;
    this.record = noRecord;
    this.buffers = buffers;
    this.type = typeOfBuffer(source);
    this.count = countOf(source);
    this.reduction = reductionFor(opOf(given.op), this.type);
    this.bytes = this.count * this.reduction.elementBytes;
    checkSize(this.bytes);
    this.resultCount = !hasResult ? 0 : comm === null ? this.count : resultCount(comm, call, this.count);
    this.into = hasResult ? this.#target(input, given, source) : null;
    if (this.into !== null) this.#checkInto(this.into, data);

    const sendAt = data === null || data === IN_PLACE ? nowhere : this.#shared(data, this.bytes);
    const receiveAt = this.into === null ? nowhere : this.#shared(this.into, this.#intoBytes(data));
    if (this.into === null || comm?.isInter === true) {
      const stagesSend = data !== null && data !== IN_PLACE && sendAt === nowhere;
      const stagesReceive = this.into !== null && receiveAt === nowhere;
      this.inPlace = false;
      this.sendStage = stagesSend ? this.#load(data) : nowhere;
      this.receiveStage = stagesReceive ? buffers.memory.allocate(this.#resultBytes) : nowhere;
      this.send = stagesSend ? this.sendStage : sendAt;
      this.receive = stagesReceive ? this.receiveStage : receiveAt;
      return;
    }
    const direct = receiveAt !== nowhere && (data === IN_PLACE || sendAt !== nowhere);
    this.inPlace = data === IN_PLACE || !direct;
    this.sendStage = nowhere;
    this.receiveStage = direct ? nowhere : this.#load(source);
    this.send = direct ? sendAt : nowhere;
    this.receive = direct ? receiveAt : this.receiveStage;
  }

  /** The array of the result. The root of an inter-communicator, which sends nothing, may give it as `data`. */
  #target(input: OperandRoles["input"], { into }: Given<T>, source: BufferLike<T>): BufferLike<T> {
    return into ?? (input === null ? source : newArrayFor(source, this.resultCount));
  }

  get after(): this {
    return this;
  }

  /** The result to where it belongs, the staged memory back. After a failure peers may still read from that: it stays. */
  finish({ error }: Status): T | null {
    if (error === 0) {
      if (this.receiveStage !== nowhere) this.#store();
      const { memory } = this.buffers;
      if (this.sendStage !== nowhere) memory.free(this.sendStage);
      if (this.receiveStage !== nowhere) memory.free(this.receiveStage);
    }
    return this.into === null ? null : arrayOf(this.into);
  }

  get #resultBytes(): number {
    return this.resultCount * this.reduction.elementBytes;
  }

  /** What of the result's buffer is used: in place it holds the whole input. */
  #intoBytes(data: BufferLike<T> | InPlace | null): number {
    return data === IN_PLACE ? this.bytes : this.#resultBytes;
  }

  #checkInto(into: BufferLike<T>, data: BufferLike<T> | InPlace | null): void {
    if (into === data) {
      throw new MpiError(
        ErrorClass.BUFFER,
        "Cannot reduce into the array that is sent: they must not overlap; send mpi.IN_PLACE instead",
      );
    }
    const type = typeOfBuffer(into);
    if (!isLike(type, this.type)) {
      throw new MpiError(ErrorClass.TYPE, `Cannot reduce ${this.type.name} into ${type.name}: they must be the same`);
    }
    const [room, needed] = [countOf(into), data === IN_PLACE ? this.count : this.resultCount];
    if (room >= needed) return;
    throw new MpiError(
      ErrorClass.BUFFER,
      `Cannot reduce into the array: it has room for ${room} elements and needs ${needed}`,
    );
  }

  /** Where the elements lie in shared memory, if they can be worked on there; `nowhere` otherwise. */
  #shared(buffer: BufferLike, bytes: number): Pointer {
    if (isTypedArray(buffer)) return this.buffers.isShared(buffer) ? (buffer.byteOffset as Pointer) : nowhere;
    const { data, offset = 0 } = buffer;
    const fits = offset + bytes <= data.byteLength;
    if (!this.reduction.inMemory || !fits || !this.buffers.isShared(data)) return nowhere;
    return (data.byteOffset + offset) as Pointer;
  }

  #load(buffer: BufferLike): Pointer {
    const { memory } = this.buffers;
    const pointer = memory.allocate(this.bytes);
    if (isTypedArray(buffer)) this.buffers.copyIn(buffer, pointer);
    else {
      const items = normalized(buffer);
      const { type, count, bytes, offset } = items;
      if (!this.reduction.inMemory) pack(items, { bytes: memory.bytes, offset: pointer });
      else if (count > 0) memory.bytes.set(bytes.subarray(offset, offset + spanOf(type, count)), pointer);
    }
    return pointer;
  }

  #store(): void {
    const into = this.into!;
    const { memory } = this.buffers;
    const pointer = this.receiveStage;
    if (isTypedArray(into)) this.buffers.copyOut(into, pointer, this.#resultBytes);
    else {
      const items = normalized({ ...into, count: this.resultCount });
      const { type, bytes, offset } = items;
      if (!this.reduction.inMemory) unpack({ bytes: memory.bytes, offset: pointer }, items);
      else if (this.resultCount > 0)
        bytes.set(memory.bytes.subarray(pointer, pointer + spanOf(type, this.resultCount)), offset);
    }
  }
}

/** May one stand for the other? Predefined ones when they compute alike, derived ones when they are as long. */
function isLike(a: Datatype, b: Datatype): boolean {
  return a === b || (a.size === b.size && a.elements[0]?.format === b.elements[0]?.format);
}

/** The last item's padding is not the program's. */
const spanOf = (type: Datatype, count: number): number => (count - 1) * type.extent + type.trueUb;

/** Where the elements come from, or of what kind they are. */
function sourceOf<T extends TypedArray>(input: OperandRoles["input"], { data, into }: Given<T>): BufferLike<T> {
  const sent = data === IN_PLACE || data === null ? undefined : data;
  const source = input === "sent" ? sent : (into ?? (input === null ? sent : undefined));
  if (source === undefined) {
    const why = input === "result" ? "IN_PLACE takes the elements of `into`" : "there is no array to say what elements";
    throw new MpiError(ErrorClass.BUFFER, `Cannot reduce: ${why}, and none is given`);
  }
  return source;
}

function typeOfBuffer(buffer: BufferLike): Datatype {
  if (isTypedArray(buffer)) return typeOf(buffer);
  if (typeof buffer !== "object" || buffer === null || !("type" in buffer)) {
    throw new MpiError(ErrorClass.BUFFER, "Cannot reduce: the buffer is no typed array, and no array with a datatype");
  }
  return buffer.type;
}

const local: ReductionCall = { kind: "allreduce" };

/** MPI_Reduce_local: inout = in ∘ inout, without any message (MPI 5.0 §6.9.7). */
export function reduceLocal(
  operations: Operations,
  buffers: Buffers,
  data: BufferLike,
  inout: BufferLike,
  op: OpLike,
): void {
  const left = new ReductionOperands(buffers, null, local, localRoles.left, { data, op, into: undefined });
  const right = new ReductionOperands(buffers, null, local, localRoles.right, { data: IN_PLACE, op, into: inout });
  const fits = left.count === right.count && left.reduction === right.reduction;
  if (fits) operations.combine(left.reduction, left.send, right.receive, right.receive, left.count);
  const status = new Status();
  left.finish(status);
  right.finish(status);
  if (fits) return;
  throw new MpiError(
    ErrorClass.COUNT,
    `Cannot reduce ${left.count} elements into ${right.count}: both arrays must have as many, of the same type`,
  );
}
