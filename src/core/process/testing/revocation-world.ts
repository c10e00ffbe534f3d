/**
 * Revocations of one communicator by several processes over channels, chosen event by event from outside. Members may have the communicator
 * from the start, make it late, or free it early: then they cannot pass a revocation on by themselves.
 */
import assert from "node:assert/strict";
import type { WorldRank } from "../../base/brand.ts";
import { Group } from "../../comm/group.ts";
import { Communicator } from "../communicator.ts";
import { nodeMapOf } from "../node-map.ts";
import { Revocations } from "../revocations.ts";
import type { ScheduledWorld } from "./crash-schedules.ts";
import { type Fate, FifoChannels, placeOf, type ScheduledEvent } from "./fifo-channels.ts";

const context = 16;

/** What a member does, once: it revokes the communicator, makes it, frees it, or it only has it. */
export type RevocationRole = "revokes" | "makes" | "frees" | "has";

interface Member {
  readonly rank: number;
  readonly revocations: Revocations;
  readonly communicators: Map<number, Communicator>;
  readonly comm: Communicator;
  readonly role: RevocationRole;
  hasActed: boolean;
}

interface RevocationWorldOptions {
  /** By rank. */
  readonly roles: readonly RevocationRole[];
  readonly isLost?: Fate;
}

export class RevocationWorld implements ScheduledWorld {
  readonly channels: FifoChannels;
  private readonly members: readonly Member[];

  constructor({ roles, isLost }: RevocationWorldOptions) {
    this.channels = new FifoChannels(roles.length, isLost);
    this.members = roles.map((role, rank) => this.newMember(role, rank));
  }

  private newMember(role: RevocationRole, rank: number): Member {
    const group = Group.world(this.channels.heard.length);
    const comm = new Communicator({ context, group, world: rank as WorldRank, nodeMap: nodeMapOf([]) });
    const communicators = new Map<number, Communicator>();
    if (role !== "makes") communicators.set(context, comm);
    const announce = (to: number, _kind: number, words: readonly number[]): void => this.channels.send(rank, to, words);
    const revocations = new Revocations({
      rank,
      engine: { outbox: { announce }, revoke: () => undefined },
      collectives: { revoked: () => undefined, isMaking: () => role === "makes" && communicators.size === 0 },
      failures: { ranks: this.channels.heard[rank]! },
      communicators,
    });
    return { rank, revocations, communicators, comm, role, hasActed: role === "has" };
  }

  events(): ScheduledEvent[] {
    const events: ScheduledEvent[] = [];
    for (const { rank: at, hasActed } of this.members) {
      if (!this.channels.isAlive(at)) continue;
      if (!hasActed) events.push({ kind: "act", at });
      events.push(...this.channels.eventsAt(at));
    }
    return events;
  }

  happen(event: ScheduledEvent, sendsMax = Number.POSITIVE_INFINITY): void {
    const rank = placeOf(event);
    if (event.kind === "crash") this.channels.crash(rank);
    else this.channels.within(rank, sendsMax, () => this.step(this.members[rank]!, event));
  }

  private step(member: Member, event: ScheduledEvent): void {
    const { rank, revocations } = member;
    switch (event.kind) {
      case "act":
        member.hasActed = true;
        this.act(member);
        return;
      case "arrival":
        revocations.take(event.from as WorldRank, this.channels.take(event.from, rank));
        return;
      case "notice":
        revocations.peerFailed(this.channels.hear(rank));
    }
  }

  private act({ role, revocations, communicators, comm }: Member): void {
    switch (role) {
      case "revokes":
        revocations.revoke(comm);
        return;
      case "makes":
        communicators.set(context, comm);
        revocations.made(comm);
        return;
      case "frees":
        communicators.delete(context);
    }
  }

  /** Nobody hears of a revocation that nobody has made. */
  check(): void {
    const isRevoked = this.members.some(({ role, hasActed }) => role === "revokes" && hasActed);
    if (!isRevoked) for (const { revocations } of this.members) assert.ok(!revocations.has(context));
  }

  /** All members that live and have the communicator know of it, or none of them does. */
  checkEnd(): void {
    const having = this.members.filter(
      ({ rank, communicators }) => this.channels.isAlive(rank) && communicators.has(context),
    );
    const knowing = having.filter(({ comm }) => comm.isRevoked);
    const names = (members: readonly Member[]): string => members.map(({ rank }) => rank).join();
    assert.ok(
      knowing.length === 0 || knowing.length === having.length,
      `${names(knowing)} of ${names(having)} know of the revocation`,
    );
    const living = having.filter(({ role }) => role === "revokes");
    assert.ok(living.length === 0 || knowing.length > 0, "the revocation of a member that lives is lost");
  }

  /** So many members that live know of the revocation. */
  get knowing(): number {
    return this.members.filter(({ rank, comm }) => this.channels.isAlive(rank) && comm.isRevoked).length;
  }
}
