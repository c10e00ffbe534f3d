/** Starts of the collectives that move data and compute nothing (MPI 5.0 §6.3 to §6.8). */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkSize } from "../core/binding/checks.ts";
import { bytesOf } from "../core/binding/side.ts";
import { arrayOf, type BufferLike, type Items, type TypedArray } from "./buffers.ts";
import type { Started } from "./request.ts";
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
} from "./sides.ts";
import { Starts } from "./starts.ts";
import type { Status } from "./status.ts";

/** What is sent, or IN_PLACE: it is in the array for the result already. */
export type Sent<T extends TypedArray> = BufferLike<T> | InPlace;
type Maybe<T> = T | null | undefined;

export interface BothLayouts {
  readonly sends: Layout;
  readonly receives: Layout;
}

/** The array of a result, if this rank gets one. */
const resultOf = <T extends TypedArray>(target: BufferLike | null): T | null =>
  target === null ? null : (arrayOf(target) as T);

export class StartMovement extends Starts {
  barrier(tag?: number): Started<Status> {
    return this.attempt("wait at a barrier", () => {
      const { record } = this.mover.begin(this.core, { kind: "barrier", from: null, to: null, bytes: 0 }, tag);
      return { record, after: null };
    });
  }

  bcast<T>(data: T & (BufferLike | null | undefined), root: number, tag?: number): Started<T> {
    return this.attempt("broadcast", () => {
      const holds = this.isRoot("broadcast", root);
      const items = holds || root >= 0 ? itemsOf(this.needed("broadcast", data)) : null;
      return this.move({ kind: "bcast", items, root, holds }, data, tag);
    });
  }

  gather<T extends TypedArray>(data: Maybe<Sent<T>>, root: number, into?: BufferLike<T>, tag?: number) {
    return this.attempt("gather", (): Started<T | null> => {
      const isRoot = this.isRoot("gather", root);
      const { peers, isInter } = this.core;
      const inPlace = this.#isInPlace("gather", isRoot ? data : null);
      const send = this.#sends(root, inPlace) ? this.needed<BufferLike<T>>("gather", data) : null;
      const target = isRoot ? (into ?? this.#room("gather", send, peers.size)) : null;
      this.checkApart("gather", send ?? undefined, target);
      const from = send === null ? null : itemsOf(send);
      const bytes = from !== null ? bytesOf(from) : target === null ? 0 : this.share("gather", target, peers.size);
      // Everybody knows what the root gets: nobody shall wait for a root that had to refuse.
      checkSize(bytes * (isRoot || !isInter ? peers.size : this.core.size));
      if (target !== null) this.checkRoom("gather", target, bytes * peers.size);
      const to = target === null ? null : itemsOf(target);
      return this.move({ kind: "gather", from, to, bytes, root, inPlace }, resultOf<T>(target), tag);
    });
  }

  gatherv<T extends TypedArray>(
    data: Maybe<Sent<T>>,
    root: number,
    layout: Layout | undefined,
    into?: BufferLike<T>,
    tag?: number,
  ) {
    return this.attempt("gather", (): Started<T | null> => {
      const isRoot = this.isRoot("gather", root);
      const inPlace = this.#isInPlace("gather", isRoot ? data : null);
      const send = this.#sends(root, inPlace) ? this.needed<BufferLike<T>>("gather", data) : null;
      const from = send === null ? null : itemsOf(send);
      const received = isRoot ? this.#target("gather", send, layout, into) : null;
      if (from !== null && received !== null) this.#checkOwn("gather", received.to, bytesOf(from));
      const to = received?.to ?? null;
      return this.move({ kind: "gatherv", from, to, root, inPlace }, received?.array ?? null, tag);
    });
  }

  scatter<T extends TypedArray>(data: Maybe<BufferLike>, root: number, into: Maybe<Sent<T>>, tag?: number) {
    return this.attempt("scatter", (): Started<T | null> => {
      const isRoot = this.isRoot("scatter", root);
      const { peers, isInter } = this.core;
      const inPlace = this.#isInPlace("scatter", isRoot ? into : null);
      const source = isRoot ? this.needed("scatter", data) : null;
      const target = this.#sends(root, inPlace) ? this.needed<BufferLike<T>>("scatter", into) : null;
      this.checkApart("scatter", source ?? undefined, target);
      const to = target === null ? null : itemsOf(target);
      const bytes = to !== null ? bytesOf(to) : source === null ? 0 : this.share("scatter", source, peers.size);
      checkSize(bytes * (isRoot || !isInter ? peers.size : this.core.size));
      if (source !== null) this.checkRoom("scatter", source, bytes * peers.size);
      const from = source === null ? null : itemsOf(source);
      return this.move({ kind: "scatter", from, to, bytes, root, inPlace }, resultOf<T>(target), tag);
    });
  }

  scatterv<T extends TypedArray>(
    data: Maybe<BufferLike>,
    root: number,
    layout: Layout | undefined,
    into: Maybe<Sent<T>>,
    tag?: number,
  ) {
    return this.attempt("scatter", (): Started<T | null> => {
      const isRoot = this.isRoot("scatter", root);
      const inPlace = this.#isInPlace("scatter", isRoot ? into : null);
      const target = this.#sends(root, inPlace) ? this.needed<BufferLike<T>>("scatter", into) : null;
      if (isRoot) this.checkCounts("scatter", layout?.counts);
      const from = isRoot ? itemsOfBlocks(this.needed("scatter", data), layout!) : null;
      const to = target === null ? null : itemsOf(target);
      if (from !== null && to !== null) this.#checkOwn("scatter", from, bytesOf(to));
      return this.move({ kind: "scatterv", from, to, root, inPlace }, resultOf<T>(target), tag);
    });
  }

  allgather<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("gather", () => {
      const { peers, isInter } = this.core;
      const inPlace = this.#isInPlace("gather", data);
      const send = inPlace ? null : this.needed<BufferLike<T>>("gather", data);
      const target = into ?? this.#room("gather", send, peers.size);
      this.checkApart("gather", data, target);
      const from = send === null ? null : itemsOf(send);
      const bytes = from === null || isInter ? this.share("gather", target, peers.size) : bytesOf(from);
      this.checkRoom("gather", target, bytes * peers.size);
      const sides = { from, to: itemsOf(target) };
      if (isInter) return this.move({ kind: "allgatherv", ...sides }, arrayOf(target), tag);
      return this.move({ kind: "allgather", ...sides, bytes, inPlace }, arrayOf(target), tag);
    });
  }

  allgatherv<T extends TypedArray>(data: Sent<T>, layout: Layout, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("gather", () => {
      const inPlace = this.#isInPlace("gather", data);
      const send = inPlace ? null : this.needed<BufferLike<T>>("gather", data);
      const from = send === null ? null : itemsOf(send);
      const { to, array } = this.#target("gather", send, layout, into);
      if (from !== null) this.#checkOwn("gather", to, bytesOf(from));
      return this.move({ kind: "allgatherv", from, to, inPlace }, array, tag);
    });
  }

  alltoall<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("exchange", () => {
      const { peers, isInter } = this.core;
      const inPlace = this.#isInPlace("exchange", data);
      const send = inPlace ? null : this.needed<BufferLike<T>>("exchange", data);
      const target = into ?? this.#room("exchange", send, 1);
      this.checkApart("exchange", data, target);
      const bytes = this.share("exchange", isInter ? target : (send ?? target), peers.size);
      this.checkRoom("exchange", target, bytes * peers.size);
      if (isInter) this.share("exchange", send!, peers.size);
      const sides = { from: send === null ? null : itemsOf(send), to: itemsOf(target) };
      if (isInter) return this.move({ kind: "alltoallv", ...sides }, arrayOf(target), tag);
      return this.move({ kind: "alltoall", ...sides, bytes, inPlace }, arrayOf(target), tag);
    });
  }

  alltoallv<T extends TypedArray>(
    data: Sent<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt("exchange", () => {
      const inPlace = this.#isInPlace("exchange", data);
      const send = inPlace ? null : this.needed<BufferLike<T>>("exchange", data);
      if (!inPlace) this.checkCounts("exchange", sends.counts);
      const { to, array } = this.#target("exchange", send, receives, into);
      const from = send === null ? null : itemsOfBlocks(send, sends);
      return this.#exchange(from, to, array, inPlace, tag);
    });
  }

  /** A buffer for each peer, with its own datatype; null where nothing is sent or received. */
  alltoallw(
    parts: readonly (BufferLike | null)[] | InPlace,
    into: readonly (BufferLike | null)[],
    tag?: number,
  ): Started<readonly (BufferLike | null)[]> {
    return this.attempt("exchange", () => {
      const inPlace = this.#isInPlace("exchange", parts);
      if (parts !== IN_PLACE) this.checkCounts("exchange", parts);
      this.checkCounts("exchange", into);
      const from = parts === IN_PLACE ? null : itemsOfParts(parts);
      return this.#exchange(from, itemsOfParts(into), into, inPlace, tag);
    });
  }

  #exchange<R>(from: Items[] | null, to: Items[], result: R, inPlace: boolean, tag?: number): Started<R> {
    if (from !== null && !this.core.isInter) this.#checkOwn("exchange", from, bytesOf(to[this.core.rank]!));
    return this.move({ kind: "alltoallv", from, to, inPlace }, result, tag);
  }

  /** Is it IN_PLACE, where it may be? */
  #isInPlace(what: string, data: unknown): boolean {
    if (data !== IN_PLACE) return false;
    this.refuseInPlace(what);
    return true;
  }

  /** Has this rank a buffer of its own beside the root's? */
  #sends(root: number, inPlace: boolean): boolean {
    return this.core.isInter ? root >= 0 : !inPlace;
  }

  /** Room for `times` as much as is sent. */
  #room<T extends TypedArray>(what: string, send: BufferLike<T> | null, times: number): BufferLike<T> {
    if (send !== null) return newArrayFor(send, countOf(send) * times);
    throw new MpiError(ErrorClass.BUFFER, `Cannot ${what}: nothing says what kind of array; give one as \`into\``);
  }

  /** Where the blocks of a v form go: an array of the program's, or a new one. */
  #target<T extends TypedArray>(
    what: string,
    send: BufferLike<T> | null,
    layout: Layout | undefined,
    into: BufferLike<T> | undefined,
  ): { to: Items[]; array: T } {
    this.checkCounts(what, layout?.counts);
    if (into === undefined && send === null) this.#room(what, send, 1);
    const target = into ?? newArrayForBlocks(send!, layout!);
    this.checkApart(what, send ?? undefined, target);
    return { to: itemsOfBlocks(target, layout!), array: arrayOf(target) };
  }

  /** What a rank sends itself must be as long as what it receives from itself. */
  #checkOwn(what: string, parts: readonly Items[], bytes: number): void {
    if (this.core.isInter) return;
    const own = bytesOf(parts[this.core.rank]!);
    if (own === bytes) return;
    throw new MpiError(
      ErrorClass.COUNT,
      `Cannot ${what}: this rank's own part has ${bytes} bytes on one side and ${own} on the other`,
    );
  }
}
