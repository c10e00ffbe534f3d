/**
 * The replicas of other ranks as receivers of what this process keeps: what they say to hold, and what is kept for them, sent to them and sent again
 * when they die, are made anew (revival.ts) or go on elsewhere (ADR 79).
 */
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { SentVotes } from "../comparing/sent-votes.ts";
import type { WorldNotices } from "../world-notices.ts";
import type { AnnouncedSends } from "./announced-sends.ts";
import type { KeptSends } from "./kept-sends.ts";
import type { SendChannel } from "./send-channel.ts";
import type { SendChannels } from "./send-channels.ts";

interface ReceiversParts {
  readonly channels: SendChannels;
  readonly keeping: KeptSends;
  readonly announced: AnnouncedSends;
  readonly notices: WorldNotices;
  /** Null: messages are not compared. */
  readonly votes: SentVotes | null;
  /** Do messages for a world that is behind wait for it? */
  readonly hasGates: boolean;
}

export class Receivers {
  private readonly channels: SendChannels;
  private readonly keeping: KeptSends;
  private readonly announced: AnnouncedSends;
  private readonly notices: WorldNotices;
  private readonly votes: SentVotes | null;
  private readonly hasGates: boolean;
  /** By rank: the replica that is being made anew, and the one whose image it will have. */
  private readonly heirs = new Map<number, { readonly source: number; readonly replica: number }>();

  constructor({ channels, keeping, announced, notices, votes, hasGates }: ReceiversParts) {
    this.channels = channels;
    this.keeping = keeping;
    this.announced = announced;
    this.notices = notices;
    this.votes = votes;
    this.hasGates = hasGates;
  }

  // What they hold

  /** A replica of a rank holds all messages of a run of numbers, from another replica of ours. */
  hear({ rank, replica }: ProcessName, first: number, count: number): void {
    const channel = this.channels.to(rank);
    for (let i = 0; i < count; i++) this.hearOne(channel, replica, (first + i) | 0);
    const heir = this.heirOf(rank, replica);
    if (heir >= 0) this.hear({ rank, replica: heir }, first, count);
  }

  private hearOne(channel: SendChannel, replica: number, sequence: number): void {
    if (!channel.acknowledge(replica, sequence)) return;
    const message = channel.find(sequence);
    if (message === null) return;
    // Where it was announced it is not over before that is answered as well: its receiver may be reading the announcement now.
    message.has |= 1 << replica;
    this.keeping.settle(channel, message);
  }

  /** The same for all below a number. */
  hearBelow({ rank, replica }: ProcessName, number: number): void {
    const channel = this.channels.to(rank);
    channel.acknowledgeBefore(replica, number);
    channel.forEach((message) => {
      if (((message.sequence - number) | 0) >= 0) return;
      message.has |= 1 << replica;
      this.keeping.settle(channel, message);
    });
    const heir = this.heirOf(rank, replica);
    if (heir >= 0) this.hearBelow({ rank, replica: heir }, number);
  }

  // Clones

  /**
   * A replica of a receiver is being made anew, from the image of another one: whatever it may lack is kept. What that one has so far it
   * will have, and what it says to hold before its image is taken.
   */
  expect({ rank, replica }: ProcessName, source: number): void {
    const channel = this.channels.to(rank);
    channel.dead &= ~(1 << replica);
    channel.closed |= 1 << replica;
    channel.renew(replica, source);
    this.heirs.set(rank, { source, replica });
    // An earlier attempt may have been given up without our hearing of it: what that one would have lacked, this one will have.
    this.keeping.settleAll(channel);
  }

  /** The replica that will have what the given one says to hold now; −1: there is none. */
  private heirOf(rank: number, source: number): number {
    if (this.heirs.size === 0) return -1;
    const heir = this.heirs.get(rank);
    return heir?.source === source ? heir.replica : -1;
  }

  /** The image is taken, or will not be. */
  disinherit({ rank, replica }: ProcessName): void {
    if (this.heirs.get(rank)?.source === replica) this.heirs.delete(rank);
  }

  /** It has said what it holds: whoever sends to its world sends it the rest. */
  open({ rank, replica }: ProcessName): void {
    const channel = this.channels.open(rank, replica);
    const { votes } = this;
    if (votes !== null) {
      votes.tellRevocations(rank, replica);
      channel.forEach((message) => {
        if ((message.has & (1 << replica)) === 0) votes.tell(message, 1 << replica);
      });
    }
    this.channels.sendAgain(channel, 1 << replica);
  }

  /** It takes that message from another replica of ours. */
  elsewhere({ rank, replica }: ProcessName, sequence: number): void {
    this.channels.to(rank).takesElsewhere(replica, sequence);
  }

  /** That one is dead, and it lacks the bytes. */
  sendAgain({ rank, replica }: ProcessName, sequence: number): void {
    const channel = this.channels.to(rank);
    channel.forgetElsewhere(replica, sequence);
    this.channels.sendAgain(channel, 1 << replica);
  }

  /** It is back. It has seen what its world has not sent yet, and says when that is over. */
  back({ rank }: ProcessName): void {
    const channel = this.channels.known(rank);
    if (channel !== undefined && this.hasGates) this.notices.receiverBack(channel);
  }

  caughtUp({ rank, replica }: ProcessName): void {
    const channel = this.channels.known(rank);
    if (channel === undefined) return;
    channel.borrowed &= ~(1 << replica);
    this.notices.receiverCaughtUp(channel, replica);
  }

  // Moves

  /** It is about to go on elsewhere: from now on it has what it says to have. What was sent before comes to it before our answer. */
  guard({ rank, replica }: ProcessName): void {
    this.channels.guard(rank, replica);
  }

  /** It stays, or is gone. */
  unguard({ rank, replica }: ProcessName): void {
    const channel = this.channels.to(rank);
    const bit = 1 << replica;
    if (!this.channels.endGuard(channel, replica)) return;
    channel.forEach((message) => {
      message.has |= message.went & bit;
      this.keeping.settle(channel, message);
    });
  }

  /** Its next life is there: what it lacks is sent again when it has said what that is. */
  moved(name: ProcessName): void {
    const { rank, replica } = name;
    const channel = this.channels.to(rank);
    this.channels.endGuard(channel, replica);
    this.announced.forget(name);
    channel.closed |= 1 << replica;
    channel.forgetElsewhere(replica);
    this.keeping.settleAll(channel);
    this.back(name);
  }

  // Deaths

  /** Nothing is sent to it, and no acknowledgement of it is waited for. */
  lost(name: ProcessName): void {
    const { rank, replica } = name;
    this.announced.forget(name);
    const heir = this.heirs.get(rank);
    if (heir?.source === replica || heir?.replica === replica) this.heirs.delete(rank);
    const channel = this.channels.known(rank);
    if (channel === undefined) return;
    const wasAbsent = (channel.borrowed & (1 << replica)) !== 0;
    this.channels.endGuard(channel, replica);
    channel.dead |= 1 << replica;
    if (this.hasGates) this.notices.receiverLost(channel, replica, wasAbsent);
    this.keeping.settleAll(channel);
  }

  /** This process is a clone: what was expected of its source's receivers is not its business. */
  begin(): void {
    this.heirs.clear();
  }
}

lives({ Receivers });
