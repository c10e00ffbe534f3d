/**
 * Keyvals and attributes (MPI 5.0 §7.7) as programs see them: values of any kind under keys made by `mpi.createKeyval`, with
 * functions that are called when the object is duplicated and when the value goes.
 */
import { TAG_UB } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import {
  type Attribute,
  AttributeSet,
  type CopyOutcome,
  type AttributeKey as CoreKeyval,
  type DeleteOutcome,
  type Failure,
  Keyvals,
} from "../core/comm/attributes.ts";
import type { ErrorCodes } from "../core/comm/error-codes.ts";
import type { Host } from "./host.ts";

export interface KeyvalCallbacks<Owner = unknown> {
  /**
   * The value for a duplicate; undefined: it gets none. "dup" copies the value as it is. Without it values are not copied.
   * An MpiError thrown here makes the duplication fail.
   */
  readonly copy?: ((from: Owner, value: unknown) => unknown) | "dup";
  /** Called when the attribute is deleted or replaced, and when the object goes. */
  readonly delete?: (from: Owner, value: unknown) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: the owner's type is that of the keyval's maker
export type Keyval = CoreKeyval<KeyvalCallbacks<any>>;
type Callbacks = Keyval["callbacks"];

function predefined(number: number): Keyval {
  return { number, owner: "communicator", callbacks: {} };
}

/** The standard's own keys; their numbers are those of the ABI. */
export const predefinedKeyvals = {
  TAG_UB: predefined(501),
  IO: predefined(502),
  HOST: predefined(503),
  WTIME_IS_GLOBAL: predefined(504),
  APPNUM: predefined(505),
  LASTUSEDCODE: predefined(506),
  UNIVERSE_SIZE: predefined(507),
  /** Does the job go on when ranks are lost? */
  FT: predefined(590),
} as const;

/** The keyvals of one rank. */
export class KeyvalTable {
  readonly #keyvals = new Keyvals<Callbacks>();
  readonly #host: Pick<Host, "spawner" | "survivesDeaths">;
  readonly #errorCodes: ErrorCodes;

  constructor(host: Pick<Host, "spawner" | "survivesDeaths">, errorCodes: ErrorCodes) {
    this.#host = host;
    this.#errorCodes = errorCodes;
  }

  create(owner: "communicator" | "datatype", callbacks: Callbacks): Keyval {
    return this.#keyvals.create(owner, callbacks);
  }

  free(keyval: Keyval): void {
    this.#keyvals.free(keyval.number, keyval.owner);
  }

  /** The keyval, if the program may use it on such an object. */
  check(keyval: Keyval, owner: "communicator" | "datatype"): Keyval {
    return this.#keyvals.find(keyval.number, owner);
  }

  /** The value of one of the standard's keys; undefined for all others. */
  valueOf(keyval: Keyval): unknown {
    switch (keyval) {
      case predefinedKeyvals.TAG_UB:
        return TAG_UB;
      case predefinedKeyvals.WTIME_IS_GLOBAL:
        return false;
      case predefinedKeyvals.LASTUSEDCODE:
        return this.#errorCodes.lastUsed;
      case predefinedKeyvals.UNIVERSE_SIZE:
        return this.#host.spawner.universe;
      case predefinedKeyvals.APPNUM:
        return this.#host.spawner.origin?.command ?? 0;
      case predefinedKeyvals.FT:
        return this.#host.survivesDeaths;
      default:
        return undefined;
    }
  }
}

/** The attributes of one object of the program's. */
export class Attributes<Owner> {
  readonly #owner: Owner;
  readonly #kind: "communicator" | "datatype";
  readonly #table: KeyvalTable;
  readonly #set: AttributeSet<Callbacks>;

  constructor(
    owner: Owner,
    kind: "communicator" | "datatype",
    table: KeyvalTable,
    set: AttributeSet<Callbacks> = new AttributeSet(),
  ) {
    this.#owner = owner;
    this.#kind = kind;
    this.#table = table;
    this.#set = set;
  }

  get(keyval: Keyval): unknown {
    if (isPredefined(keyval)) return this.#table.valueOf(keyval);
    return this.#set.get(this.#table.check(keyval, this.#kind))?.value;
  }

  set(keyval: Keyval, value: unknown): void {
    refusePredefined("set", keyval);
    throwFailure(this.#set.set(this.#table.check(keyval, this.#kind), value, (each) => this.#delete(each)));
  }

  delete(keyval: Keyval): void {
    refusePredefined("delete", keyval);
    throwFailure(this.#set.delete(this.#table.check(keyval, this.#kind), (each) => this.#delete(each)));
  }

  /** The object is going. */
  clear(): void {
    throwFailure(this.#set.clear((each) => this.#delete(each)));
  }

  /** What a duplicate gets. */
  dup(): AttributeSet<Callbacks> {
    const copy = this.#set.dup(
      (each) => this.#copy(each),
      (each) => this.#delete(each),
    );
    if (!(copy instanceof AttributeSet)) throw failed(copy);
    return copy;
  }

  #copy({ keyval, value }: Attribute<Callbacks>): CopyOutcome {
    const { copy } = keyval.callbacks;
    if (copy === undefined) return { kind: "drop" };
    if (copy === "dup") return { kind: "keep", value };
    return caught<CopyOutcome>(() => {
      const copied: unknown = copy(this.#owner, value);
      return copied === undefined ? { kind: "drop" } : { kind: "keep", value: copied };
    });
  }

  #delete({ keyval, value }: Attribute<Callbacks>): DeleteOutcome {
    return caught<DeleteOutcome>(() => {
      keyval.callbacks.delete?.(this.#owner, value);
      return { kind: "done" };
    });
  }
}

/** An MpiError of a callback is its error code; anything else it throws is the program's own affair. */
function caught<T>(call: () => T): T | Failure {
  try {
    return call();
  } catch (error) {
    if (error instanceof MpiError) return { kind: "error", code: error.code };
    throw error;
  }
}

const isPredefined = (keyval: Keyval): boolean => keyval.number < 0x1000;

function refusePredefined(verb: string, keyval: Keyval): void {
  if (isPredefined(keyval))
    throw new MpiError(ErrorClass.KEYVAL, `Cannot ${verb} the attribute: its keyval is predefined`);
}

function throwFailure(outcome: DeleteOutcome): void {
  if (outcome.kind === "error") throw failed(outcome);
}

const failed = ({ code }: Failure): MpiError =>
  new MpiError(code, `Cannot go on with the attributes: a callback of the program gave error ${code}`);
