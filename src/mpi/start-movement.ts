/**
 * Starts of the collectives that move data and compute nothing (MPI 5.0 §6.3 to §6.8, §8.6). Which sides a rank has is decided in
 * core/binding/movement-arguments.ts; here are the arrays: what a TypeScript program may leave out, and new arrays for results.
 */

import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { isRoot } from "../core/binding/checks.ts";
import { bytesOf } from "../core/binding/collective-side.ts";
import type { Movement } from "../core/binding/movement.ts";
import {
  allgatherMovement,
  allgathervMovement,
  alltoallMovement,
  alltoallvMovement,
  neighborExchange,
  neighborGather,
  type OwnBuffer,
  rootedMovement,
  rootedPartsMovement,
  type SharedSource,
} from "../core/binding/movement-arguments.ts";
import type { ItemsInMemory } from "../core/comm/datatype/pack.ts";
import type { CollectiveForm } from "../core/process/collective-form.ts";
import { arrayOf, type BufferLike, type TypedArray } from "./buffers.ts";
import {
  countOf,
  elementsOf,
  IN_PLACE,
  type InPlace,
  itemsOfBlocks,
  itemsOfParts,
  newArrayFor,
  newArrayForBlocks,
  type PartLayout,
} from "./collective-sides.ts";
import { CollectiveStart, checkArraysApart, checkCounts, checkRoom, needed, share } from "./collective-start.ts";
import type { Started } from "./request.ts";
import type { Status } from "./status.ts";

/** What is sent, or IN_PLACE: it is in the array for the result already. */
export type Sent<T extends TypedArray> = BufferLike<T> | InPlace;
type Maybe<T> = T | null | undefined;
type Parts = readonly (BufferLike | null)[];

export interface BothLayouts {
  readonly sends: PartLayout;
  readonly receives: PartLayout;
}

/** The array of this rank alone. */
class OwnArray<T extends TypedArray> implements OwnBuffer<ItemsInMemory> {
  /** Null until the array is read, which is where this rank needs one. */
  array: T | null = null;
  private readonly what: string;
  private readonly data: Maybe<Sent<T>>;

  constructor(what: string, data: Maybe<Sent<T>>) {
    this.what = what;
    this.data = data;
  }

  get isInPlace(): boolean {
    return this.data === IN_PLACE;
  }

  items(): ItemsInMemory {
    const buffer = needed<BufferLike<T>>(this.what, this.data);
    this.array = arrayOf(buffer);
    return elementsOf(buffer);
  }
}

interface SharedArrayOptions<T extends TypedArray> {
  readonly data: Maybe<Sent<T>>;
  /** The other array of the call. */
  readonly other: unknown;
  /** Of v forms. */
  readonly layout?: PartLayout | undefined;
  /** The kind of a new array where none is given, and the number of its elements for each peer; null: one must be given. */
  readonly like?: { readonly sent: Maybe<Sent<T>>; readonly each: () => number } | null;
}

/** An array that has a part for every peer. */
class SharedArray<T extends TypedArray> implements SharedSource<ItemsInMemory> {
  array: T | null = null;
  private readonly what: string;
  private readonly rank: number;
  private readonly options: SharedArrayOptions<T>;

  constructor(what: string, rank: number, options: SharedArrayOptions<T>) {
    this.what = what;
    this.rank = rank;
    this.options = options;
  }

  get isInPlace(): boolean {
    return this.options.data === IN_PLACE;
  }

  equal(peers: number, own: number | null): { items: ItemsInMemory; bytes: number } {
    const buffer = this.buffer((sent, each) => newArrayFor(sent, each() * peers));
    const bytes = own ?? share(this.what, buffer, peers);
    checkRoom(this.what, buffer, bytes * peers);
    return { items: elementsOf(buffer), bytes };
  }

  parts(peers: number, own: number | null): ItemsInMemory[] {
    const layout = checkedLayout(this.what, this.options.layout, peers);
    const parts = itemsOfBlocks(
      this.buffer((sent) => newArrayForBlocks(sent, layout)),
      layout,
    );
    checkOwn(this.what, parts[this.rank], own);
    return parts;
  }

  private buffer(made: (sent: BufferLike<T>, each: () => number) => BufferLike<T>): BufferLike<T> {
    const { what } = this;
    const { data, other, like = null } = this.options;
    const isMade = data === undefined && like !== null;
    const buffer = isMade ? made(kindOf(what, like.sent), like.each) : needed<BufferLike<T>>(what, data);
    checkArraysApart(what, other, buffer);
    this.array = arrayOf(buffer);
    return buffer;
  }
}

/** A buffer for each peer, with its own datatype; null where nothing is sent or received. */
class PartsArray implements SharedSource<ItemsInMemory> {
  private readonly what: string;
  private readonly rank: number;
  private readonly list: Parts | InPlace;

  constructor(what: string, rank: number, list: Parts | InPlace) {
    this.what = what;
    this.rank = rank;
    this.list = list;
  }

  get isInPlace(): boolean {
    return this.list === IN_PLACE;
  }

  equal(): never {
    throw new MpiError(ErrorClass.BUFFER, `Cannot ${this.what}: give one array`);
  }

  parts(peers: number, own: number | null): ItemsInMemory[] {
    const list = this.list === IN_PLACE ? [] : this.list;
    checkCounts(this.what, list, peers);
    const parts = itemsOfParts(list);
    checkOwn(this.what, parts[this.rank], own);
    return parts;
  }
}

/** What a new array is to be like. */
function kindOf<T extends TypedArray>(what: string, sent: Maybe<Sent<T>>): BufferLike<T> {
  if (sent !== IN_PLACE) return needed<BufferLike<T>>(what, sent);
  throw new MpiError(ErrorClass.BUFFER, `Cannot ${what}: nothing says what kind of array; give one as \`into\``);
}

function checkedLayout(what: string, layout: PartLayout | undefined, peers: number): PartLayout {
  checkCounts(what, layout?.counts, peers);
  return layout!;
}

/** What a rank sends itself must be as long as what it receives from itself. `own`: null where nothing tells. */
function checkOwn(what: string, part: ItemsInMemory | undefined, own: number | null): void {
  if (own === null || part === undefined || bytesOf(part) === own) return;
  throw new MpiError(
    ErrorClass.COUNT,
    `Cannot ${what}: this rank's own part has ${own} bytes on one side and ${bytesOf(part)} on the other`,
  );
}

/** The elements of a buffer of which there is one for each rank. */
const countOfSent = <T extends TypedArray>(what: string, data: Maybe<Sent<T>>): number =>
  countOf(needed<BufferLike<T>>(what, data));

export class StartMovement extends CollectiveStart {
  barrier(form: CollectiveForm = "nonblocking"): Started<Status> {
    return this.attempt("wait at a barrier", form, () => {
      const { record } = this.mover.begin(this.core, { kind: "barrier", from: null, to: null, bytes: 0 }, form);
      return { record, after: null };
    });
  }

  bcast<T>(data: T & (BufferLike | null | undefined), root: number, form: CollectiveForm = "nonblocking"): Started<T> {
    return this.attempt("broadcast", form, () => {
      const holds = isRoot(this.named, "broadcast", root);
      const items = holds || root >= 0 ? elementsOf(needed("broadcast", data)) : null;
      return this.move({ kind: "bcast", items, root, holds }, data, form);
    });
  }

  gather<T extends TypedArray>(
    data: Maybe<Sent<T>>,
    root: number,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ) {
    const all = this.#gathered("gather", data, into);
    return this.#start("gather", all, form, () =>
      rootedMovement(this.named, "gather", new OwnArray("gather", data), all, root),
    );
  }

  gatherv<T extends TypedArray>(
    data: Maybe<Sent<T>>,
    root: number,
    layout: PartLayout | undefined,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ) {
    const all = this.#gathered("gather", data, into, layout);
    return this.#start("gather", all, form, () =>
      rootedPartsMovement(this.named, "gather", new OwnArray("gather", data), all, root),
    );
  }

  scatter<T extends TypedArray>(
    data: Maybe<BufferLike>,
    root: number,
    into: Maybe<Sent<T>>,
    form: CollectiveForm = "nonblocking",
  ) {
    const own = new OwnArray("scatter", into);
    const all = this.#shared("scatter", { data, other: into });
    return this.#start("scatter", own, form, () => rootedMovement(this.named, "scatter", own, all, root));
  }

  scatterv<T extends TypedArray>(
    data: Maybe<BufferLike>,
    root: number,
    layout: PartLayout | undefined,
    into: Maybe<Sent<T>>,
    form: CollectiveForm = "nonblocking",
  ) {
    const own = new OwnArray("scatter", into);
    const all = this.#shared("scatter", { data, other: undefined, layout });
    return this.#start("scatter", own, form, () => rootedPartsMovement(this.named, "scatter", own, all, root));
  }

  allgather<T extends TypedArray>(
    data: Sent<T>,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const all = this.#gathered("gather", data, into);
    return this.#startForAll("gather", all, form, () =>
      allgatherMovement(this.named, new OwnArray("gather", data), all),
    );
  }

  allgatherv<T extends TypedArray>(
    data: Sent<T>,
    layout: PartLayout,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const all = this.#gathered("gather", data, into, layout);
    return this.#startForAll("gather", all, form, () =>
      allgathervMovement(this.named, new OwnArray("gather", data), all),
    );
  }

  alltoall<T extends TypedArray>(
    data: Sent<T>,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const what = "exchange";
    const each = () => countOfSent(what, data) / this.core.peers.size;
    const source = this.#shared(what, { data, other: undefined });
    const all = this.#shared(what, { data: into, other: data, like: { sent: data, each } });
    return this.#startForAll(what, all, form, () => alltoallMovement(this.named, source, all));
  }

  alltoallv<T extends TypedArray>(
    data: Sent<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const source = this.#shared("exchange", { data, other: undefined, layout: sends });
    const all = this.#gathered("exchange", data, into, receives);
    return this.#startForAll("exchange", all, form, () => alltoallvMovement(this.named, source, all));
  }

  alltoallw(parts: Parts | InPlace, into: Parts, form: CollectiveForm = "nonblocking"): Started<Parts> {
    const [source, all] = [this.#each("exchange", parts), this.#each("exchange", into)];
    return this.attempt("exchange", form, () => this.move(alltoallvMovement(this.named, source, all), into, form));
  }

  // Among the neighbours of a topology

  neighborAllgather<T extends TypedArray>(
    data: BufferLike<T>,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const all = this.#gathered(withNeighbours, data, into);
    return this.#startForAll(withNeighbours, all, form, () =>
      neighborGather(this.named, "equal", new OwnArray(withNeighbours, data), all),
    );
  }

  neighborAllgatherv<T extends TypedArray>(
    data: BufferLike<T>,
    layout: PartLayout,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const all = this.#gathered(withNeighbours, data, into, layout);
    return this.#startForAll(withNeighbours, all, form, () =>
      neighborGather(this.named, "parts", new OwnArray(withNeighbours, data), all),
    );
  }

  neighborAlltoall<T extends TypedArray>(
    data: BufferLike<T>,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const each = () => {
      const outdegree = this.core.topology?.neighbours(this.core.rank).destinations.length ?? 0;
      return outdegree === 0 ? 0 : countOf(data) / outdegree;
    };
    const source = this.#shared(withNeighbours, { data, other: undefined });
    const all = this.#shared(withNeighbours, { data: into, other: data, like: { sent: data, each } });
    return this.#startForAll(withNeighbours, all, form, () => neighborExchange(this.named, "equal", source, all));
  }

  neighborAlltoallv<T extends TypedArray>(
    data: BufferLike<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    form: CollectiveForm = "nonblocking",
  ): Started<T> {
    const source = this.#shared(withNeighbours, { data, other: undefined, layout: sends });
    const all = this.#gathered(withNeighbours, data, into, receives);
    return this.#startForAll(withNeighbours, all, form, () => neighborExchange(this.named, "parts", source, all));
  }

  neighborAlltoallw<P extends Parts>(parts: Parts, into: P, form: CollectiveForm = "nonblocking"): Started<P> {
    const [source, all] = [this.#each(withNeighbours, parts), this.#each(withNeighbours, into)];
    return this.attempt(withNeighbours, form, () =>
      this.move(neighborExchange(this.named, "parts", source, all), into, form),
    );
  }

  // Inside

  /** The result is in `result.array`, once the movement has been made. */
  #start<T extends TypedArray>(
    what: string,
    result: { readonly array: T | null },
    form: CollectiveForm,
    make: () => Movement<ItemsInMemory>,
  ): Started<T | null> {
    return this.attempt(what, form, () => {
      const movement = make();
      return this.move(movement, result.array, form);
    });
  }

  /** The same for collectives that give every rank a result. */
  #startForAll<T extends TypedArray>(
    what: string,
    result: { readonly array: T | null },
    form: CollectiveForm,
    make: () => Movement<ItemsInMemory>,
  ): Started<T> {
    return this.#start(what, result, form, make) as Started<T>;
  }

  #shared<T extends TypedArray>(what: string, options: SharedArrayOptions<T>): SharedArray<T> {
    return new SharedArray(what, this.core.rank, options);
  }

  #each(what: string, list: Parts | InPlace): PartsArray {
    return new PartsArray(what, this.core.rank, list);
  }

  /** The array for what all ranks send: `into`, or a new one of the kind of `data`. */
  #gathered<T extends TypedArray>(
    what: string,
    data: Maybe<Sent<T>>,
    into: BufferLike<T> | undefined,
    layout?: PartLayout,
  ): SharedArray<T> {
    const each = () => countOfSent(what, data);
    return this.#shared<T>(what, { data: into, other: data, layout, like: { sent: data, each } });
  }
}

const withNeighbours = "exchange with the neighbours";
