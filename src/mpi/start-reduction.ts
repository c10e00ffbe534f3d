/** Starts of reductions (MPI 5.0 §6.9 to §6.11). Which operands a rank has is decided in core/binding/reduction-arguments.ts. */

import type { Pointer } from "../core/base/brand.ts";
import { beginReduction, operandRoles, type ReductionCall } from "../core/binding/reduction-arguments.ts";
import type { CollectiveForm } from "../core/process/collective-form.ts";
import type { BufferLike, TypedArray } from "./buffers.ts";
import { IN_PLACE } from "./collective-sides.ts";
import { CollectiveStart, checkCounts } from "./collective-start.ts";
import type { OpLike } from "./operations.ts";
import { ReductionOperands } from "./reduction-operands.ts";
import type { Started } from "./request.ts";
import type { Sent } from "./start-movement.ts";

const nowhere = 0 as Pointer;

export interface Reduce<T extends TypedArray> {
  readonly data: Sent<T> | null;
  readonly op: OpLike;
  readonly into: BufferLike<T> | undefined;
}

const allreduce: ReductionCall = { kind: "allreduce" };
const reduceScatterBlock: ReductionCall = { kind: "reduce_scatter_block" };
const scan: ReductionCall = { kind: "scan" };
const exscan: ReductionCall = { kind: "exscan" };

export class StartReduction extends CollectiveStart {
  reduce<T extends TypedArray>(
    buffers: Reduce<T>,
    root: number,
    form: CollectiveForm = "nonblocking",
  ): Started<T | null> {
    return this.attempt("reduce", form, () => this.#start({ kind: "reduce", root }, buffers, form));
  }

  allreduce<T extends TypedArray>(buffers: Reduce<T>, form: CollectiveForm = "nonblocking"): Started<T> {
    return this.attempt("reduce", form, () => this.#start(allreduce, buffers, form)) as Started<T>;
  }

  /** `counts`: how many elements of the result each rank gets. */
  reduceScatter<T extends TypedArray>(
    buffers: Reduce<T>,
    counts: readonly number[] | Int32Array,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    return this.attempt("reduce", form, () => {
      checkCounts("reduce", counts, this.core.size);
      return this.#start({ kind: "reduce_scatter", counts: Array.from(counts) }, buffers, form);
    }) as Started<T>;
  }

  reduceScatterBlock<T extends TypedArray>(buffers: Reduce<T>, form: CollectiveForm = "nonblocking"): Started<T> {
    return this.attempt("reduce", form, () => this.#start(reduceScatterBlock, buffers, form)) as Started<T>;
  }

  scan<T extends TypedArray>(buffers: Reduce<T>, form: CollectiveForm = "nonblocking"): Started<T> {
    return this.attempt("scan", form, () => this.#start(scan, buffers, form)) as Started<T>;
  }

  /** Rank 0 has no rank before it, and gets null. */
  exscan<T extends TypedArray>(buffers: Reduce<T>, form: CollectiveForm = "nonblocking"): Started<T | null> {
    return this.attempt("exscan", form, () => this.#start(exscan, buffers, form));
  }

  #start<T extends TypedArray>(call: ReductionCall, buffers: Reduce<T>, form: CollectiveForm): Started<T | null> {
    const { core, operations } = this;
    const roles = operandRoles(this.named, call, buffers.data === IN_PLACE);
    if (roles.input === null && !roles.hasResult) return this.#idle(call, form);
    const operands = new ReductionOperands(this.buffers, core, call, roles, buffers);
    operands.record = beginReduction(operations, core, call, operands, form);
    return operands;
  }

  /** This rank has no array, hence neither elements nor their kind. */
  #idle(call: ReductionCall, form: CollectiveForm): Started<null> {
    const root = call.kind === "reduce" ? call.root : 0;
    const collective = { kind: "reduce", ...this.core.place, root, bytes: 0, elementBytes: 1 } as const;
    const record = this.operations.startBlocks(this.core, collective, nowhere, nowhere, null, form);
    return { record, after: { finish: () => null } };
  }
}
