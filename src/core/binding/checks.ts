/**
 * Checks of arguments that both faces have, and the words for a mistake. A check throws an `MpiError`, which the face gives to the
 * error handler.
 */
import { ANY_SOURCE, ANY_TAG, CART, PROC_NULL, ROOT, TAG_UB } from "../base/constants.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import type { Neighbourhood } from "../coll/intra/neighbor-direct.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Operations } from "./operations.ts";

/** A communicator as its program calls it. */
export interface NamedCommunicator {
  readonly core: Communicator;
  /** The name of the communicator in messages to people. */
  readonly label: string;
}

/** Lengths are words of 32 bits with a sign in packets and records: of a message, and of each buffer of a collective. */
export const messageBytesMax = 2 ** 31 - 1;

// A number that is no whole number, which TypeScript programs can give, differs from what `>>>` makes of it.
const isRank = (rank: number, size: number): boolean => rank >>> 0 === rank && rank < size;
const isTag = (tag: number): boolean => tag >>> 0 === tag && tag <= TAG_UB;

/** The usual message, which need not be looked at any closer: with a rank of an open communicator, under a tag. */
export const isUsual = (core: Communicator, rank: number, tag: number): boolean =>
  isRank(rank, core.peers.size) && isTag(tag) && !core.freed;

export function checkOpen({ core, label }: NamedCommunicator, verb: string): void {
  if (core.freed) throw new MpiError(ErrorClass.COMM, `Cannot ${verb}: communicator ${label} has been freed`);
}

export function checkDest(comm: NamedCommunicator, dest: number): void {
  if (!isRank(dest, comm.core.peers.size) && dest !== PROC_NULL) refuseRank(comm, "send to", dest);
}

export function checkSource(comm: NamedCommunicator, source: number): void {
  if (!isRank(source, comm.core.peers.size) && source !== ANY_SOURCE && source !== PROC_NULL) {
    refuseRank(comm, "receive from", source);
  }
}

function refuseRank({ core, label }: NamedCommunicator, verb: string, rank: number): never {
  const ranks = `ranks 0 to ${core.peers.size - 1}`;
  throw new MpiError(ErrorClass.RANK, `Cannot ${verb} rank ${rank}: communicator ${label} has ${ranks}`);
}

/** The tag of a message that is sent, or of a new communicator. */
export function checkTag(tag: number): void {
  if (!isTag(tag)) refuseTag(tag, "");
}

/** The tag of a receive or of a probe. */
export function checkWantedTag(tag: number): void {
  if (!isTag(tag) && tag !== ANY_TAG) refuseTag(tag, ", or ANY_TAG");
}

function refuseTag(tag: number, orAny: string): never {
  throw new MpiError(ErrorClass.TAG, `Cannot use tag ${tag}: tags are whole numbers from 0 to ${TAG_UB}${orAny}`);
}

export function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 0) return;
  throw new MpiError(ErrorClass.COUNT, `Cannot use a count of ${count}: counts are whole numbers from 0`);
}

/** Of a message, or of one buffer of a collective. */
export function checkSize(bytes: number): void {
  if (bytes <= messageBytesMax) return;
  const most = `a message, and each buffer of a collective, has up to ${messageBytesMax}`;
  throw new MpiError(ErrorClass.COUNT, `Cannot move ${bytes} bytes at once: ${most}; move them in parts`);
}

/** Is this rank the root? Throws when the root is no rank. `verb`: the name of the collective in messages. */
export function isRoot({ core, label }: NamedCommunicator, verb: string, root: number): boolean {
  const { isInter, peers, rank } = core;
  if (isRank(root, peers.size) || (isInter && (root === ROOT || root === PROC_NULL))) {
    return root === (isInter ? ROOT : rank);
  }
  const ranks = `ranks 0 to ${peers.size - 1}`;
  const state = isInter ? `: the root is ROOT, PROC_NULL or one of ${ranks} of the other group` : ` has ${ranks}`;
  throw new MpiError(ErrorClass.ROOT, `Cannot ${verb} with root ${root}: communicator ${label}${state}`);
}

/** A buffer may be in place only where a rank has a part of its own. */
export function checkInPlace({ core }: NamedCommunicator, verb: string): void {
  if (!core.isInter) return;
  throw new MpiError(ErrorClass.ARG, `Cannot ${verb} in place: an inter-communicator has no rank's own part`);
}

export function checkScan({ core }: NamedCommunicator, kind: "scan" | "exscan"): void {
  if (!core.isInter) return;
  throw new MpiError(ErrorClass.COMM, `Cannot ${kind}: an inter-communicator has two groups, and no order of all`);
}

/** The neighbours of this rank in the communicator's topology. */
export function neighbourhoodOf({ core, label }: NamedCommunicator, verb: string): Neighbourhood {
  const { topology, rank } = core;
  if (topology === null) {
    const message = `Cannot ${verb}: communicator ${label} has no topology; make one that has`;
    throw new MpiError(ErrorClass.TOPOLOGY, message);
  }
  const { sources, destinations } = topology.neighbours(rank);
  return { rank, sources, destinations, cartesian: topology.kind === CART };
}

/** The error of a probe for which no message can come any more; null: one can. */
export function probeFailure(operations: Operations, { core }: NamedCommunicator, source: number): MpiError | null {
  const error = operations.probeError(core, source);
  switch (error) {
    case 0:
      return null;
    case ErrorClass.REVOKED:
      return new MpiError(error, "Cannot probe for a message: the communicator is revoked");
    case ErrorClass.PROC_FAILED:
      return new MpiError(error, `Cannot probe for a message of rank ${source}: it has failed`);
    default:
      return new MpiError(error, "Cannot probe for a message of any rank: one that failed is not acknowledged");
  }
}
