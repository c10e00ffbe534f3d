/**
 * Handles of one kind (communicators, datatypes, …): the numbers by which a C program knows our objects. Predefined ones are
 * the ABI's, below 0x1000; others carry their kind in the upper bits, so that a handle of the wrong kind is recognised.
 */
import { MpiError } from "../../core/base/mpi-error.ts";
import { lives } from "../../core/base/saved-classes.ts";

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
    const index = this.free.pop() ?? this.made.length;
    this.made[index] = object;
    return (this.options.kind << kindShift) | index;
  }

  remove(handle: number): void {
    this.made[handle & indexMask] = undefined;
    this.free.push(handle & indexMask);
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
