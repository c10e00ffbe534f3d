/**
 * The processes that have died, and which of these deaths the program has acknowledged (ULFM). Deaths come from the dispatcher,
 * in one order, which is the order of everything here. A program that has not acknowledged a dead member of a communicator cannot receive from ANY_SOURCE
 * there: it might wait for the dead for ever.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE } from "../base/constants.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import { Group } from "../comm/group.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";

export class Failures {
  private readonly engine: Engine;
  readonly ranks: WorldRank[] = [];

  constructor(engine: Engine) {
    this.engine = engine;
  }

  get count(): number {
    return this.ranks.length;
  }

  /** Is a member dead, on either side of an inter-communicator? */
  isAmong(comm: Communicator): boolean {
    const { ranks } = this;
    for (let i = 0; i < ranks.length; i++) if (isMember(comm, ranks[i]!)) return true;
    return false;
  }

  /** The dead members of a communicator, on both sides of an inter-communicator. */
  of(comm: Communicator): Group {
    const members = unionOf(comm);
    return Group.of(this.ranks.filter((rank) => members.has(rank)));
  }

  /** The dead members that the program has acknowledged. */
  acknowledgedOf(comm: Communicator): Group {
    return Group.of(this.of(comm).worldRanks().slice(0, comm.acknowledged));
  }

  /** The program knows of the first `count` of the dead members. How many it knows of now. */
  acknowledge(comm: Communicator, count: number): number {
    comm.acknowledged = Math.max(comm.acknowledged, Math.min(count, this.of(comm).size));
    this.update(comm);
    return comm.acknowledged;
  }

  /** Has the engine refuse receives from ANY_SOURCE, or go on with them. */
  update(comm: Communicator): void {
    const isPending = this.isPending(comm);
    this.engine.refusals.setWildcards(comm.context, isPending);
    if (!isPending) this.engine.matching.resumeWildcards(comm.context);
  }

  private isPending(comm: Communicator): boolean {
    const unknown = this.of(comm).worldRanks().slice(comm.acknowledged);
    return unknown.some((rank) => comm.peers.has(rank));
  }

  /** The error of a probe with this source (rank in the communicator) for which no message can come any more; 0: one can. */
  errorOfProbe(comm: Communicator, source: number): number {
    if (comm.isRevoked) return ErrorClass.REVOKED;
    if (this.count === 0) return 0;
    if (source === ANY_SOURCE) return this.isPending(comm) ? ErrorClass.PROC_FAILED_PENDING : 0;
    const isDead = source >= 0 && this.engine.peers.hasFailed(comm.peers.worldRank(source as CommRank));
    return isDead ? ErrorClass.PROC_FAILED : 0;
  }

  /** Throws PROC_FAILED when a member is dead; shared memory that it may have left half written is given up. */
  checkMembers(comm: Communicator): void {
    const [dead] = this.ranks.filter((rank) => comm.group.has(rank));
    if (dead === undefined) return;
    comm.board = null;
    const rank = comm.group.rankOf(dead);
    throw new MpiError(
      ErrorClass.PROC_FAILED,
      `Cannot complete the collective: rank ${rank} of the communicator has failed`,
    );
  }
}

export const isMember = ({ group, remote }: Communicator, rank: WorldRank): boolean =>
  group.has(rank) || remote?.has(rank) === true;

lives({ Failures });
