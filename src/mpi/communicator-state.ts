/** The name, error handler, attributes and info of a communicator (MPI 5.0 §7.7, §7.8, §9.3). */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { NamedCommunicator } from "../core/binding/checks.ts";
import type { AttributeSet } from "../core/comm/attributes.ts";
import { type ErrorHandling as CoreHandler, errorsReturn, userErrorHandler } from "../core/comm/error-handler.ts";
import { Info } from "../core/comm/info.ts";
import { unionOf } from "../core/process/communicators/member-order.ts";
import type { Environment } from "./environment.ts";
import type { Host } from "./host.ts";
import { Attributes, type KeyvalCallbacks } from "./keyvals.ts";

/** Called with the communicator and the error; when it returns, the call throws the error. */
export type ErrorFunction<C> = (communicator: C, error: MpiError) => void;
/** `mpi.ERRORS_RETURN` (the call throws), `mpi.ERRORS_ARE_FATAL`, `mpi.ERRORS_ABORT`, or a function. */
export type ErrorHandler<C> = CoreHandler<ErrorFunction<C>> | ErrorFunction<C>;

/** Hints: an info object, or a plain object of strings. */
export type InfoLike = Info | Readonly<Record<string, string>>;

/** A communicator begins with these. */
export interface StateOptions<C> {
  readonly name?: string;
  readonly errorHandler?: CoreHandler<ErrorFunction<C>>;
  readonly attributes?: AttributeSet<KeyvalCallbacks>;
  readonly info?: Info;
}

export const infoOf = (info: InfoLike): Info => (info instanceof Info ? Info.of(info) : Info.of(Object.entries(info)));

const nameCharsMax = 127;

export class CommunicatorState<C extends NamedCommunicator> {
  readonly attributes: Attributes<C>;
  info: Info;
  private readonly comm: C;
  private readonly host: Host;
  private currentName: string;
  private handler: CoreHandler<ErrorFunction<C>>;

  constructor({ host, keyvals }: Environment, comm: C, options: StateOptions<C>) {
    this.comm = comm;
    this.host = host;
    this.currentName = options.name ?? "";
    host.named?.(comm.core, this.currentName);
    this.handler = options.errorHandler ?? errorsReturn;
    this.info = options.info ?? new Info();
    this.attributes = new Attributes(comm, "communicator", keyvals, options.attributes);
  }

  get name(): string {
    return this.currentName;
  }

  rename(name: string): void {
    if (name.length > nameCharsMax) {
      const state = `the name has ${name.length} characters and may have ${nameCharsMax}`;
      throw new MpiError(ErrorClass.ARG, `Cannot name the communicator: ${state}`);
    }
    this.currentName = name;
    this.host.named?.(this.comm.core, name);
  }

  get label(): string {
    return this.currentName === "" ? `#${this.comm.core.context}` : `"${this.currentName}"`;
  }

  get errorHandler(): CoreHandler<ErrorFunction<C>> {
    return this.handler;
  }

  setErrorHandler(handler: ErrorHandler<C>): void {
    if (typeof handler === "function") this.handler = userErrorHandler("communicator", handler);
    else if (handler !== null && typeof handler === "object" && "kind" in handler) this.handler = handler;
    else throw new MpiError(ErrorClass.ERRHANDLER, "Cannot set the error handler: it is none; give a function");
  }

  /** Gives an error to the error handler. */
  handle(error: MpiError): void {
    const { handler } = this;
    if (handler.kind === "return") return;
    if (handler.kind === "user") handler.callback(this.comm, error);
    else {
      // The exit code is the error's where a process can have it.
      const code = error.code > 0 && error.code < 256 ? error.code : 1;
      const message = `${error.message} (${error.className}; errors of communicator ${this.label} are fatal)`;
      const isWorld = this.comm.core === this.host.process.world;
      const members = handler.kind === "abort" && !isWorld ? unionOf(this.comm.core).worldRanks() : [];
      this.host.abort(code, message, members);
    }
  }
}
