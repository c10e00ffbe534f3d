/** What programs import as `mpi`: the world they are in, the standard's names, and the calls that belong to no communicator. */
import { ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, TAG_UB, UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { type ArrayType, allocateArray, freeArray } from "./alloc.ts";
import { Buffers } from "./buffers.ts";
import { Communicator } from "./communicator.ts";
import type { Host } from "./host.ts";
import { PersistentRequest, Request } from "./request.ts";

export class Mpi {
  readonly ANY_SOURCE = ANY_SOURCE;
  readonly ANY_TAG = ANY_TAG;
  readonly PROC_NULL = PROC_NULL;
  readonly ROOT = ROOT;
  readonly UNDEFINED = UNDEFINED;
  readonly TAG_UB = TAG_UB;
  readonly ERR = ErrorClass;

  /** All ranks of the job. */
  readonly world: Communicator;
  /** This rank alone. */
  readonly self: Communicator;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    const buffers = new Buffers(host.process.memory);
    this.world = new Communicator(host, buffers, host.process.world, "world");
    this.self = new Communicator(host, buffers, host.process.self, "self");
  }

  /** Name of the machine this rank runs on, the same for the whole job. */
  get processorName(): string {
    return this.#host.processorName;
  }

  /** Seconds since some moment in the past. */
  wtime(): number {
    return this.#host.now();
  }

  /** Resolution of `wtime` in seconds. */
  wtick(): number {
    return 1e-9;
  }

  /** A typed array in the node's shared memory: large messages of it are copied once. */
  alloc<T>(type: ArrayType<T>, length: number): T {
    return allocateArray(this.#host.process.memory, type, length);
  }

  /** Ends an array made by `alloc`, and every view of it. */
  free(array: ArrayBufferView): void {
    freeArray(this.#host.process.memory, array);
  }

  /** Ends the whole job with that exit code. */
  abort(code = 1, message = "the program called abort"): never {
    return this.#host.abort(code, message);
  }

  /** Gives a value to whoever started the job with `launch`; rank 0's counts. */
  result(value: unknown): void {
    this.#host.result(value);
  }

  readonly waitAll = Request.waitAll;
  readonly waitAny = Request.waitAny;
  readonly waitSome = Request.waitSome;
  readonly testAll = Request.testAll;
  readonly testAny = Request.testAny;
  readonly testSome = Request.testSome;
  readonly startAll = PersistentRequest.startAll;
}
