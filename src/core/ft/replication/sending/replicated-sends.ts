/**
 * The sending side (Algorithm 1 of the paper, lines 4 to 9, 12 to 14, 18 to 33). A message goes to each world that this process sends to: its own, and
 * those of dead replicas of its rank whose substitute it is. It is kept until the receivers of all worlds have it: those that
 * this process has sent it to, and those that have acknowledged it to have it from another replica.
 *
 *   send-channels.ts    messages by the rank that they are for, and which of them wait
 *   kept-sends.ts       messages until they are over
 *   announced-sends.ts  those that receivers have been told of, and have not taken yet
 *   served-worlds.ts    the worlds that this process sends to
 *   receivers.ts        what receivers hold, and what becomes of them
 *   sent-in-worlds.ts   what is known to have been sent in other worlds
 *
 * Here messages are posted, and put on their way.
 */
import type { RecordId } from "../../../base/brand.ts";
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import { Went } from "../../../request/decisions.ts";
import type { KeptPayload, ProtocolPorts } from "../../protocol.ts";
import type { MessageFlips } from "../comparing/message-flips.ts";
import type { SentVotes } from "../comparing/sent-votes.ts";
import type { Membership } from "../membership.ts";
import type { SeenOrder } from "../seen-order.ts";
import type { Strand } from "../strands.ts";
import type { WorldGates } from "../world-gates.ts";
import { WorldNotices } from "../world-notices.ts";
import { AnnouncedSends } from "./announced-sends.ts";
import type { Copies } from "./copies.ts";
import type { KeptSend } from "./kept-send.ts";
import { KeptSends } from "./kept-sends.ts";
import { Receivers } from "./receivers.ts";
import type { SendChannel } from "./send-channel.ts";
import { SendChannels } from "./send-channels.ts";
import { SentInWorlds } from "./sent-in-worlds.ts";
import { ServedWorlds } from "./served-worlds.ts";

/** Bits: what has become of the messages of a channel. */
const Pumped = { MOVED: 1, NO_ROOM: 2, SHUT: 4 } as const;

export interface ReplicatedSendsParts {
  readonly place: ProcessName;
  readonly membership: Membership;
  readonly copies: Copies;
  readonly order: SeenOrder;
  readonly gates: WorldGates;
  /** Null: messages are not compared. */
  readonly votes: SentVotes | null;
  /** Null: no bit of a message flips. */
  readonly flips: MessageFlips | null;
}

export class ReplicatedSends {
  static readonly unsaved = { isHeld: false };
  protected readonly ports: ProtocolPorts;
  protected place: ProcessName;
  protected readonly membership: Membership;
  private readonly order: SeenOrder;
  private readonly gates: WorldGates;
  private readonly notices: WorldNotices;
  private readonly votes: SentVotes | null;
  private readonly flips: MessageFlips | null;
  protected readonly channels: SendChannels;
  private readonly keeping: KeptSends;
  private readonly announced: AnnouncedSends;
  readonly served: ServedWorlds;
  readonly receivers: Receivers;
  readonly sentInWorlds: SentInWorlds;
  /** Bits: all replicas there can be. */
  private readonly all: number;
  /** A message counts as received when its receiver has said so, not when it was sent: an image is to be taken that says so. */
  isConfirming = false;
  /** Is the world of this process being captured? Then nothing is put on its way. */
  private isHeld = false;
  /** Messages put on their way to this process's own world, and to worlds of the dead: first sent, or sent again. */
  sent = 0;
  sentForOthers = 0;

  constructor(ports: ProtocolPorts, parts: ReplicatedSendsParts) {
    const { place, membership, copies, order, gates, votes, flips } = parts;
    const { hasGates, servesAll } = this;
    const { replicas } = membership;
    this.ports = ports;
    this.place = place;
    this.membership = membership;
    this.order = order;
    this.gates = gates;
    this.votes = votes;
    this.flips = flips;
    this.all = (1 << replicas) - 1;
    this.notices = new WorldNotices(ports, parts);
    this.channels = new SendChannels(membership);
    this.keeping = new KeptSends(ports, { copies, order, replicas });
    this.announced = new AnnouncedSends(flips);
    const { notices, channels, keeping, announced } = this;
    this.served = new ServedWorlds({ place, membership, channels, gates, notices, hasGates, servesAll });
    this.receivers = new Receivers({ channels, keeping, announced, notices, votes, hasGates });
    this.sentInWorlds = new SentInWorlds(ports, { place, membership, channels, gates, notices, hasGates });
  }

  // What other ways of sending decide otherwise; the first two are the same from the beginning to the end

  /** Do messages for a world that is behind wait for it? */
  get hasGates(): boolean {
    return true;
  }

  /** Does every replica send to all worlds, whoever lives? */
  protected get servesAll(): boolean {
    return false;
  }

  /** Bits: receivers in these worlds need no vote of this process, because they get its messages. */
  protected get unvoted(): number {
    return 1 << this.place.replica;
  }

  /** Must the program be able to hear that it is complete, whatever the room for copies? */
  protected mustCopy(_message: KeptSend): boolean {
    return false;
  }

  protected isSmall(message: KeptSend): boolean {
    message.replica = this.place.replica;
    return this.ports.isEager(message);
  }

  /** For `mayLeave`: how far this process is when it sends. */
  protected ticketNow(): number {
    return 0;
  }

  /** Asked again on every progress until it is true. */
  protected mayLeave(_message: KeptSend): boolean {
    return true;
  }

  // Posting

  /** A small message is complete when it is copied, a large one when all living replicas of its receiver have it. */
  post(send: RecordId): void {
    const { keeping } = this;
    const message = keeping.take(send, this.ticketNow());
    const channel = this.channels.to(message.dest);
    keeping.keep(channel, message);
    if (this.votes !== null) this.vote(this.votes, channel, message);
    this.flips?.posted(message);
    if (this.membership.absentOf(channel.rank) !== 0 && this.hasGates) this.notices.posted(channel, message);
    if (this.mustCopy(message)) keeping.copyAnyway(message);
    this.sentInWorlds.vouch();
    const mayCopy = message.send >= 0 && this.isSmall(message);
    this.pumpAll(channel);
    if (message.isOver || keeping.settle(channel, message)) return;
    // Bytes that a receiver may be reading from the program's buffer stay the program's.
    if (mayCopy && message.announced === 0) keeping.copy(message);
  }

  private vote(votes: SentVotes, { dead, closed }: SendChannel, message: KeptSend): void {
    votes.cast(message);
    votes.tell(message, this.all & ~dead & ~closed & ~this.unvoted);
  }

  /** A replica of a receiver compares all bytes of a message, and lacks those from there on. */
  tellMore({ rank, replica }: ProcessName, sequence: number, from: number): void {
    const message = this.channels.to(rank).find(sequence);
    if (message !== null) this.votes?.answer(message, replica, from);
  }

  /** Bytes of messages that were told to others to be compared. */
  get comparedBytes(): number {
    return this.votes?.wholeBytes ?? 0;
  }

  /** A communicator is revoked: all replicas of a member are told, and believe it when all of ours have told it. */
  revoke(rank: number, context: number, bits: number): void {
    const { dead, closed } = this.channels.to(rank);
    this.votes?.revoke(rank, context, bits, this.all & ~dead & ~closed);
  }

  // On their way

  private pumpAll(channel: SendChannel): boolean {
    const { channels } = this;
    const to = this.served.worlds & ~channel.dead & ~channel.closed;
    if (this.isHeld) {
      channels.pending.add(channel);
      return false;
    }
    let outcomes = 0;
    for (let world = 0; to >>> world !== 0; world++) {
      if ((to & (1 << world)) !== 0) outcomes |= this.pump(channel, world);
    }
    if ((outcomes & Pumped.NO_ROOM) !== 0) channels.pending.add(channel);
    if ((outcomes & Pumped.SHUT) !== 0) channels.shut.add(channel);
    return (outcomes & Pumped.MOVED) !== 0;
  }

  /**
   * Puts on its way to one replica what it lacks, as far as there is room. A message that a gate holds back holds those behind it that are the program's
   * as well, or of the same collective.
   */
  private pump(channel: SendChannel, world: number): number {
    const bit = 1 << world;
    const { next } = channel;
    let outcome = 0;
    let held = null as Set<Strand | null> | null;
    for (let position = next[world]!; ; position++) {
      // A message that settles takes those behind it along that had settled before.
      position = Math.max(position, channel.first);
      if (held === null) next[world] = position;
      if (position >= channel.end) return outcome;
      const message = channel.at(position);
      if (message.isOver || ((message.has | message.announced | message.went) & bit) !== 0) continue;
      if (channel.isTakenElsewhere(world, message.sequence)) continue;
      if (!this.mayLeave(message)) return outcome | Pumped.NO_ROOM;
      if (held?.has(message.strand) === true || !this.mayPass(channel, message, world)) {
        outcome |= Pumped.SHUT;
        if (!channel.mayOvertake) return outcome;
        held ??= new Set();
        held.add(message.strand);
        continue;
      }
      if (!this.transmit(message, world)) return outcome | Pumped.NO_ROOM;
      this.keeping.settle(channel, message);
      outcome |= Pumped.MOVED;
    }
  }

  /** Is that world as far as this process was when it posted the message, or as another replica was that has sent it there? */
  private mayPass(channel: SendChannel, message: KeptSend, world: number): boolean {
    if (!this.hasGates || this.gates.mayPass(world, message)) return true;
    return channel.sentIn(world).has(message.sequence);
  }

  protected transmit(message: KeptSend, world: number): boolean {
    message.replica = world;
    const went = (this.flips ?? this.ports).transmit(message, this.announced.keeper);
    if (went === Went.NOWHERE) return false;
    if (went === Went.WHOLE) {
      message.went |= 1 << world;
      this.wentWhole(message, world);
    } else this.announced.add(message, world);
    if (world === this.place.replica) this.sent++;
    else this.sentForOthers++;
    return true;
  }

  protected wentWhole(message: KeptSend, world: number): void {
    if (!this.isConfirming && !this.channels.isGuarded(message, world)) message.has |= 1 << world;
  }

  /** The receiver has answered the announcement of a message: it has all of it now, or had it already. */
  delivered(keeper: number): void {
    const announced = this.announced.answered(keeper);
    if (announced === undefined) return;
    const { message, replica } = announced;
    this.answered(message, replica);
    this.keeping.settle(this.channels.to(message.dest), message);
  }

  /** The last pieces of it may be on their way. */
  protected answered(message: KeptSend, replica: number): void {
    const isGuarded = this.channels.isGuarded(message, replica);
    if (isGuarded) message.went |= 1 << replica;
    if (!this.isConfirming && !isGuarded) message.has |= 1 << replica;
  }

  get isBusy(): boolean {
    return (this.channels.pending.size !== 0 && !this.isHeld) || this.notices.isBusy;
  }

  /** Nothing is put on its way until it is told otherwise. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
  }

  progress(): boolean {
    let moved = this.notices.flush();
    if (this.isHeld) return moved;
    const { pending } = this.channels;
    const channels = [...pending];
    pending.clear();
    for (const channel of channels) if (this.pumpAll(channel)) moved = true;
    return moved;
  }

  // What becomes of this process, and of others

  /** The gate to a world may let more pass. */
  gateMoved(): void {
    this.channels.gateMoved();
    this.notices.moved();
    this.sentInWorlds.vouch();
  }

  /** A process is dead, and the engine has forgotten what was under way to it. */
  lost(name: ProcessName): void {
    if (name.rank === this.place.rank) {
      this.sentInWorlds.forgetVouched();
      this.served.lost(name.replica);
    } else this.receivers.lost(name);
    this.notices.forgetEmpty();
  }

  /** This process is a clone: nothing is on its way from it, and nobody gets anything before it has welcomed it. */
  begin(place: ProcessName, isMoved: boolean): void {
    const { membership, channels, keeping } = this;
    this.place = place;
    this.served.begin(place, isMoved);
    this.sentInWorlds.begin(place);
    this.isConfirming = false;
    if (this.hasGates && !isMoved) this.gates.begin(place.replica);
    this.notices.begin(place);
    this.announced.begin();
    this.receivers.begin();
    if (this.hasGates) {
      for (const channel of channels.all) this.notices.learn(channel, membership.deadOf(channel.rank) & ~channel.dead);
    }
    channels.begin(place.rank);
    for (const channel of channels.all) {
      channel.forEach((message) => {
        message.announced = 0;
        message.went = 0;
        message.wished = 0;
        this.votes?.abstain(message);
        keeping.settle(channel, message);
      });
    }
  }

  /** What was seen before everything that is kept is not asked for again. */
  trimOrder(): void {
    const worlds = this.served.worlds | this.membership.aheadOf(this.place.rank);
    let oldest = this.notices.oldest(this.gates.oldest(worlds));
    for (const channel of this.channels.all) oldest = channel.oldest(oldest);
    this.order.trim(this.order.strands.oldest(oldest));
    this.gates.trimmed();
  }

  get owesNotices(): boolean {
    return this.notices.owes;
  }

  /** Messages that some replica of their receivers may lack. */
  get unsettled(): number {
    return this.keeping.unsettled;
  }

  /** Copies in the process's memory. */
  get kept(): KeptPayload[] {
    return this.keeping.payloads(this.channels.all);
  }
}

lives({ ReplicatedSends });
