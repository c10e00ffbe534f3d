/**
 * The common ground of start-movement.ts, start-objects.ts and start-reduction.ts. Each of their methods checks its arguments, starts a
 * collective and gives it as `Started`, of which the blocking, non-blocking and persistent forms are made (collectives.ts).
 */

import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkOpen, type NamedCommunicator } from "../core/binding/checks.ts";
import { settle } from "../core/binding/collective-side.ts";
import type { Movement, Mover, Moving } from "../core/binding/movement.ts";
import type { Operations } from "../core/binding/operations.ts";
import type { ItemsInMemory } from "../core/comm/datatype/pack.ts";
import type { CollectiveForm } from "../core/process/collective-form.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { type BufferLike, type Buffers, isTypedArray, isTypedBuffer } from "./buffers.ts";
import { type ArrayGround, countOf, IN_PLACE, type InPlace, packedBytesOf } from "./collective-sides.ts";
import type { Environment } from "./environment.ts";
import { type Owner, refuse } from "./owner.ts";
import type { AfterCompletion, Started } from "./request.ts";
import type { Status } from "./status.ts";

export abstract class CollectiveStart {
  protected readonly operations: Operations;
  protected readonly buffers: Buffers;
  protected readonly mover: Mover<ItemsInMemory>;
  protected readonly core: CoreCommunicator;
  readonly #ground: ArrayGround;
  readonly #owner: Owner;

  constructor({ operations, buffers, ground, mover }: Environment, owner: Owner) {
    this.operations = operations;
    this.buffers = buffers;
    this.mover = mover;
    this.#ground = ground;
    this.core = owner.core;
    this.#owner = owner;
  }

  /**
   * Runs `start`, which takes as many numbers of collectives as `numbers` says, or has one already; mistakes of the program in it go to the
   * error handler. A collective that is refused counts all the same: the other ranks may have called it.
   */
  protected attempt<T>(what: string, form: CollectiveForm, start: () => T, numbers = 1): T {
    const { core } = this;
    const next = core.nextNumber;
    let isOpen = false;
    try {
      checkOpen(this.#owner, what);
      isOpen = true;
      return start();
    } catch (error) {
      const isCounted = core.nextNumber !== next || typeof form === "number";
      if (isOpen && !isCounted && error instanceof MpiError) {
        for (let i = 0; i < numbers; i++) this.operations.refuse(core);
      }
      return refuse(this.#owner, error);
    }
  }

  /** The communicator, for checks. */
  protected get named(): NamedCommunicator {
    return this.#owner;
  }

  protected move<T>(movement: Movement<ItemsInMemory>, result: T, form: CollectiveForm): Started<T> {
    const moving = this.mover.begin(this.core, movement, form);
    return { record: moving.record, after: new Settle(this.#ground, moving, result) };
  }
}

/** A buffer that must be there. */
export function needed<T extends BufferLike>(what: string, buffer: T | InPlace | null | undefined): T {
  if (isTypedArray(buffer) || isTypedBuffer(buffer)) return buffer as T;
  const state = buffer === IN_PLACE ? "this rank has nothing in place" : "this rank needs an array";
  throw new MpiError(ErrorClass.BUFFER, `Cannot ${what}: ${state}; give a typed array, or one with a datatype`);
}

/** The bytes of each of `parts` equal parts of a buffer. */
export function share(what: string, buffer: BufferLike, parts: number): number {
  const count = countOf(buffer);
  if (parts > 0 && count % parts !== 0) {
    throw new MpiError(
      ErrorClass.COUNT,
      `Cannot ${what}: ${count} elements cannot be shared among ${parts} ranks; give a multiple of ${parts}`,
    );
  }
  return packedBytesOf(buffer) / Math.max(parts, 1);
}

export function checkRoom(what: string, buffer: BufferLike, bytes: number): void {
  const room = packedBytesOf(buffer);
  if (room >= bytes) return;
  throw new MpiError(ErrorClass.BUFFER, `Cannot ${what}: the array has ${room} bytes and needs ${bytes}`);
}

export function checkArraysApart(what: string, data: unknown, into: unknown): void {
  if (data !== into || data === IN_PLACE) return;
  throw new MpiError(
    ErrorClass.BUFFER,
    `Cannot ${what} into the array that is sent: they must not overlap; send mpi.IN_PLACE instead`,
  );
}

export function checkCounts(what: string, list: { readonly length: number } | undefined, wanted: number): void {
  if (list?.length === wanted) return;
  throw new MpiError(
    ErrorClass.COUNT,
    `Cannot ${what}: there are counts for ${list?.length ?? 0} ranks and must be for ${wanted}`,
  );
}

/** The work that is left after a collective that moves data. */
class Settle<T> implements AfterCompletion<T> {
  readonly #ground: ArrayGround;
  readonly #moving: Moving<ItemsInMemory>;
  readonly #result: T;

  constructor(ground: ArrayGround, moving: Moving<ItemsInMemory>, result: T) {
    this.#ground = ground;
    this.#moving = moving;
    this.#result = result;
  }

  finish({ error }: Status): T {
    settle(this.#ground, this.#moving.sent, this.#moving.received, error);
    return this.#result;
  }
}
