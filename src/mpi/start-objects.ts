/**
 * Starts of the collectives that also take objects: an array goes the way of start-movement.ts, any other value travels by
 * structured clone (core/binding/object-collective.ts).
 */

import { PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { isRoot } from "../core/binding/checks.ts";
import { ObjectCollective, type ObjectKind } from "../core/binding/object-collective.ts";
import type { CollectiveForm } from "../core/process/collective-form.ts";
import { type BufferLike, isTypedArray, isTypedBuffer, type TypedArray } from "./buffers.ts";
import { IN_PLACE } from "./collective-sides.ts";
import { checkCounts } from "./collective-start.ts";
import { bytesOfObject, objectOfBytes } from "./objects.ts";
import type { AfterCompletion, Started } from "./request.ts";
import { type Sent, StartMovement } from "./start-movement.ts";
import type { Status } from "./status.ts";

/** Numbers of collectives that one of objects takes: for their lengths, and for them. */
const objectNumbers = 2;

/** Does a value travel as bytes? Otherwise it is an object. */
export const isBuffer = (value: unknown): value is BufferLike => isTypedArray(value) || isTypedBuffer(value);

export class StartObjects extends StartMovement {
  bcastValue(data: unknown, root: number, form: CollectiveForm = "nonblocking"): Started<unknown> {
    if (isBuffer(data)) return this.bcast(data, root, form);
    const values = this.#isRoot(root) ? [data] : [];
    return this.#objects("bcast", root, values, ([value]) => (root === PROC_NULL ? null : value));
  }

  gatherValue(
    data: unknown,
    root: number,
    into: BufferLike | undefined,
    form: CollectiveForm = "nonblocking",
  ): Started<unknown> {
    if (isBuffer(data) || data === IN_PLACE || into !== undefined)
      return this.gather(data as Sent<TypedArray>, root, into, form);
    const values = this.core.isInter && root < 0 ? [] : [data];
    return this.#objects("gather", root, values, (received) => (this.#isRoot(root) ? received : null));
  }

  scatterValue(data: unknown, root: number, into: Sent<TypedArray> | undefined): Started<unknown> {
    if (into !== undefined || isBuffer(data)) return this.scatter(data as BufferLike | null, root, into);
    const values = this.#isRoot(root) ? listOf(data) : [];
    return this.#objects("scatter", root, values, ([value]) => value ?? null);
  }

  allgatherValue(data: unknown, into: BufferLike | undefined, form: CollectiveForm = "nonblocking"): Started<unknown> {
    if (isBuffer(data) || data === IN_PLACE) return this.allgather(data, into, form);
    return this.#objects("allgather", 0, [data], (received) => received);
  }

  alltoallValue(data: unknown, into: BufferLike | undefined): Started<unknown> {
    if (isBuffer(data) || data === IN_PLACE) return this.alltoall(data, into);
    return this.#objects("alltoall", 0, listOf(data), (received) => received);
  }

  #isRoot(root: number): boolean {
    return this.attempt(
      "start the collective",
      "nonblocking",
      () => isRoot(this.named, "start the collective", root),
      objectNumbers,
    );
  }

  /** `pick` makes the result of what has arrived, by rank. */
  #objects<R>(
    kind: ObjectKind,
    root: number,
    values: readonly unknown[],
    pick: (received: unknown[]) => R,
  ): Started<R> {
    return this.attempt(
      kind === "bcast" ? "broadcast" : kind,
      "nonblocking",
      () => {
        if (kind === "alltoall" || (kind === "scatter" && isRoot(this.named, kind, root)))
          checkCounts(kind, values, this.core.peers.size);
        const messages = values.map((value) => bytesOfObject(`${kind} the object`, value));
        const task = new ObjectCollective(kind, this.core, root, messages);
        return { record: this.operations.startTask(task), after: new ReadObjects(task, pick) };
      },
      objectNumbers,
    );
  }
}

/** The work that is left after a collective of objects. */
class ReadObjects<R> implements AfterCompletion<R> {
  mistake: MpiError | null = null;
  readonly #task: ObjectCollective;
  readonly #pick: (received: unknown[]) => R;

  constructor(task: ObjectCollective, pick: (received: unknown[]) => R) {
    this.#task = task;
    this.#pick = pick;
  }

  finish({ error }: Status): R | undefined {
    this.mistake = this.#task.mistake;
    if (error !== 0) return undefined;
    const objects = this.#task.received.map((bytes) => objectOfBytes(bytes));
    if (objects.every((object) => object !== undefined)) return this.#pick(objects.map(({ value }) => value));
    this.mistake = new MpiError(
      ErrorClass.TYPE,
      "Cannot read the objects: another rank gave an array; give objects on all ranks, or arrays on all",
    );
    return undefined;
  }
}

const listOf = (values: unknown): readonly unknown[] => (Array.isArray(values) ? values : []);
