/**
 * The shortest way of the two collectives that programs call in their innermost loops, barrier and a small allreduce, inside
 * a node: the same rounds on the communicator's board as core/process/board-operations.ts, without a request, for plain typed
 * arrays. A rank that comes the long way and one that comes here meet in the same round.
 */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Operations } from "../core/binding/operations.ts";
import { predefinedTypes } from "../core/comm/datatype/datatype-predefined.ts";
import type { Views } from "../core/comm/datatype/views.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { type Reduction, reductionFor } from "../core/process/reduction.ts";
import type { Environment } from "./environment.ts";
import type { Host } from "./host.ts";
import { type OpLike, opOf } from "./operations.ts";

/** Copies of longer arrays are not made item by item. */
const bytesMax = 1024;

export class BoardPath {
  readonly #host: Host;
  readonly #operations: Operations;
  readonly #core: Communicator;
  readonly #views: Views;
  /** What the last call combined with: loops ask for the same. */
  #op: OpLike | null = null;
  #isDouble = false;
  #reduction: Reduction | null = null;

  constructor({ host, operations, buffers }: Environment, core: Communicator) {
    this.#host = host;
    this.#operations = operations;
    this.#core = core;
    this.#views = buffers.views;
  }

  /** False: it must go the long way. */
  barrier(): boolean {
    const { board } = this.#core;
    if (board === null || !this.#operations.hasShortWay) return false;
    if (!this.#operations.meet(this.#core, null, 0)) this.#host.waitForGate(this.#core);
    board.next();
    return true;
  }

  /** False: it must go the long way. The result is in `into`, which may be `data`. */
  allreduce(data: Float64Array | Int32Array, op: OpLike, into: Float64Array | Int32Array): boolean {
    const core = this.#core;
    const { board } = core;
    const isDouble = data instanceof Float64Array;
    const shift = isDouble ? 3 : 2;
    const { length } = data;
    if (board === null || !this.#operations.hasShortWay) return false;
    if (length > Math.min(bytesMax, board.bytesMax) >> shift || length === 0) return false;
    if (op !== this.#op || isDouble !== this.#isDouble || typeof op !== "string") this.#prepare(op, isDouble);
    const memory: Float64Array | Int32Array = isDouble ? this.#views.float64 : this.#views.int32;
    const bytes = length << shift;
    board.putLength(core.rank, bytes);
    const part = board.part(core.rank) >> shift;
    for (let i = 0; i < length; i++) memory[part + i] = data[i]!;
    if (!this.#operations.meet(core, this.#reduction, bytes)) this.#host.waitForGate(core);
    const isAgreed = board.lengthOf(0) === bytes;
    const result = board.part(0) >> shift;
    if (isAgreed) for (let i = 0; i < length; i++) into[i] = memory[result + i]!;
    board.next();
    if (isAgreed) return true;
    throw new MpiError(ErrorClass.TRUNCATE, "Cannot allreduce: another rank gave an array of another length");
  }

  #prepare(op: OpLike, isDouble: boolean): void {
    this.#reduction = reductionFor(opOf(op), isDouble ? predefinedTypes.DOUBLE : predefinedTypes.INT32_T);
    this.#op = op;
    this.#isDouble = isDouble;
  }
}
