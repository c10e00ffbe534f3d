/**
 * Revoking communicators (MPIX_Comm_revoke): everything on them ends with REVOKED, in every member, whatever it waits for.
 *
 * A revocation travels by reliable broadcast over a graph in which every member has ⌈log2 p⌉ neighbours (revocation-graph.ts). A member
 * that hears of it first tells its neighbours before it does anything else about it, so it has reached all after ⌈log2 p⌉ steps. The
 * graph is one of the members that live: a member that hears of a death tells those that have become its neighbours. So a revocation that
 * has reached one member which lives on reaches all, however many die.
 *
 * A member without the communicator, because it has freed it or does not have it yet, does not know its members, and cannot pass the
 * revocation on. It answers so, and the member that told it tells all others.
 *
 * Members may hear of it before their own making of the communicator is over; then it is revoked as soon as it is made. Members that give up the making
 * of a communicator revoke its context as well, and say so: that ends the making for all that are still in it.
 */
import type { CommRank, WorldRank } from "../base/brand.ts";
import { lives, saves } from "../base/saved-classes.ts";
import { Group } from "../comm/group.ts";
import { PacketKind } from "../wire/packet.ts";
import type { Collectives } from "./collectives.ts";
import type { Communicator } from "./communicator.ts";
import { unionOf } from "./communicators/member-order.ts";
import { collectiveContext, partitionedContext, programContext } from "./context.ts";
import type { Failures } from "./failures.ts";
import { neighboursOf } from "./revocation-graph.ts";

/** Communicators that we do not know and hear that they are revoked: more are not believed. */
const strangersMax = 1 << 16;

/** In the second word of a packet: members have given up the making; the answer of a member that cannot pass it on. */
const givenUpBit = 1;
const endBit = 2;

/** The parts of a process that revocations use. */
interface RevokingProcess {
  readonly rank: number;
  readonly engine: {
    readonly outbox: { announce(rank: number, kind: PacketKind, said: readonly number[]): void };
    /** Ends what is under way in a context, and refuses what comes. */
    revoke(context: number): void;
  };
  readonly collectives: Pick<Collectives, "revoked" | "isMaking">;
  /** The dead in the order of their deaths. */
  readonly failures: Pick<Failures, "ranks">;
  /** By context. */
  readonly communicators: ReadonlyMap<number, Communicator>;
}

/** A context that is revoked, as one member knows it. */
class Revocation {
  readonly context: number;
  /** Members gave up while the communicator was made. */
  isGivenUp = false;
  /** Empty: not known here, and nobody is told. */
  members: Group = Group.empty;
  /** Members that have been told, or have told us. */
  readonly told = new Set<WorldRank>();

  constructor(context: number) {
    this.context = context;
  }
}

export class Revocations {
  private readonly process: RevokingProcess;
  /** By context, whether there is a communicator here, there was one or there will be one. */
  private readonly contexts = new Map<number, Revocation>();

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

  /** Has a member given up the making of that communicator? */
  isGivenUp(context: number): boolean {
    return this.contexts.get(context)?.isGivenUp === true;
  }

  /** `isGivenUp`: the communicator is being made, and never will be. */
  revoke(comm: Communicator, isGivenUp = false): void {
    if (comm.isRevoked) return;
    const { engine, collectives } = this.process;
    const { context } = comm;
    comm.isRevoked = true;
    const revocation = this.revocationOf(context);
    if (isGivenUp) revocation.isGivenUp = true;
    revocation.members = unionOf(comm);
    // First of all: channels are FIFO. A sender that is no neighbour hears it from the refusal of its message (core/p2p/arrivals.ts).
    this.tellNeighbours(revocation);
    for (const each of [context, comm.collectiveContext, partitionedContext(context)]) engine.revoke(each);
    collectives.revoked(comm);
  }

  /** A packet of another process: a member, if it is one that we know. */
  take(source: WorldRank, [said = 0, bits = 0]: readonly number[]): void {
    const context = programContext(said);
    if ((bits & endBit) !== 0) this.ended(context, source);
    else this.heard(context, source, (bits & givenUpBit) !== 0);
  }

  private heard(context: number, source: WorldRank, isGivenUp: boolean): void {
    const { communicators, collectives, engine } = this.process;
    const known = this.contexts.get(context);
    if (known !== undefined) {
      this.heardAgain(known, source, isGivenUp);
      return;
    }
    const comm = communicators.get(context);
    if (comm !== undefined) {
      if (!unionOf(comm).has(source)) return;
      this.revocationOf(context).told.add(source);
      this.revoke(comm, isGivenUp);
      return;
    }
    if (this.contexts.size >= strangersMax) return;
    const revocation = this.revocationOf(context);
    revocation.isGivenUp = isGivenUp;
    revocation.told.add(source);
    this.say(revocation, source, endBit);
    // The program has freed it and may have something under way on it, or it is being made: then that goes on first.
    engine.revoke(context);
    engine.revoke(partitionedContext(context));
    if (!collectives.isMaking(context)) engine.revoke(collectiveContext(context));
  }

  /** A communicator is there, and the others may have revoked it already. */
  made(comm: Communicator): void {
    if (this.contexts.has(comm.context)) this.revoke(comm);
  }

  private heardAgain(revocation: Revocation, source: WorldRank, isGivenUp: boolean): void {
    const isNews = isGivenUp && !revocation.isGivenUp;
    if (isNews) {
      revocation.isGivenUp = true;
      revocation.told.clear();
    }
    revocation.told.add(source);
    if (revocation.members.size === 0) this.say(revocation, source, endBit);
    else if (isNews) this.tellNeighbours(revocation);
  }

  /** That member cannot pass it on. */
  private ended(context: number, source: WorldRank): void {
    const revocation = this.contexts.get(context);
    if (revocation?.members.has(source) !== true) return;
    for (const member of revocation.members.worldRanks()) this.tell(revocation, member);
  }

  /** A process is dead: others have become our neighbours. */
  peerFailed(rank: WorldRank): void {
    for (const revocation of this.contexts.values()) {
      if (revocation.members.has(rank)) this.tellNeighbours(revocation);
    }
  }

  private tellNeighbours(revocation: Revocation): void {
    const { members } = revocation;
    const { failures, rank } = this.process;
    const dead: number[] = [];
    for (const each of failures.ranks) if (members.has(each)) dead.push(members.rankOf(each));
    for (const place of neighboursOf(members.rankOf(rank as WorldRank), members.size, dead)) {
      this.tell(revocation, members.worldRank(place as CommRank));
    }
  }

  private tell(revocation: Revocation, member: WorldRank): void {
    if (revocation.told.has(member) || member === (this.process.rank as WorldRank)) return;
    revocation.told.add(member);
    this.say(revocation, member, 0);
  }

  private say({ context, isGivenUp }: Revocation, member: WorldRank, bits: number): void {
    this.process.engine.outbox.announce(member, PacketKind.REVOKE, [context, (isGivenUp ? givenUpBit : 0) | bits]);
  }

  private revocationOf(context: number): Revocation {
    const revocation = this.contexts.get(context) ?? new Revocation(context);
    this.contexts.set(context, revocation);
    return revocation;
  }
}

saves({ Revocation });
lives({ Revocations });
