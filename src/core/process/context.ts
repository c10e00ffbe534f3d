/**
 * Context numbers of communicators. Rule 6 of the protocols: a context follows from its parent's context and a counter of
 * the parent, never from a counter shared by a node, so it is the same in every life and every replica.
 *
 * The number is a hash, so two communicators could be given the same one; members of a new communicator therefore agree that
 * none of them knows the candidate, and try the parent's next count otherwise. A context takes two numbers: even for
 * the program's messages, odd for collectives.
 */
import { asideBits } from "../p2p/unexpected-queue.ts";

export const worldContext = 2;
export const selfContext = 4;
/** The context of the barrier at the end of the job. */
export const finalContext = 6;
/** The context of the marks by which processes find out that nothing is under way, see settling.ts. */
export const quietContext = 9;
/** The parent's context of communicators that are made of a group alone. */
export const groupContext = 10;
/** The context in which the fault-simulation layers of two processes speak about each other, whatever communicators they share. */
export const layerContext = 12 | asideBits;
/** Lower contexts are the runtime's own. */
const contextsReserved = 16;

export function contextCandidate(parent: number, count: number, salt = 0): number {
  let hash =
    Math.imul(parent ^ 0x5bd1e995, 0x9e3779b1) ^ Math.imul(count + 1, 0x85ebca6b) ^ Math.imul(salt, 0xc2b2ae35);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x7feb352d);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x846ca68b);
  hash ^= hash >>> 16;
  const context = (hash & 0x3ffffffe) >>> 0;
  return context < contextsReserved ? context + contextsReserved : context;
}

/** The context of a world of processes that were spawned together: its first process is in no other world. */
export const spawnedWorldContext = (first: number): number => contextCandidate(worldContext, first, 1);

/** Takes the place of the parent's context where an inter-communicator to spawned processes is made: each spawn has its own. */
export const spawnSeed = (context: number, firstChild: number): number =>
  context ^ Math.imul(firstChild + 1, 0x9e3779b1);

/** The context of a communicator's own messages, from that of its collectives or its partitioned messages as well. */
export const programContext = (context: number): number => context & 0x3ffffffe;

/** The context of a communicator's collectives. */
export const collectiveContext = (context: number): number => context | 1;

/** The context of a communicator's partitioned messages: above those of communicators and their collectives. */
export const partitionedContext = (context: number): number => context | 0x40000000;

/** The context in which the fault-simulation layer speaks about a communicator: no message of the program, no collective is there. */
export const sideContext = (context: number): number => context | asideBits;
