/** Starts of reductions (MPI 5.0 §6.9 to §6.11). */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkInPlace, checkScan, isRoot } from "../core/binding/checks.ts";
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

export class StartReduction extends CollectiveStart {
  reduce<T extends TypedArray>(call: Reduce<T>, root: number, tag?: number): Started<T | null> {
    return this.attempt(
      "reduce",
      () => {
        const atRoot = isRoot(this.named, "reduce", root);
        const { isInter } = this.core;
        if (isInter && root < 0) return this.#interRoot(call, root, atRoot, tag);
        if (call.data === IN_PLACE && !atRoot) {
          throw new MpiError(
            ErrorClass.BUFFER,
            "Cannot reduce in place: only the root may, this rank must send an array",
          );
        }
        const operands = this.#operands(call, { wantsResult: atRoot });
        const { bytes, inPlace } = operands;
        return this.#start(operands, "reduce", { bytes, root, inPlace, tag });
      },
      tag,
    );
  }

  /** The root's group of an inter-communicator contributes nothing, and only the root gets anything. */
  #interRoot<T extends TypedArray>(call: Reduce<T>, root: number, atRoot: boolean, tag?: number): Started<T | null> {
    const into = call.into ?? (call.data === IN_PLACE || call.data === null ? undefined : call.data);
    if (atRoot) {
      const operands = this.#operands({ ...call, data: null, into }, { wantsResult: true });
      return this.#start(operands, "reduce", { bytes: operands.bytes, root, tag });
    }
    const idle = { kind: "reduce", ...this.core.place, root, bytes: 0, elementBytes: 1 } as const;
    const record = this.operations.startBlocks(this.core, idle, nowhere, nowhere, null, tag);
    return { record, after: { finish: () => null } };
  }

  allreduce<T extends TypedArray>(call: Reduce<T>, tag?: number): Started<T> {
    return this.attempt(
      "reduce",
      () => {
        const operands = this.#operands(call, { wantsResult: true });
        const { bytes, inPlace } = operands;
        return this.#start(operands, "allreduce", { bytes, inPlace, tag }) as Started<T>;
      },
      tag,
    );
  }

  /** `counts`: how many elements of the result each rank gets. */
  reduceScatter<T extends TypedArray>(
    call: Reduce<T>,
    counts: readonly number[] | Int32Array,
    tag?: number,
  ): Started<T> {
    return this.attempt(
      "reduce",
      () => {
        checkCounts("reduce", counts, this.core.size);
        const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
        const resultCount = (count: number): number => {
          if (count === total) return counts[this.core.rank]!;
          throw new MpiError(
            ErrorClass.COUNT,
            `Cannot share ${count} elements among the ranks: their counts add up to ${total} and must be as many`,
          );
        };
        const operands = this.#operands(call, { wantsResult: true, resultCount });
        const { reduction, inPlace, send, receive } = operands;
        const { elementBytes } = reduction;
        const segments = Array.from(counts, (count) => count * elementBytes);
        const collective = { kind: "reduce_scatter", ...this.core.place, segments, elementBytes, inPlace } as const;
        operands.record = this.operations.startBlocks(this.core, collective, send, receive, reduction, tag);
        return operands as Started<T | null> as Started<T>;
      },
      tag,
    );
  }

  reduceScatterBlock<T extends TypedArray>(call: Reduce<T>, tag?: number): Started<T> {
    return this.attempt(
      "reduce",
      () => {
        const { size } = this.core;
        const resultCount = (count: number): number => {
          if (count % size === 0) return count / size;
          throw new MpiError(
            ErrorClass.COUNT,
            `Cannot share ${count} elements among ${size} ranks: give a multiple of ${size}`,
          );
        };
        const operands = this.#operands(call, { wantsResult: true, resultCount });
        const { bytes, inPlace } = operands;
        return this.#start(operands, "reduce_scatter_block", { bytes: bytes / size, inPlace, tag }) as Started<T>;
      },
      tag,
    );
  }

  scan<T extends TypedArray>(call: Reduce<T>, tag?: number): Started<T> {
    return this.#scan("scan", call, tag) as Started<T>;
  }

  /** Rank 0 has no rank before it, and gets null. */
  exscan<T extends TypedArray>(call: Reduce<T>, tag?: number): Started<T | null> {
    return this.#scan("exscan", call, tag);
  }

  #scan<T extends TypedArray>(kind: "scan" | "exscan", call: Reduce<T>, tag?: number): Started<T | null> {
    return this.attempt(
      kind,
      () => {
        checkScan(this.named, kind);
        const isFirst = kind === "exscan" && this.core.rank === 0;
        const data = isFirst && call.data === IN_PLACE ? (call.into ?? null) : call.data;
        const operands = this.#operands({ ...call, data }, { wantsResult: !isFirst });
        const { bytes, inPlace } = operands;
        return this.#start(operands, kind, { bytes, inPlace, tag });
      },
      tag,
    );
  }

  #operands<T extends TypedArray>(
    call: Reduce<T>,
    how: { wantsResult: boolean; resultCount?: (count: number) => number },
  ): ReductionOperands<T> {
    if (call.data === IN_PLACE) checkInPlace(this.named, "reduce");
    const { data, op, into } = call;
    const { wantsResult, resultCount } = how;
    const mayRunInPlace = !this.core.isInter;
    return new ReductionOperands(this.buffers, { data, op, into, wantsResult, resultCount, mayRunInPlace });
  }

  #start<T extends TypedArray>(
    operands: ReductionOperands<T>,
    kind: "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan",
    call: { bytes: number; root?: number; inPlace?: boolean; tag: number | undefined },
  ): Started<T | null> {
    const { send, receive, reduction } = operands;
    operands.record = this.operations.startReduction(this.core, kind, send, receive, call, reduction);
    return operands;
  }
}
