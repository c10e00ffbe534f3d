/**
 * The excuses that deaths give: the errors that a request may end with, and the ranks of which nothing is expected any more.
 */
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { Evidence } from "./checker.ts";

/** A request that ended with an error. */
export interface FailedRequest {
  readonly error: number;
  /** The communicators of the request. */
  readonly communicators: readonly number[];
  /** World ranks that the request depended on. */
  readonly peers: readonly number[];
  /** The request would have taken a message of any of them. */
  readonly isWildcard?: boolean;
}

/**
 * PROC_FAILED needs a dead peer, PROC_FAILED_PENDING a dead peer of a wildcard, REVOKED a revocation; there is no other excuse.
 */
export function isExcused({ dead, observation }: Evidence, request: FailedRequest): boolean {
  const { error, communicators, peers, isWildcard = false } = request;
  switch (error) {
    case ErrorClass.PROC_FAILED:
      // A wildcard that has taken a message of a dead rank names its sender.
      return peers.some((rank) => dead.has(rank));
    case ErrorClass.PROC_FAILED_PENDING:
      return isWildcard && peers.some((rank) => dead.has(rank));
    case ErrorClass.REVOKED:
      return communicators.some((communicator) => observation.revoked.has(communicator));
    default:
      return false;
  }
}

/** The rank lives and has not given up: all of its script must have happened. */
export function isReliable({ dead, observation }: Evidence, rank: number): boolean {
  return !dead.has(rank) && !observation.gaveUp.has(rank);
}
