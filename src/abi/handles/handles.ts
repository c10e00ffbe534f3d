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
 * The first numbers of requests are shared with a data plane, where there is one (core/p2p/light-requests.ts). Each request has the lowest that is
 * free, and one behind them if none is: programs may order by handles, which must be the same in a life without a plane.
 */
const sharedOf = (kind: Kind): number => (kind === Kind.REQUEST ? lightRequestsMax : 0);

export const handleOf = (kind: Kind, index: number): number => (kind << kindShift) | index;

interface HandlesOptions {
  readonly kind: Kind;
  /** What messages to people call one of them. */
  readonly name: string;
  /** The class of the error for a handle that is none. */
  readonly errorClass: number;
}

/** The requests of a data plane. */
interface Sharer {
  has(place: number): boolean;
  taken(place: number): void;
  freed(place: number): void;
}

export class Handles<T> {
  static readonly unsaved = { sharer: null };
  private readonly options: HandlesOptions;
  /** Has the shared numbers that are not free and not ours. */
  private sharer: Sharer | null = null;
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

  shareWith(sharer: Sharer): void {
    this.sharer = sharer;
  }

  add(object: T): number {
    const { made, free } = this;
    const shared = sharedOf(this.options.kind);
    while (made.length < shared) made.push(undefined);
    // Images of earlier versions have shared numbers there.
    while (free.length > 0 && free[free.length - 1]! < shared) free.pop();
    const index = this.freeShared(shared) ?? free.pop() ?? made.length;
    made[index] = object;
    if (index < shared) this.sharer?.taken(index);
    return handleOf(this.options.kind, index);
  }

  private freeShared(shared: number): number | undefined {
    const { made, sharer } = this;
    for (let index = 0; index < shared; index++) {
      if (made[index] === undefined && sharer?.has(index) !== true) return index;
    }
    return undefined;
  }

  /** The object has a handle already, one of those that are shared, and is ours from now on. */
  put(handle: number, object: T): void {
    const index = handle & indexMask;
    while (this.made.length <= index) this.made.push(undefined);
    this.made[index] = object;
  }

  remove(handle: number): void {
    const index = handle & indexMask;
    this.made[index] = undefined;
    if (index >= sharedOf(this.options.kind)) this.free.push(index);
    else this.sharer?.freed(index);
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
