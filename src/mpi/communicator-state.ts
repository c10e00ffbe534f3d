/** What hangs on a communicator: its name, error handler, attributes and info (MPI 5.0 §7.7, §7.8, §9.3). */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { AttributeSet } from "../core/comm/attributes.ts";
import { errorClassName } from "../core/comm/error-codes.ts";
import { type ErrorHandler as CoreHandler, errorsReturn, userErrorHandler } from "../core/comm/error-handler.ts";
import { Info as CoreInfo } from "../core/comm/info.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import type { Communicator } from "./communicator.ts";
import type { Environment } from "./environment.ts";
import { Info } from "./info.ts";
import { Attributes, type Keyval, type KeyvalCallbacks } from "./keyvals.ts";
import { NeighborCollectives } from "./neighbor-collectives.ts";

/** Called with the communicator and the error; when it returns, the call throws the error. */
export type ErrorFunction = (communicator: Communicator, error: MpiError) => void;
/** `mpi.ERRORS_RETURN` (the call throws), `mpi.ERRORS_ARE_FATAL`, `mpi.ERRORS_ABORT`, or a function. */
export type ErrorHandler = CoreHandler<ErrorFunction> | ErrorFunction;

/** Hints: an info object, or a plain object of strings. */
export type InfoLike = CoreInfo | Readonly<Record<string, string>>;

export interface StateOptions {
  readonly name?: string;
  readonly errorHandler?: CoreHandler<ErrorFunction>;
  readonly attributes?: AttributeSet<KeyvalCallbacks>;
  readonly info?: CoreInfo;
}

export const infoOf = (info: InfoLike): CoreInfo =>
  info instanceof CoreInfo ? CoreInfo.of(info) : CoreInfo.of(Object.entries(info));

const nameCharsMax = 127;

export abstract class CommunicatorState extends NeighborCollectives {
  readonly #attributes: Attributes<Communicator>;
  #name: string;
  #errorHandler: CoreHandler<ErrorFunction>;
  #info: CoreInfo;

  constructor(environment: Environment, core: CoreCommunicator, options: StateOptions = {}) {
    super(environment, core);
    this.#name = options.name ?? "";
    this.#errorHandler = options.errorHandler ?? errorsReturn;
    this.#info = options.info ?? new CoreInfo();
    this.#attributes = new Attributes(asCommunicator(this), "communicator", environment.keyvals, options.attributes);
  }

  get name(): string {
    return this.#name;
  }

  set name(name: string) {
    if (name.length > nameCharsMax) {
      const message = `Cannot name the communicator: the name has ${name.length} characters and may have ${nameCharsMax}`;
      this.raise(new MpiError(ErrorClass.ARG, message));
    }
    this.#name = name;
  }

  override get label(): string {
    return this.#name === "" ? `#${this.core.context}` : `"${this.#name}"`;
  }

  // Errors

  /** What happens when a call on this communicator fails. Communicators made from it start with the same. */
  setErrorHandler(handler: ErrorHandler): void {
    if (typeof handler === "function") this.#errorHandler = userErrorHandler("communicator", handler);
    else if (handler !== null && typeof handler === "object" && "kind" in handler) this.#errorHandler = handler;
    else this.raise(new MpiError(ErrorClass.ERRHANDLER, "Cannot set the error handler: it is none; give a function"));
  }

  getErrorHandler(): ErrorHandler {
    return this.#errorHandler.kind === "user" ? this.#errorHandler.callback : this.#errorHandler;
  }

  protected get coreErrorHandler(): CoreHandler<ErrorFunction> {
    return this.#errorHandler;
  }

  /** Gives an error to the error handler, as a failed call would, but throws nothing. */
  callErrorHandler(error: MpiError | number): void {
    const { errorCodes } = this.environment;
    this.#handle(
      typeof error === "number"
        ? new MpiError(
            error,
            this.guard(() => errorCodes.stringOf(error)),
          )
        : error,
    );
  }

  override raise(error: MpiError): never {
    this.endTrace();
    this.#handle(error);
    throw error;
  }

  #handle(error: MpiError): void {
    const handler = this.#errorHandler;
    if (handler.kind === "return") return;
    if (handler.kind === "user") handler.callback(asCommunicator(this), error);
    else {
      // The exit code is the error's where a process can have it.
      const code = error.code > 0 && error.code < 256 ? error.code : 1;
      const errorClass = errorClassName(error.code);
      this.host.abort(code, `${error.message} (${errorClass}; errors of communicator ${this.label} are fatal)`);
    }
  }

  /** Runs `call`; the program's mistakes in it go to the error handler. */
  protected guard<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof MpiError) this.raise(error);
      throw error;
    }
  }

  // Attributes and info

  getAttribute(keyval: Keyval): unknown {
    return this.guard(() => this.#attributes.get(keyval));
  }

  setAttribute(keyval: Keyval, value: unknown): void {
    this.guard(() => this.#attributes.set(keyval, value));
  }

  deleteAttribute(keyval: Keyval): void {
    this.guard(() => this.#attributes.delete(keyval));
  }

  protected get attributes(): Attributes<Communicator> {
    return this.#attributes;
  }

  /** A copy of the hints in use. */
  getInfo(): Info {
    return new Info(this.environment, this.#info);
  }

  setInfo(info: InfoLike): void {
    this.#info = this.guard(() => infoOf(info));
  }
}

/** The last class of the chain is what programs know; there is no other. */
const asCommunicator = (state: CommunicatorState): Communicator => state as unknown as Communicator;
