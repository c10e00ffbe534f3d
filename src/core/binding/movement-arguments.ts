/**
 * Movements (movement.ts) made of the arguments of a call: the rules of MPI 5.0 §6.3 to §6.8 and §8.6 about roots, MPI_IN_PLACE and
 * the sides that a rank has. A face says how its buffers are read; a buffer that does not count on this rank is never read.
 */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { checkInPlace, checkSize, isRoot, type NamedCommunicator, neighbourhoodOf } from "./checks.ts";
import { bytesOf, type Items } from "./collective-side.ts";
import type { Movement } from "./movement.ts";

/** Data of this rank alone. */
export interface OwnBuffer<I extends Items> {
  readonly isInPlace: boolean;
  items(): I;
}

/** Data of all peers. */
interface SharedBuffer<I extends Items> {
  /**
   * As many items for each of `peers`, side by side. `own`: the bytes of this rank's own part, where its other buffer tells; null: it
   * does not.
   */
  equal(peers: number, own: number | null): EqualItems<I>;
  /** Items for each of `peers`. `own`: likewise. */
  parts(peers: number, own: number | null): readonly I[];
}

export interface EqualItems<I extends Items> {
  readonly items: I;
  /** Of one peer. */
  readonly bytes: number;
}

/** What is sent in an exchange. */
export interface SharedSource<I extends Items> extends SharedBuffer<I> {
  readonly isInPlace: boolean;
}

/** The sides that this rank has in a collective. */
interface Roles {
  /** Has it the data of all peers? */
  readonly hasShared: boolean;
  readonly hasOwn: boolean;
  readonly inPlace: boolean;
}

/** `root`: null where every rank is one. */
function rolesIn(comm: NamedCommunicator, verb: string, root: number | null, isInPlace: boolean): Roles {
  const hasShared = root === null || isRoot(comm, verb, root);
  const inPlace = hasShared && isInPlace;
  if (inPlace) checkInPlace(comm, verb);
  return { hasShared, inPlace, hasOwn: root !== null && comm.core.isInter ? root >= 0 : !inPlace };
}

const bytesOrNull = <I extends Items>(items: I | null): number | null => (items === null ? null : bytesOf(items));

type Rooted = "gather" | "scatter";

/** Gather: every rank sends its own data, the root gets all. Scatter: the other way round. */
export function rootedMovement<I extends Items>(
  comm: NamedCommunicator,
  kind: Rooted,
  own: OwnBuffer<I>,
  shared: SharedBuffer<I>,
  root: number,
): Movement<I> {
  const { isInter, peers, size } = comm.core;
  const { hasShared, hasOwn, inPlace } = rolesIn(comm, kind, root, own.isInPlace);
  const part = hasOwn ? own.items() : null;
  const ownBytes = bytesOrNull(part);
  const whole = hasShared ? shared.equal(peers.size, ownBytes) : null;
  const bytes = whole?.bytes ?? ownBytes ?? 0;
  // Every rank knows what the root has: no rank shall wait for a root that had to refuse.
  checkSize(bytes * (hasShared || !isInter ? peers.size : size));
  const all = whole?.items ?? null;
  const isKnown = ownBytes !== null && whole !== null;
  if (kind === "gather") {
    const both = isKnown ? { sent: ownBytes, room: bytes } : null;
    return { kind, from: part, to: all, bytes, root, inPlace, own: both };
  }
  const both = isKnown ? { sent: bytes, room: ownBytes } : null;
  return { kind, from: all, to: part, bytes, root, inPlace, own: both };
}

/** The same with data of any length for each rank. */
export function rootedPartsMovement<I extends Items>(
  comm: NamedCommunicator,
  kind: Rooted,
  own: OwnBuffer<I>,
  shared: SharedBuffer<I>,
  root: number,
): Movement<I> {
  const { hasShared, hasOwn, inPlace } = rolesIn(comm, kind, root, own.isInPlace);
  const part = hasOwn ? own.items() : null;
  const all = hasShared ? shared.parts(comm.core.peers.size, bytesOrNull(part)) : null;
  return kind === "gather"
    ? { kind: "gatherv", from: part, to: all, root, inPlace }
    : { kind: "scatterv", from: all, to: part, root, inPlace };
}

export function allgatherMovement<I extends Items>(
  comm: NamedCommunicator,
  own: OwnBuffer<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const { isInter, peers } = comm.core;
  const { inPlace } = rolesIn(comm, "gather", null, own.isInPlace);
  const from = inPlace ? null : own.items();
  const sent = bytesOrNull(from);
  const { items: to, bytes } = shared.equal(peers.size, isInter ? null : sent);
  // The two groups of an inter-communicator may give different lengths.
  if (isInter) return { kind: "allgatherv", from, to };
  return { kind: "allgather", from, to, bytes, inPlace, own: sent === null ? null : { sent, room: bytes } };
}

export function allgathervMovement<I extends Items>(
  comm: NamedCommunicator,
  own: OwnBuffer<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const { isInter, peers } = comm.core;
  const { inPlace } = rolesIn(comm, "gather", null, own.isInPlace);
  const from = inPlace ? null : own.items();
  const to = shared.parts(peers.size, isInter ? null : bytesOrNull(from));
  return { kind: "allgatherv", from, to, inPlace };
}

export function alltoallMovement<I extends Items>(
  comm: NamedCommunicator,
  source: SharedSource<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const { isInter, peers } = comm.core;
  const { inPlace } = rolesIn(comm, "exchange", null, source.isInPlace);
  const sent = inPlace ? null : source.equal(peers.size, null);
  const { items: to, bytes } = shared.equal(peers.size, isInter ? null : (sent?.bytes ?? null));
  const from = sent?.items ?? null;
  if (isInter) return { kind: "alltoallv", from, to };
  return { kind: "alltoall", from, to, bytes, inPlace, own: sent === null ? null : { sent: sent.bytes, room: bytes } };
}

/** Also with a datatype for each peer: MPI_Alltoallw. */
export function alltoallvMovement<I extends Items>(
  comm: NamedCommunicator,
  source: SharedSource<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const { isInter, peers, rank } = comm.core;
  const { inPlace } = rolesIn(comm, "exchange", null, source.isInPlace);
  const from = inPlace ? null : source.parts(peers.size, null);
  const to = shared.parts(peers.size, isInter || from === null ? null : bytesOf(from[rank]!));
  return { kind: "alltoallv", from, to, inPlace };
}

const withNeighbours = "exchange with the neighbours";

function hoodOf(comm: NamedCommunicator, { isInPlace }: { readonly isInPlace: boolean }) {
  if (!isInPlace) return neighbourhoodOf(comm, withNeighbours);
  throw new MpiError(ErrorClass.BUFFER, `Cannot ${withNeighbours} in place: that has no meaning here`);
}

/** `form`: as many items of every neighbour, or parts of any length. */
export function neighborGather<I extends Items>(
  comm: NamedCommunicator,
  form: "equal" | "parts",
  own: OwnBuffer<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const hood = hoodOf(comm, own);
  const from = own.items();
  const { length } = hood.sources;
  const to = form === "equal" ? shared.equal(length, null).items : shared.parts(length, null);
  return { kind: "neighbor_allgatherv", hood, from, to };
}

export function neighborExchange<I extends Items>(
  comm: NamedCommunicator,
  form: "equal" | "parts",
  source: SharedSource<I>,
  shared: SharedBuffer<I>,
): Movement<I> {
  const hood = hoodOf(comm, source);
  const [outdegree, indegree] = [hood.destinations.length, hood.sources.length];
  if (form === "parts") {
    const from = source.parts(outdegree, null);
    return { kind: "neighbor_alltoallv", hood, from, to: shared.parts(indegree, null) };
  }
  const from = source.equal(outdegree, null).items;
  return { kind: "neighbor_alltoallv", hood, from, to: shared.equal(indegree, null).items };
}
