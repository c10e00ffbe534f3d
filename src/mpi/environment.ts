/** The common state of all communicators of a rank: the world they run in, and the tables of the program's own keyvals and codes. */

import type { MpiError } from "../core/base/mpi-error.ts";
import { BufferedSends } from "../core/binding/buffered-sends.ts";
import { Mover } from "../core/binding/movement.ts";
import type { Operations } from "../core/binding/operations.ts";
import type { ItemsInMemory } from "../core/comm/datatype/pack.ts";
import { ErrorCodes } from "../core/comm/error-codes.ts";
import { Buffers } from "./buffers.ts";
import { ArrayGround } from "./collective-sides.ts";
import type { Host } from "./host.ts";
import { KeyvalTable } from "./keyvals.ts";
import { type ErrorOwner, guarded } from "./owner.ts";

export class Environment {
  readonly host: Host;
  /** The only way to the process. */
  readonly operations: Operations;
  readonly buffers: Buffers;
  readonly ground: ArrayGround;
  readonly mover: Mover<ItemsInMemory>;
  readonly buffered = new BufferedSends();
  readonly errorCodes = new ErrorCodes();
  readonly keyvals: KeyvalTable;
  /** The communicator whose handler gets errors that concern no communicator: `self` (MPI 5.0 §9.3). */
  readonly #self: () => ErrorOwner;

  constructor(host: Host, operations: Operations, self: () => ErrorOwner) {
    this.host = host;
    this.operations = operations;
    this.buffers = new Buffers(host.process.memory);
    this.ground = new ArrayGround(this.buffers);
    this.mover = new Mover(operations, this.ground);
    this.keyvals = new KeyvalTable(host, this.errorCodes);
    this.#self = self;
  }

  raise(error: MpiError): never {
    return this.#self().raise(error);
  }

  /** Runs `call`; mistakes of the program in it go to the error handler. */
  guard<T>(call: () => T): T {
    return guarded(this, call);
  }
}
