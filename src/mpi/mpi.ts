/** The object that programs import as `mpi`: the world they are in, the standard's names, and the calls that belong to no communicator. */
import { BitFlips } from "../core/base/bit-flips.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { MortalOperations } from "../core/binding/mortal-operations.ts";
import type { Operations } from "../core/binding/operations.ts";
import { ProcessOperations } from "../core/binding/process-operations.ts";
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import type { Op } from "../core/comm/op/op.ts";
import { dimsCreate } from "../core/comm/topology/dims-create.ts";
import { chosenTime } from "../core/ft/clock-choice.ts";
import { unfinishedObjects } from "../core/process/program-checkpoint.ts";
import { AgreementError } from "./agreement.ts";
import { type ArrayType, SharedArrays } from "./alloc.ts";
import type { BufferLike, TypedArray } from "./buffers.ts";
import { Communicator } from "./communicator.ts";
import { Datatypes } from "./datatypes.ts";
import { typeOf } from "./element-types.ts";
import { Environment } from "./environment.ts";
import { GeneralRequest, type GeneralRequestCallbacks } from "./general-request.ts";
import { Group } from "./group.ts";
import type { Host } from "./host.ts";
import { Info } from "./info.ts";
import type { Keyval, KeyvalCallbacks } from "./keyvals.ts";
import { Names } from "./names.ts";
import { bytesOfObject, objectOfBytes } from "./objects.ts";
import { createOp, freeOp, type OpFunction, type OpLike, type OpOptions } from "./operations.ts";
import { reduceLocal } from "./reduction-operands.ts";
import { PersistentRequest, Request } from "./request.ts";
import { parentsMet } from "./spawning.ts";
import { Status } from "./status.ts";

/** Obstacles to a checkpoint that are named. */
const namesMax = 3;

export class Mpi extends Names {
  /** All ranks of the job. */
  readonly world: Communicator;
  /** This rank alone. */
  readonly self: Communicator;
  /** Makes and packs datatypes. */
  readonly types: Datatypes;
  readonly #host: Host;
  readonly #environment: Environment;
  readonly #arrays: SharedArrays;
  #parent: Communicator | null = null;
  #isFinalized = false;

  constructor(host: Host, operations: Operations = new ProcessOperations(host)) {
    super();
    this.#host = host;
    const isMortal = (operations.simulatedDeath?.isDue ?? null) !== null;
    const own = isMortal ? new MortalOperations(operations, () => this.killMe()) : operations;
    const environment = new Environment(host, own, () => this.self);
    this.#environment = environment;
    this.#arrays = new SharedArrays(host.process.memory);
    this.world = new Communicator(environment, host.process.world, { name: "world" });
    this.self = new Communicator(environment, host.process.self, { name: "self" });
    this.types = new Datatypes(environment);
  }

  /** Those who spawned this process and the others of its world: an inter-communicator; null: nobody, or it was disconnected. */
  get parent(): Communicator | null {
    return this.#parent?.core.freed === false ? this.#parent : null;
  }

  // The environment

  /** Version of the standard. */
  readonly version = { major: 5, minor: 0 } as const;
  readonly libraryVersion = `Banyan ${__BANYAN_VERSION__}`;

  /** A rank is initialised before its program begins, and finalised when it ends. */
  get isInitialized(): boolean {
    return true;
  }

  get isFinalized(): boolean {
    return this.#isFinalized;
  }

  /** Name of the machine this rank runs on, the same for the whole job. */
  get processorName(): string {
    return this.#host.processorName;
  }

  /** Seconds since some moment in the past. */
  wtime(): number {
    const { clocks } = this.#environment.operations;
    return clocks === null ? this.#host.now() : chosenTime(clocks, this.#host);
  }

  /** Resolution of `wtime` in seconds. */
  wtick(): number {
    return 1e-9;
  }

  /** Ends the whole job with that exit code. */
  abort(code = 1, message = "the program called abort"): never {
    return this.#host.abort(code, message, []);
  }

  /**
   * Under `--fault-layer`: this process is dead to the program from now on (docs/fault-layer.md). Nothing behind this call is run; the process
   * itself lives on and serves the others until all end. So many milliseconds pass before anybody can hear of it.
   */
  killMe(detectionMs = 0): never {
    const { operations } = this.#environment;
    const { simulatedDeath } = operations;
    if (simulatedDeath === null) {
      return this.#environment.guard(() => {
        throw new MpiError(
          ErrorClass.UNSUPPORTED_OPERATION,
          "Cannot make this process dead to the program alone: the job has no fault layer; run it with --fault-layer",
        );
      });
    }
    for (const diesAt = this.wtime() + detectionMs / 1000; this.wtime() < diesAt; ) operations.look();
    simulatedDeath.die();
    operations.waitUntil(() => simulatedDeath.isOver);
    return this.#host.exit();
  }

  /** Flips every bit of an array with that probability, each for itself: how memory loses data silently. Gives the number of flips. */
  flipBits(array: TypedArray, probability: number): number {
    // Both 0 and 1 are excluded.
    const flips = new BitFlips(probability, () => Math.random() || Number.MIN_VALUE);
    flips.flip(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return flips.count;
  }

  /** Gives a value to the program that started the job with `launch`; rank 0's counts. */
  result(value: unknown): void {
    this.#environment.guard(() => this.#host.result(value));
  }

  /**
   * Takes a checkpoint: after a failure the program begins anew and `restored` gives `state` back. Collective among the ranks
   * that fall together, by default those of a node; nothing of the rank may be under way. Under a protocol that starts nothing
   * again it does nothing but look whether it could.
   */
  checkpoint(state: unknown): void {
    this.#environment.guard(() => this.#host.checkpoint(this.#checkpointBytes(state)));
  }

  #checkpointBytes(state: unknown): Uint8Array {
    const obstacles = unfinishedObjects(this.#host.process);
    if (this.#host.awaiting > 0) obstacles.push("an await, of a request or of standard input");
    if (obstacles.length === 0) return bytesOfObject("take a checkpoint", state);
    const what = `${obstacles.slice(0, namesMax).join(", ")}${obstacles.length > namesMax ? ", …" : ""}`;
    throw new MpiError(
      ErrorClass.PENDING,
      `Cannot take a checkpoint: there is still ${what}; end, wait for or free it first`,
    );
  }

  /** The state that was given to `checkpoint`, if the program was restarted from there: a new copy each time. */
  restored<T>(): T | undefined {
    const state = this.#host.restored();
    return state === null ? undefined : (objectOfBytes(state)!.value as T);
  }

  /** A spawned process is connected to its parents before its program begins. For the host of the program, not for the program. */
  meetParents(): void {
    const parents = parentsMet(this.#environment);
    if (parents !== null) this.#parent = new Communicator(this.#environment, parents, { name: "parent" });
  }

  /** The rank is ending: the first half of MPI_Finalize. For the host of the program, not for the program. */
  finalize(): void {
    if (this.#isFinalized) return;
    this.self.finalize();
    this.#isFinalized = true;
  }

  // Memory

  /** A typed array in the node's shared memory: large messages of it are copied once. */
  alloc<T>(type: ArrayType<T>, length: number): T {
    return this.#environment.guard(() => this.#arrays.alloc(type, length));
  }

  /** Ends an array made by `alloc`, and every view of it. */
  free(array: ArrayBufferView): void {
    this.#environment.guard(() => this.#arrays.free(array));
  }

  /** Bounds the bytes that buffered sends may have waiting; without it there is no bound. */
  attachBuffer(buffer: number | ArrayBufferView): void {
    const bytes = typeof buffer === "number" ? buffer : buffer.byteLength;
    this.#environment.guard(() => this.#environment.buffered.attach({ bytes }));
  }

  /** Waits until all buffered messages have left, and lifts the bound; gives its size. */
  detachBuffer(): number {
    this.flushBuffer();
    return this.#environment.buffered.detach()?.bytes ?? 0;
  }

  /** Waits until all buffered messages have left. */
  flushBuffer(): void {
    const { buffered, operations } = this.#environment;
    operations.waitUntil(() => buffered.isEmpty);
  }

  // Datatypes and operations

  /** The datatype of an array's elements. */
  typeOf(array: TypedArray): Datatype {
    return typeOf(array);
  }

  /** An operation of the program's: see `OpFunction`. */
  createOp<T extends ArrayBufferView = Float64Array>(call: OpFunction<T>, options?: OpOptions): Op {
    return createOp(call, options);
  }

  freeOp(op: Op): void {
    this.#environment.guard(() => freeOp(op));
  }

  /** inout = data ∘ inout, in this rank alone; gives `inout`. */
  reduceLocal<T extends BufferLike>(data: BufferLike, inout: T, op: OpLike): T {
    const { buffers, operations } = this.#environment;
    this.#environment.guard(() => reduceLocal(operations, buffers, data, inout, op));
    return inout;
  }

  // Groups, topologies, attributes, info

  get GROUP_EMPTY(): Group {
    return Group.empty(this.#environment);
  }

  /** Dimensions of a grid of that many ranks, as even as possible; those that are not 0 stay. */
  dimsCreate(ranks: number, dims: readonly number[]): number[] {
    return this.#environment.guard(() => dimsCreate(ranks, dims));
  }

  /** A key for attributes of communicators. */
  createKeyval(callbacks: KeyvalCallbacks<Communicator> = {}): Keyval {
    return this.#environment.keyvals.create("communicator", callbacks);
  }

  /** A key for attributes of datatypes. */
  createTypeKeyval(callbacks: KeyvalCallbacks<Datatype> = {}): Keyval {
    return this.#environment.keyvals.create("datatype", callbacks);
  }

  /** Nothing new can be set under the key; what is set stays. */
  freeKeyval(keyval: Keyval): void {
    this.#environment.guard(() => this.#environment.keyvals.free(keyval));
  }

  createInfo(entries: Readonly<Record<string, string>> = {}): Info {
    return new Info(this.#environment, Object.entries(entries));
  }

  // Errors

  /** What failed calls throw; a program's own callbacks may as well: `new mpi.MpiError(mpi.ERR.OTHER, "…")`. */
  readonly MpiError = MpiError;
  /** What `agree` throws when a member has died that not everybody has acknowledged; its `flags` are the answer all the same. */
  readonly AgreementError = AgreementError;

  addErrorClass(): number {
    return this.#environment.errorCodes.addClass();
  }

  addErrorCode(errorClass: number): number {
    return this.#environment.guard(() => this.#environment.errorCodes.addCode(errorClass));
  }

  addErrorString(code: number, text: string): void {
    this.#environment.guard(() => this.#environment.errorCodes.addString(code, text));
  }

  removeErrorClass(errorClass: number): void {
    this.#environment.guard(() => this.#environment.errorCodes.removeClass(errorClass));
  }

  removeErrorCode(code: number): void {
    this.#environment.guard(() => this.#environment.errorCodes.removeCode(code));
  }

  removeErrorString(code: number): void {
    this.#environment.guard(() => this.#environment.errorCodes.removeString(code));
  }

  errorClass(code: number): number {
    return this.#environment.guard(() => this.#environment.errorCodes.classOf(code));
  }

  errorString(code: number): string {
    return this.#environment.guard(() => this.#environment.errorCodes.stringOf(code));
  }

  // Requests

  /** For the calls that fill in a status: `recv({ status: new mpi.Status() })`. */
  readonly Status = Status;

  /** An operation of the program's own, waited for like any other; the program calls its `complete()` when the work is done. */
  startGeneralRequest(callbacks: GeneralRequestCallbacks = {}): GeneralRequest {
    return new GeneralRequest(this.#environment, this.self, callbacks);
  }

  readonly waitAll = Request.waitAll;
  readonly waitAny = Request.waitAny;
  readonly waitSome = Request.waitSome;
  readonly testAll = Request.testAll;
  readonly testAny = Request.testAny;
  readonly testSome = Request.testSome;
  readonly startAll = PersistentRequest.startAll;
}
