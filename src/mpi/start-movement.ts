/** Starts of the collectives that move data and compute nothing (MPI 5.0 §6.3 to §6.8). */
import type { Pointer } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkSize } from "../core/binding/checks.ts";
import { equalBlocks } from "../core/coll/rounds.ts";
import type { Blocks } from "../core/coll/schedule.ts";
import { arrayOf, type BufferLike, type TypedArray } from "./buffers.ts";
import type { Started } from "./request.ts";
import { countOf, IN_PLACE, type InPlace, type Layout, newArrayFor, newArrayForBlocks, Side } from "./sides.ts";
import { Settle, Starts } from "./starts.ts";
import type { Status } from "./status.ts";

const nowhere = 0 as Pointer;

/** What is sent, or IN_PLACE: it is in the array for the result already. */
export type Sent<T extends TypedArray> = BufferLike<T> | InPlace;
type Maybe<T> = T | null | undefined;

export interface BothLayouts {
  readonly sends: Layout;
  readonly receives: Layout;
}

export class StartMovement extends Starts {
  barrier(tag?: number): Started<Status> {
    return this.attempt("wait at a barrier", () => ({
      record: this.operations.startEqual(this.core, "barrier", nowhere, nowhere, { tag }),
      after: null,
    }));
  }

  bcast<T>(data: T & (BufferLike | null | undefined), root: number, tag?: number): Started<T> {
    return this.attempt("broadcast", () => {
      const isRoot = this.isRoot("broadcast", root);
      const takesPart = isRoot || root >= 0;
      const side = takesPart ? Side.of(this.buffers, this.needed("broadcast", data), isRoot) : Side.none(this.buffers);
      const call = { bytes: side.bytes, root, tag };
      const record = this.operations.startEqual(this.core, "bcast", nowhere, side.pointer, call);
      return { record, after: new Settle<T>(null, side, data) };
    });
  }

  gather<T extends TypedArray>(data: Maybe<Sent<T>>, root: number, into?: BufferLike<T>, tag?: number) {
    return this.attempt("gather", (): Started<T | null> => {
      const isRoot = this.isRoot("gather", root);
      const { peers, isInter } = this.core;
      const inPlace = isRoot && data === IN_PLACE;
      if (inPlace) this.refuseInPlace("gather");
      const sends = (!isInter && !inPlace) || root >= 0;
      const send = sends && !inPlace ? this.needed("gather", data) : null;
      const target = isRoot ? (into ?? this.#room("gather", send, peers.size)) : null;
      this.checkApart("gather", send ?? undefined, target);
      const sent = send === null ? null : Side.of(this.buffers, send, true);
      const bytes = sent?.bytes ?? (target === null ? 0 : this.share("gather", target, peers.size));
      // Everybody knows what the root gets: nobody shall wait for a root that had to refuse.
      checkSize(bytes * (isRoot || !isInter ? peers.size : this.core.size));
      if (target !== null) this.checkRoom("gather", target, bytes * peers.size);
      const received = target === null ? null : Side.of(this.buffers, target, inPlace);
      const call = { bytes, root, inPlace, tag };
      const [from, to] = [sent?.pointer ?? nowhere, received?.pointer ?? nowhere];
      const record = this.operations.startEqual(this.core, "gather", from, to, call);
      return { record, after: new Settle(sent, received, target === null ? null : arrayOf(target)) };
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
      const inPlace = isRoot && data === IN_PLACE;
      if (inPlace) this.refuseInPlace("gather");
      const sends = !inPlace && (!this.core.isInter || root >= 0);
      const send = sends ? this.needed("gather", data) : null;
      const sent = send === null ? null : Side.of(this.buffers, send, true);
      const received = isRoot ? this.#target("gather", send, layout, into, inPlace) : null;
      const bytes = sent?.bytes ?? 0;
      if (isRoot && send !== null) this.#checkOwn("gather", received!.side.blocks, bytes);
      const collective = {
        kind: "gatherv",
        ...this.core.place,
        root,
        bytes,
        blocks: received?.side.blocks,
        inPlace,
      } as const;
      const [from, to] = [sent?.pointer ?? nowhere, received?.side.pointer ?? nowhere];
      const record = this.operations.startBlocks(this.core, collective, from, to, null, tag);
      return { record, after: new Settle(sent, received?.side ?? null, received?.array ?? null) };
    });
  }

  scatter<T extends TypedArray>(data: Maybe<BufferLike>, root: number, into: Maybe<Sent<T>>, tag?: number) {
    return this.attempt("scatter", (): Started<T | null> => {
      const isRoot = this.isRoot("scatter", root);
      const { peers, isInter } = this.core;
      const inPlace = isRoot && into === IN_PLACE;
      if (inPlace) this.refuseInPlace("scatter");
      const source = isRoot ? this.needed("scatter", data) : null;
      const target = (isInter ? root >= 0 : !inPlace) ? this.needed("scatter", into) : null;
      this.checkApart("scatter", source ?? undefined, target);
      const sent = source === null ? null : Side.of(this.buffers, source, true);
      const received = target === null ? null : Side.of(this.buffers, target, false);
      const bytes = received?.bytes ?? (source === null ? 0 : this.share("scatter", source, peers.size));
      checkSize(bytes * (isRoot || !isInter ? peers.size : this.core.size));
      if (source !== null) this.checkRoom("scatter", source, bytes * peers.size);
      const call = { bytes, root, inPlace, tag };
      const [from, to] = [sent?.pointer ?? nowhere, received?.pointer ?? nowhere];
      const record = this.operations.startEqual(this.core, "scatter", from, to, call);
      return { record, after: new Settle(sent, received, target === null ? null : (arrayOf(target) as T)) };
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
      const inPlace = isRoot && into === IN_PLACE;
      if (inPlace) this.refuseInPlace("scatter");
      const target = (this.core.isInter ? root >= 0 : !inPlace) ? this.needed("scatter", into) : null;
      if (isRoot) this.checkCounts("scatter", layout?.counts);
      const source = isRoot ? Side.ofBlocks(this.buffers, this.needed("scatter", data), layout!, true) : null;
      const received = target === null ? null : Side.of(this.buffers, target, false);
      const bytes = received?.bytes ?? 0;
      if (source !== null && received !== null) this.#checkOwn("scatter", source.blocks, bytes);
      const collective = {
        kind: "scatterv",
        ...this.core.place,
        root,
        bytes,
        blocks: source?.blocks,
        inPlace,
      } as const;
      const [from, to] = [source?.pointer ?? nowhere, received?.pointer ?? nowhere];
      const record = this.operations.startBlocks(this.core, collective, from, to, null, tag);
      return { record, after: new Settle(source, received, target === null ? null : (arrayOf(target) as T)) };
    });
  }

  allgather<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("gather", () => {
      const { peers, isInter, place } = this.core;
      const inPlace = data === IN_PLACE;
      if (inPlace) this.refuseInPlace("gather");
      const send = inPlace ? null : this.needed<BufferLike<T>>("gather", data);
      const target = into ?? this.#room("gather", send, peers.size);
      this.checkApart("gather", data, target);
      const sent = send === null ? null : Side.of(this.buffers, send, true);
      const block = sent === null || isInter ? this.share("gather", target, peers.size) : sent.bytes;
      this.checkRoom("gather", target, block * peers.size);
      const received = Side.of(this.buffers, target, inPlace);
      const from = sent?.pointer ?? nowhere;
      let record: Started<T>["record"];
      if (isInter) {
        const blocks = equalBlocks(peers.size, block);
        const collective = { kind: "allgatherv", ...place, bytes: sent!.bytes, blocks } as const;
        record = this.operations.startBlocks(this.core, collective, from, received.pointer, null, tag);
      } else {
        const call = { bytes: block, inPlace, tag };
        record = this.operations.startEqual(this.core, "allgather", from, received.pointer, call);
      }
      return { record, after: new Settle(sent, received, arrayOf(target)) };
    });
  }

  allgatherv<T extends TypedArray>(data: Sent<T>, layout: Layout, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("gather", () => {
      const { isInter, place, memberNodes: nodes } = this.core;
      const inPlace = data === IN_PLACE;
      if (inPlace) this.refuseInPlace("gather");
      const send = inPlace ? null : this.needed<BufferLike<T>>("gather", data);
      const sent = send === null ? null : Side.of(this.buffers, send, true);
      const { side, array } = this.#target("gather", send, layout, into, inPlace);
      if (sent !== null && !isInter) this.#checkOwn("gather", side.blocks, sent.bytes);
      const bytes = sent?.bytes ?? 0;
      const collective = { kind: "allgatherv", ...place, bytes, blocks: side.blocks, inPlace, nodes } as const;
      const from = sent?.pointer ?? nowhere;
      const record = this.operations.startBlocks(this.core, collective, from, side.pointer, null, tag);
      return { record, after: new Settle(sent, side, array) };
    });
  }

  alltoall<T extends TypedArray>(data: Sent<T>, into?: BufferLike<T>, tag?: number): Started<T> {
    return this.attempt("exchange", () => {
      const { peers, isInter, place } = this.core;
      const inPlace = data === IN_PLACE;
      if (inPlace) this.refuseInPlace("exchange");
      const send = inPlace ? null : this.needed<BufferLike<T>>("exchange", data);
      const target = into ?? this.#room("exchange", send, 1);
      this.checkApart("exchange", data, target);
      const bytes = this.share("exchange", isInter ? target : (send ?? target), peers.size);
      this.checkRoom("exchange", target, bytes * peers.size);
      const sent = send === null ? null : Side.of(this.buffers, send, true);
      const received = Side.of(this.buffers, target, inPlace);
      const from = sent?.pointer ?? nowhere;
      let record: Started<T>["record"];
      if (isInter) {
        const sends = equalBlocks(peers.size, this.share("exchange", send!, peers.size));
        const collective = { kind: "alltoallv", ...place, sends, receives: equalBlocks(peers.size, bytes) } as const;
        record = this.operations.startBlocks(this.core, collective, from, received.pointer, null, tag);
      } else {
        record = this.operations.startEqual(this.core, "alltoall", from, received.pointer, { bytes, inPlace, tag });
      }
      return { record, after: new Settle(sent, received, arrayOf(target)) };
    });
  }

  alltoallv<T extends TypedArray>(
    data: Sent<T>,
    { sends, receives }: BothLayouts,
    into?: BufferLike<T>,
    tag?: number,
  ): Started<T> {
    return this.attempt("exchange", () => {
      const inPlace = data === IN_PLACE;
      if (inPlace) this.refuseInPlace("exchange");
      const send = inPlace ? null : this.needed<BufferLike<T>>("exchange", data);
      if (!inPlace) this.checkCounts("exchange", sends.counts);
      const { side, array } = this.#target("exchange", send, receives, into, inPlace);
      const sent = send === null ? null : Side.ofBlocks(this.buffers, send, sends, true);
      return this.#exchange(sent, side, array, inPlace, tag);
    });
  }

  /** A buffer for each peer, with its own datatype; null where nothing is sent or received. */
  alltoallw(
    parts: readonly (BufferLike | null)[] | InPlace,
    into: readonly (BufferLike | null)[],
    tag?: number,
  ): Started<readonly (BufferLike | null)[]> {
    return this.attempt("exchange", () => {
      const inPlace = parts === IN_PLACE;
      if (inPlace) this.refuseInPlace("exchange");
      else this.checkCounts("exchange", parts);
      this.checkCounts("exchange", into);
      const sent = inPlace ? null : Side.ofParts(this.buffers, parts, true);
      const received = Side.ofParts(this.buffers, into, inPlace);
      return this.#exchange(sent, received, into, inPlace, tag);
    });
  }

  #exchange<R>(sent: Side | null, received: Side, result: R, inPlace: boolean, tag?: number): Started<R> {
    const { blocks: receives } = received;
    const sends = sent?.blocks ?? receives;
    if (!this.core.isInter && sent !== null) this.#checkOwn("exchange", sends, receives.bytes[this.core.rank]!);
    const collective = { kind: "alltoallv", ...this.core.place, sends, receives, inPlace } as const;
    const from = sent?.pointer ?? nowhere;
    const record = this.operations.startBlocks(this.core, collective, from, received.pointer, null, tag);
    return { record, after: new Settle(sent, received, result) };
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
    load: boolean,
  ): { side: Side; array: T } {
    this.checkCounts(what, layout?.counts);
    if (into === undefined && send === null) this.#room(what, send, 1);
    const target = into ?? newArrayForBlocks(send!, layout!);
    this.checkApart(what, send ?? undefined, target);
    return { side: Side.ofBlocks(this.buffers, target, layout!, load), array: arrayOf(target) };
  }

  /** What a rank sends itself must be as long as what it receives from itself. */
  #checkOwn(what: string, blocks: Blocks, bytes: number): void {
    const own = blocks.bytes[this.core.rank];
    if (this.core.isInter || own === bytes) return;
    throw new MpiError(
      ErrorClass.COUNT,
      `Cannot ${what}: this rank's own part has ${bytes} bytes on one side and ${own} on the other`,
    );
  }
}
