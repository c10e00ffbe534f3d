/**
 * Handles of one kind (communicators, datatypes, …): the numbers by which a C program knows our objects. Predefined ones are
 * the ABI's, below 0x1000; others carry their kind in the upper bits, so that a handle of the wrong kind is recognised.
 */
import { MpiError } from "../../core/base/mpi-error.ts";
import { lives } from "../../core/base/saved-classes.ts";
import { lightRequestsMax } from "../../core/p2p/light-requests.ts";

const predefinedMax = 0x1000;
const kindShift = 24;
const indexMask = (1 << kindShift) - 1;

/** Each kind's number, in the upper bits of its handles. */
export const Kind = {
  COMMUNICATOR: 1,
  GROUP: 2,
  DATATYPE: 3,
  OPERATION: 4,
  REQUEST: 5,
  ERROR_HANDLER: 6,
  INFO: 7,
  MESSAGE: 8,
  WINDOW: 9,
  FILE: 10,
  SESSION: 11,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/**
 * Requests that a data plane begins (core/p2p/light-requests.ts) have the first numbers of their kind, whether there is a plane or not: an image
 * may come from a process that had one.
 */
const reservedOf = (kind: Kind): number => (kind === Kind.REQUEST ? lightRequestsMax : 0);

export const handleOf = (kind: Kind, index: number): number => (kind << kindShift) | index;

interface HandlesOptions {
  readonly kind: Kind;
  /** What messages to people call one of them. */
  readonly name: string;
  /** The class of the error for a handle that is none. */
  readonly errorClass: number;
}

export class Handles<T> {
  private readonly options: HandlesOptions;
  private readonly predefined: (T | undefined)[] = [];
  private readonly made: (T | undefined)[] = [];
  private readonly free: number[] = [];

  constructor(options: HandlesOptions) {
    this.options = options;
  }

  predefine(handle: number, object: T): void {
    // Without gaps: V8 looks things up in an array with few elements far apart as in a table.
    while (this.predefined.length <= handle) this.predefined.push(undefined);
    this.predefined[handle] = object;
  }

  /** Undefined for a handle that is none. */
  find(handle: number): T | undefined {
    if (handle >>> 0 < predefinedMax) return this.predefined[handle];
    return handle >>> kindShift === this.options.kind ? this.made[handle & indexMask] : undefined;
  }

  get(handle: number): T {
    return this.find(handle) ?? this.refuse(handle);
  }

  add(object: T): number {
    const { made, free } = this;
    const reserved = reservedOf(this.options.kind);
    while (made.length < reserved) made.push(undefined);
    // Processes of earlier versions reserved nothing, and their images tell it.
    while (free.length > 0 && free[free.length - 1]! < reserved) free.pop();
    const index = free.pop() ?? made.length;
    made[index] = object;
    return handleOf(this.options.kind, index);
  }

  /** The object has a handle already, one of those that are reserved. */
  put(handle: number, object: T): void {
    const index = handle & indexMask;
    while (this.made.length <= index) this.made.push(undefined);
    this.made[index] = object;
  }

  remove(handle: number): void {
    const index = handle & indexMask;
    this.made[index] = undefined;
    if (index >= reservedOf(this.options.kind)) this.free.push(index);
  }

  /** Those that the program made and has not freed. */
  list(): T[] {
    return this.made.filter((object) => object !== undefined);
  }

  private refuse(handle: number): never {
    const { name, errorClass } = this.options;
    const kind = Object.entries(Kind).find(([, number]) => number === handle >>> kindShift)?.[0];
    const isOther = kind !== undefined && handle >>> kindShift !== this.options.kind && handle >>> 0 >= predefinedMax;
    const state = isOther
      ? `that is a handle of another kind (${kind.toLowerCase().replace("_", " ")})`
      : `there is no ${name} with that handle (never made, or freed)`;
    throw new MpiError(errorClass, `Cannot use ${name} 0x${(handle >>> 0).toString(16)}: ${state}`);
  }
}

lives({ Handles });
