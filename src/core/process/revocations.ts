/**
 * Revoking communicators (MPIX_Comm_revoke): everything on them ends with REVOKED, in every member, whatever it waits for.
 *
 * A revocation travels by reliable broadcast: a member that hears of it first tells every other member before it does anything
 * else about it. So it reaches all members that live as soon as it has reached one that does, also when the first one dies on the way.
 *
 * Members may hear of it before their own making of the communicator is over; then it is revoked as soon as it is made.
 */
import type { WorldRank } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import type { Engine } from "../p2p/engine.ts";
import { PacketKind } from "../wire/packet.ts";
import type { Collectives } from "./collectives.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";
import { collectiveContext, partitionedContext } from "./context.ts";

/** Communicators that we do not know and hear that they are revoked: more are not believed. */
const strangersMax = 1 << 16;

/** The parts of a process that revocations use. */
interface RevokingProcess {
  readonly rank: number;
  readonly engine: Engine;
  readonly collectives: Collectives;
  /** By context. */
  readonly communicators: ReadonlyMap<number, Communicator>;
}

export class Revocations {
  private readonly process: RevokingProcess;
  /** Their contexts, whether there is a communicator here, there was one or there will be one. */
  private readonly contexts = new Set<number>();

  constructor(process: RevokingProcess) {
    this.process = process;
  }

  /** How many there are. */
  get count(): number {
    return this.contexts.size;
  }

  /** Such a context is not given to a communicator again. */
  has(context: number): boolean {
    return this.contexts.has(context);
  }

  revoke(comm: Communicator): void {
    if (comm.isRevoked) return;
    const { engine, collectives, rank } = this.process;
    const { context } = comm;
    comm.isRevoked = true;
    this.contexts.add(context);
    // First of all: channels are FIFO, so a sender whose message we refuse has heard why.
    for (const member of unionOf(comm).worldRanks()) {
      if (member !== (rank as WorldRank)) engine.outbox.announce(member, PacketKind.REVOKE, [context]);
    }
    for (const each of [context, comm.collectiveContext, partitionedContext(context)]) engine.revoke(each);
    collectives.revoked(comm);
  }

  /** Another process says so: a member, if it is one that we know. */
  heard(context: number, source: WorldRank): void {
    if (this.contexts.has(context)) return;
    const { communicators, collectives, engine } = this.process;
    const comm = communicators.get(context);
    if (comm !== undefined) {
      if (unionOf(comm).has(source)) this.revoke(comm);
      return;
    }
    if (this.contexts.size >= strangersMax) return;
    this.contexts.add(context);
    // The program has freed it and may have something under way on it, or it is being made: then that goes on first.
    engine.revoke(context);
    engine.revoke(partitionedContext(context));
    if (!collectives.isMaking(context)) engine.revoke(collectiveContext(context));
  }

  /** A communicator is there, and the others may have revoked it already. */
  made(comm: Communicator): void {
    if (this.contexts.has(comm.context)) this.revoke(comm);
  }
}

lives({ Revocations });
