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
import { arrayOf, type BufferLike, type Items, type TypedArray } from "./buffers.ts";
import {
  countOf,
  IN_PLACE,
  type InPlace,
  itemsOf,
  itemsOfBlocks,
  itemsOfParts,
  type Layout,
  newArrayFor,
  newArrayForBlocks,
} from "./collective-sides.ts";
import { CollectiveStart, checkApart, checkCounts, checkRoom, needed, share } from "./collective-start.ts";
import type { Started } from "./request.ts";
import type { Status } from "./status.ts";

/** What is sent, or IN_PLACE: it is in the array for the result already. */
export type Sent<T extends TypedArray> = BufferLike<T> | InPlace;
type Maybe<T> = T | null | undefined;
type Parts = readonly (BufferLike | null)[];

export interface BothLayouts {
  readonly sends: Layout;
  readonly receives: Layout;
}

/** The array of this rank alone. */
class OwnArray<T extends TypedArray> implements OwnBuffer<Items> {
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

  items(): Items {
    const buffer = needed<BufferLike<T>>(this.what, this.data);
    this.array = arrayOf(buffer);
    return itemsOf(buffer);
  }
}

interface SharedArrayOptions<T extends TypedArray> {
  readonly data: Maybe<Sent<T>>;
  /** The other array of the call. */
  readonly other: unknown;
  /** Of v forms. */
  readonly layout?: Layout | undefined;
  /** The kind of a new array where none is given, and the number of its elements for each peer; null: one must be given. */
  readonly like?: { readonly sent: Maybe<Sent<T>>; readonly each: () => number } | null;
}

/** An array that has a part for every peer. */
class SharedArray<T extends TypedArray> implements SharedSource<Items> {
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

  equal(peers: number, own: number | null): { items: Items; bytes: number } {
    const buffer = this.buffer((sent, each) => newArrayFor(sent, each() * peers));
    const bytes = own ?? share(this.what, buffer, peers);
    checkRoom(this.what, buffer, bytes * peers);
    return { items: itemsOf(buffer), bytes };
  }

  parts(peers: number, own: number | null): Items[] {
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
    checkApart(what, other, buffer);
    this.array = arrayOf(buffer);
    return buffer;
  }
}

/** A buffer for each peer, with its own datatype; null where nothing is sent or received. */
class PartsArray implements SharedSource<Items> {
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

  parts(peers: number, own: number | null): Items[] {
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

function checkedLayout(what: string, layout: Layout | undefined, peers: number): Layout {
  checkCounts(what, layout?.counts, peers);
  return layout!;
}

/** What a rank sends itself must be as long as what it receives from itself. `own`: null where nothing tells. */
function checkOwn(what: string, part: Items | undefined, own: number | null): void {
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
  barrier(tag?: number): Started<Status> {
    return this.attempt(
      "wait at a barrier",
      () => {
        const { record } = this.mover.begin(this.core, { kind: "barrier", from: null, to: null, bytes: 0 }, tag);
        return { record, after: null };
      },
      tag,
    );
  }

  bcast<T>(data: T & (BufferLike | null | undefined), root: number, tag?: number): Started<T> {
    return this.attempt(
      "broadcast",
      () => {
        const holds = isRoot(this.named, "broadcast", root);
        const items = holds || root >= 0 ? itemsOf(needed("broadcast", data)) : null;
        return this.move({ kind: "bcast", items, root, holds }, data, tag);
      },
      tag,
    );
  }

  gather<T extends TypedArray>(data: Maybe<Sent<T>>, root: number, into?: BufferLike<T>, tag?: number) {
    const all = this.#gathered("gather", data, into);
    return this.#start("gather", all, tag, () =>
      rootedMovement(this.named, "gather", new OwnArray("gather", data), all, root),
    );
  }

  gatherv<T extends TypedArray>(
    data: Maybe<Sent<T>>,
    root: number,
    layout: Layout | undefined,
    into?: BufferLike<T>,
    tag?: number,
  ) {
    const all = this.#gathered("gather", data, into, layout);
    return this.#start("gather", all, tag, () =>
      rootedPartsMovement(this.named, "gather", new OwnArray("gather", data), all, root),
    );
  }

  scatter<T extends TypedArray>(data: Maybe<BufferLike>, root: number, into: Maybe<Sent<T>>, tag?: number) {
    const own = new OwnArray("scatter", into);
    const all = this.#shared("scatter", { data, other: into });
    return this.#start("scatter", own, tag, () => rootedMovement(this.named, "scatter", own, all, root));
  }

  scatterv<T extends TypedArray>(
    data: Maybe<BufferLike>,
    root: number,
    layout: Layout | undefined,
    into: Maybe<Sent<T>>,
    tag?: number,
  ) {
    const own = new OwnArray("scatter", into);
    const all = this.#shared("scatter", { data, other: undefined, layout });
    return this.#start("scatter", own, tag, () => rootedPartsMovement(this.named, "scatter", own, all, root));
  }

  allgather<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    const all = this.#gathered("gather", data, into);
    return this.#startForAll("gather", all, tag, () =>
      allgatherMovement(this.named, new OwnArray("gather", data), all),
    );
  }

  allgatherv<T extends TypedArray>(data: Sent<T>, layout: Layout, into?: BufferLike<T>, tag?: number): Started<T> {
    const all = this.#gathered("gather", data, into, layout);
    return this.#startForAll("gather", all, tag, () =>
      allgathervMovement(this.named, new OwnArray("gather", data), all),
    );
  }

  alltoall<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    const what = "exchange";
    const each = () => countOfSent(what, data) / this.core.peers.size;
    const source = this.#shared(what, { data, other: undefined });
    const all = this.#shared(what, { data: into, other: data, like: { sent: data, each } });
    return this.#startForAll(what, all, tag, () => alltoallMovement(this.named, source, all));
  }

  alltoallv<T extends TypedArray>(
    data: Sent<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    const source = this.#shared("exchange", { data, other: undefined, layout: sends });
    const all = this.#gathered("exchange", data, into, receives);
    return this.#startForAll("exchange", all, tag, () => alltoallvMovement(this.named, source, all));
  }

  alltoallw(parts: Parts | InPlace, into: Parts, tag?: number): Started<Parts> {
    const [source, all] = [this.#each("exchange", parts), this.#each("exchange", into)];
    return this.attempt("exchange", () => this.move(alltoallvMovement(this.named, source, all), into, tag), tag);
  }

  // Among the neighbours of a topology

  neighborAllgather<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    const all = this.#gathered(withNeighbours, data, into);
    return this.#startForAll(withNeighbours, all, tag, () =>
      neighborGather(this.named, "equal", new OwnArray(withNeighbours, data), all),
    );
  }

  neighborAllgatherv<T extends TypedArray>(
    data: BufferLike<T>,
    layout: Layout,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    const all = this.#gathered(withNeighbours, data, into, layout);
    return this.#startForAll(withNeighbours, all, tag, () =>
      neighborGather(this.named, "parts", new OwnArray(withNeighbours, data), all),
    );
  }

  neighborAlltoall<T extends TypedArray>(data: BufferLike<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    const each = () => {
      const outdegree = this.core.topology?.neighbours(this.core.rank).destinations.length ?? 0;
      return outdegree === 0 ? 0 : countOf(data) / outdegree;
    };
    const source = this.#shared(withNeighbours, { data, other: undefined });
    const all = this.#shared(withNeighbours, { data: into, other: data, like: { sent: data, each } });
    return this.#startForAll(withNeighbours, all, tag, () => neighborExchange(this.named, "equal", source, all));
  }

  neighborAlltoallv<T extends TypedArray>(
    data: BufferLike<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    const source = this.#shared(withNeighbours, { data, other: undefined, layout: sends });
    const all = this.#gathered(withNeighbours, data, into, receives);
    return this.#startForAll(withNeighbours, all, tag, () => neighborExchange(this.named, "parts", source, all));
  }

  neighborAlltoallw<P extends Parts>(parts: Parts, into: P, tag?: number): Started<P> {
    const [source, all] = [this.#each(withNeighbours, parts), this.#each(withNeighbours, into)];
    return this.attempt(
      withNeighbours,
      () => this.move(neighborExchange(this.named, "parts", source, all), into, tag),
      tag,
    );
  }

  // Inside

  /** The result is in `result.array`, once the movement has been made. */
  #start<T extends TypedArray>(
    what: string,
    result: { readonly array: T | null },
    tag: number | undefined,
    make: () => Movement<Items>,
  ): Started<T | null> {
    return this.attempt(
      what,
      () => {
        const movement = make();
        return this.move(movement, result.array, tag);
      },
      tag,
    );
  }

  /** The same for collectives that give every rank a result. */
  #startForAll<T extends TypedArray>(
    what: string,
    result: { readonly array: T | null },
    tag: number | undefined,
    make: () => Movement<Items>,
  ): Started<T> {
    return this.#start(what, result, tag, make) as Started<T>;
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
    layout?: Layout,
  ): SharedArray<T> {
    const each = () => countOfSent(what, data);
    return this.#shared<T>(what, { data: into, other: data, layout, like: { sent: data, each } });
  }
}

const withNeighbours = "exchange with the neighbours";
