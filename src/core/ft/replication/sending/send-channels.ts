/** The channels of this process to other ranks, each made when it is first needed, and which of them have messages that wait. */
import { lives } from "../../../base/saved-classes.ts";
import type { Membership } from "../membership.ts";
import type { KeptSend } from "./kept-send.ts";
import { SendChannel } from "./send-channel.ts";

export class SendChannels {
  private readonly membership: Membership;
  private readonly byRank = new Map<number, SendChannel>();
  private last: SendChannel | null = null;
  /** Those with messages that found no room. */
  readonly pending = new Set<SendChannel>();
  /** Those with messages for a world that is not as far. */
  readonly shut = new Set<SendChannel>();
  /** By rank, bits: replicas that have not welcomed this process, a clone, and get nothing of it yet. */
  private readonly unwelcome = new Map<number, number>();
  /** How many receivers are about to go on elsewhere (`SendChannel.guarded`). */
  private guards = 0;

  constructor(membership: Membership) {
    this.membership = membership;
  }

  to(rank: number): SendChannel {
    const { last } = this;
    if (last !== null && last.rank === rank) return last;
    let channel = this.byRank.get(rank);
    if (channel === undefined) {
      const { membership } = this;
      const coming = membership.comingOf(rank);
      const dead = membership.deadOf(rank) & ~coming;
      const closed = coming | (this.unwelcome.get(rank) ?? 0);
      const borrowed = coming | membership.aheadOf(rank);
      channel = new SendChannel(rank, membership.replicas, { dead, closed, borrowed });
      this.byRank.set(rank, channel);
    }
    this.last = channel;
    return channel;
  }

  /** Undefined: nothing was ever sent to that rank, nor heard of it. */
  known(rank: number): SendChannel | undefined {
    return this.byRank.get(rank);
  }

  get all(): Iterable<SendChannel> {
    return this.byRank.values();
  }

  /** What is kept is sent to those replicas (bits) that do not have it. */
  sendAgain(channel: SendChannel, replicas: number): void {
    channel.restart(replicas);
    if (channel.first < channel.end) this.pending.add(channel);
  }

  /** The gate to a world may let more pass. */
  gateMoved(): void {
    for (const channel of this.shut) this.pending.add(channel);
    this.shut.clear();
  }

  // Receivers that are about to go on elsewhere

  guard(rank: number, replica: number): void {
    const channel = this.to(rank);
    if ((channel.guarded & (1 << replica)) !== 0) return;
    channel.guarded |= 1 << replica;
    this.guards++;
  }

  /** False: that one was not guarded. */
  endGuard(channel: SendChannel, replica: number): boolean {
    const bit = 1 << replica;
    if ((channel.guarded & bit) === 0) return false;
    channel.guarded &= ~bit;
    this.guards--;
    return true;
  }

  isGuarded({ dest }: KeptSend, replica: number): boolean {
    return this.guards !== 0 && (this.to(dest).guarded & (1 << replica)) !== 0;
  }

  // Clones

  /** This process is a clone, of that rank: nobody gets anything of it before it has welcomed it. */
  begin(own: number): void {
    const { membership } = this;
    this.guards = 0;
    this.pending.clear();
    this.shut.clear();
    for (let rank = 0; rank < membership.ranks; rank++) {
      if (rank !== own) this.unwelcome.set(rank, membership.livingOf(rank));
    }
    for (const channel of this.all) {
      channel.begin(membership.deadOf(channel.rank), this.unwelcome.get(channel.rank)!);
    }
  }

  /** To that replica messages are sent from now on. */
  open(rank: number, replica: number): SendChannel {
    const waits = this.unwelcome.get(rank) ?? 0;
    this.unwelcome.set(rank, waits & ~(1 << replica));
    const channel = this.to(rank);
    channel.closed &= ~(1 << replica);
    return channel;
  }
}

lives({ SendChannels });
