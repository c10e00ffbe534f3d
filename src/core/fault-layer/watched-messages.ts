/**
 * The messages of the program, started on the base at once and checked at their end (thesis §5.2.1, §5.3.1, §5.3.3).
 *
 * A send is over for the program when the base is done with it and its receiver has answered that it is alive, as of the moment of the send;
 * it need not have received anything. A send that the base is not done with when its receiver is known to be dead fails at once, and
 * the base finishes it later: the dead receives it by command. On a revoked communicator it is cancelled, and the base knows whether its receiver, who
 * lives and may not have heard of the revocation, had it before.
 *
 * A receive fails when the dead itself has said that it is dead, because what it sent in life comes before that word. A receive from anybody
 * stands still when a member is dead that the program has not acknowledged.
 */
import type { RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE } from "../base/constants.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Communicator } from "../process/communicator.ts";
import { R_STATE, RecordFlag, RecordState } from "../request/records.ts";
import { type Handshakes, Standing } from "./handshakes.ts";
import type { KnownDeaths } from "./known-deaths.ts";

interface Sending {
  readonly comm: Communicator;
  readonly peer: WorldRank;
  /** The question whether its receiver is alive. */
  readonly question: number;
  /** How it ended for the program, whatever the base does; 0: as the base says. */
  error: ErrorCode;
  /** The communicator is revoked: the base was asked to cancel it, and says whether its receiver has it. */
  isRevoked: boolean;
}

interface Receiving {
  readonly comm: Communicator;
  /** World rank, or ANY_SOURCE. */
  readonly source: number;
}

export class WatchedMessages {
  readonly #engine: Engine;
  readonly #handshakes: Handshakes;
  readonly #deaths: KnownDeaths;
  readonly #sends = new Map<RecordId, Sending>();
  readonly #receives = new Map<RecordId, Receiving>();
  /** Sends of partitions that are not all ready. */
  readonly #held = new Map<RecordId, Communicator>();

  constructor(engine: Engine, handshakes: Handshakes, deaths: KnownDeaths) {
    this.#engine = engine;
    this.#handshakes = handshakes;
    this.#deaths = deaths;
  }

  sending(request: RecordId, comm: Communicator, peer: WorldRank, question: number): void {
    this.#sends.set(request, { comm, peer, question, error: 0, isRevoked: false });
  }

  receiving(request: RecordId, comm: Communicator, source: number): void {
    this.#receives.set(request, { comm, source });
    if (source !== ANY_SOURCE && this.#deaths.isConfirmed(source as WorldRank)) {
      this.#fail(request, ErrorClass.PROC_FAILED);
    }
  }

  holding(request: RecordId, comm: Communicator): void {
    this.#held.set(request, comm);
  }

  /** Null: it is no send of these. */
  isSendOver(request: RecordId): boolean | null {
    const sending = this.#sends.get(request);
    if (sending === undefined) return null;
    const { peer, question, error, isRevoked } = sending;
    if (error !== 0) return true;
    if (isRevoked && this.#engine.isComplete(request)) {
      if (this.#engine.records.hasFlag(request, RecordFlag.CANCELLED)) sending.error = ErrorClass.REVOKED;
      return true;
    }
    const standing = this.#handshakes.standingOf(peer, question);
    if (standing === Standing.DEAD) sending.error = ErrorClass.PROC_FAILED;
    return standing === Standing.DEAD || (standing === Standing.ALIVE && this.#engine.isComplete(request));
  }

  /** The error of a send, if it is not that of the base; 0: none. */
  errorOf(request: RecordId): ErrorCode {
    return this.#sends.get(request)?.error ?? 0;
  }

  forget(request: RecordId): void {
    this.#sends.delete(request);
    this.#receives.delete(request);
    this.#held.delete(request);
  }

  /** A process is known to be dead. */
  peerDied(peer: WorldRank): void {
    for (const [request, sending] of this.#sends) {
      if (sending.peer === peer && !this.#engine.isComplete(request)) sending.error ||= ErrorClass.PROC_FAILED;
    }
  }

  /** Nothing of it is on its way any more. */
  peerSilent(peer: WorldRank): void {
    for (const [request, { source }] of this.#receives) {
      if (source === peer) this.#fail(request, ErrorClass.PROC_FAILED);
    }
  }

  revoked(comm: Communicator): void {
    const engine = this.#engine;
    for (const [request, sending] of this.#sends) {
      if (sending.comm !== comm || engine.isComplete(request)) continue;
      sending.isRevoked = true;
      engine.cancel(request);
    }
    for (const [request, held] of this.#held) {
      if (held === comm && !engine.isComplete(request)) engine.completion.complete(request, ErrorClass.REVOKED);
    }
    for (const [request, receiving] of this.#receives) {
      if (receiving.comm !== comm) continue;
      if (engine.matching.isStalled(request)) engine.completion.complete(request, ErrorClass.REVOKED);
      else this.#fail(request, ErrorClass.REVOKED);
    }
  }

  /** Ends a receive that has no message yet. One that has goes on: the bytes come. */
  #fail(request: RecordId, error: ErrorCode): void {
    const { records, matching } = this.#engine;
    if (records.get(request, R_STATE) === RecordState.PENDING) matching.fail(request, error);
  }
}
