/**
 * The sending side (Algorithm 1 of the paper, lines 4 to 9, 12 to 14, 18 to 33). A message goes to each world that this process sends to: its own, and
 * those of dead replicas of its rank whose substitute it is. It is kept until the receivers of all worlds have it: those that
 * this process has sent it to, and those that have acknowledged it to have it from another replica.
 */
import type { Pointer, RecordId } from "../../base/brand.ts";
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import { Went } from "../../request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_SEQUENCE,
  R_TAG,
  recordWords,
  SendMode,
} from "../../request/records.ts";
import type { KeptPayload, ProtocolPorts } from "../protocol.ts";
import type { ReceivedNumbers } from "../received-numbers.ts";
import type { MessageFlips } from "./comparing/message-flips.ts";
import type { SentVotes } from "./comparing/sent-votes.ts";
import type { Copies } from "./copies.ts";
import { KeptSend, noSend } from "./kept-send.ts";
import { type Membership, replicasMax } from "./membership.ts";
import { RevivalWord } from "./revival-words.ts";
import type { SeenOrder } from "./seen-order.ts";
import { SendChannel } from "./send-channel.ts";
import type { Strand } from "./strands.ts";
import type { WorldGates } from "./world-gates.ts";
import { type UnsentMessage, type WorldNotice, WorldNotices } from "./world-notices.ts";

/** Bits: what has become of the messages of a channel. */
const Pumped = { MOVED: 1, NO_ROOM: 2, SHUT: 4 } as const;

/** A message that a receiver has been told of, and has not taken yet. */
class AnnouncedSend {
  readonly message: KeptSend;
  readonly replica: number;

  constructor(message: KeptSend, replica: number) {
    this.message = message;
    this.replica = replica;
  }
}

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
  private readonly copies: Copies;
  private readonly order: SeenOrder;
  private readonly gates: WorldGates;
  private readonly notices: WorldNotices;
  private readonly votes: SentVotes | null;
  private readonly flips: MessageFlips | null;
  /** Bits: all replicas there can be, and the worlds that this process sends to. */
  private readonly all: number;
  protected worlds = 0;
  /** Bits: those that it leaves to a replica of its rank which is being made. */
  private heldBack = 0;
  /** Bits: those of them that it was not sending to from the start. */
  private inherited = 0;
  protected readonly channels = new Map<number, SendChannel>();
  private last: SendChannel | null = null;
  /** Channels with messages that found no room. */
  protected readonly pending = new Set<SendChannel>();
  /** Channels with messages for a world that is not as far. */
  private readonly shut = new Set<SendChannel>();
  /** By the number that the engine's records name them by. */
  protected readonly announced = new Map<number, AnnouncedSend>();
  private keepers = 0;
  /** By rank, bits: replicas that have not welcomed this process, a clone, and get nothing of it yet. */
  private readonly unwelcome = new Map<number, number>();
  /** By rank: the replica that is being made anew, and the one whose image it will have. */
  private readonly heirs = new Map<number, { readonly source: number; readonly replica: number }>();
  /** A message counts as received when its receiver has said so, not when it was sent: an image is to be taken that says so. */
  isConfirming = false;
  /** How many receivers are about to go on elsewhere (`SendChannel.guarded`). */
  private guards = 0;
  /** Objects of messages that are over. */
  private readonly spare: KeptSend[] = [];
  /** Is the world of this process being captured? Then nothing is put on its way. */
  private isHeld = false;
  /** Messages that some replica of their receivers may lack. */
  unsettled = 0;
  /** Messages put on their way to this process's own world, and to worlds of the dead: first sent, or sent again. */
  sent = 0;
  sentForOthers = 0;

  constructor(ports: ProtocolPorts, parts: ReplicatedSendsParts) {
    const { place, membership, copies, order, gates } = parts;
    this.ports = ports;
    this.order = order;
    this.gates = gates;
    this.notices = new WorldNotices(ports, parts);
    this.place = place;
    this.membership = membership;
    this.copies = copies;
    this.votes = parts.votes;
    this.flips = parts.flips;
    this.all = (1 << membership.replicas) - 1;
    this.setWorlds();
  }

  private setWorlds(): void {
    this.worlds = this.worldsNow() & ~this.heldBack;
    this.notices.worlds = this.worlds;
  }

  /** Bits: the worlds that this process sends to when those are dead that are known to be. */
  protected worldsNow(): number {
    return this.membership.worldsOf(this.place.rank, this.place.replica);
  }

  protected channelTo(rank: number): SendChannel {
    const { last } = this;
    if (last !== null && last.rank === rank) return last;
    let channel = this.channels.get(rank);
    if (channel === undefined) {
      const { membership } = this;
      const coming = membership.comingOf(rank);
      const dead = membership.deadOf(rank) & ~coming;
      const closed = coming | (this.unwelcome.get(rank) ?? 0);
      const borrowed = coming | membership.aheadOf(rank);
      channel = new SendChannel(rank, membership.replicas, { dead, closed, borrowed });
      this.channels.set(rank, channel);
    }
    this.last = channel;
    return channel;
  }

  // Posting

  /** A small message is complete when it is copied, a large one when all living replicas of its receiver have it. */
  post(send: RecordId): void {
    const message = this.take(send);
    const channel = this.channelTo(message.dest);
    message.has = channel.acknowledgedBy(message.sequence);
    channel.add(message);
    this.unsettled++;
    if (this.votes !== null) this.vote(this.votes, channel, message);
    this.flips?.posted(message);
    if (this.membership.absentOf(channel.rank) !== 0 && this.hasGates) this.notices.posted(channel, message);
    if (this.mustCopy(message)) {
      this.copies.takeAnyway(message);
      this.complete(message);
    }
    this.vouch();
    const mayCopy = message.send >= 0 && this.isSmall(message);
    this.pumpAll(channel);
    if (message.isOver || this.settle(channel, message)) return;
    // Bytes that a receiver may be reading from the program's buffer stay the program's.
    if (mayCopy && message.announced === 0 && this.copies.take(message)) this.complete(message);
  }

  private vote(votes: SentVotes, { dead, closed }: SendChannel, message: KeptSend): void {
    votes.cast(message);
    votes.tell(message, this.all & ~dead & ~closed & ~this.unvoted);
  }

  /** A replica of a receiver compares all bytes of a message, and lacks those from there on. */
  tellMore({ rank, replica }: ProcessName, sequence: number, from: number): void {
    const message = this.channelTo(rank).find(sequence);
    if (message !== null) this.votes?.answer(message, replica, from);
  }

  /** Bytes of messages that were told to others to be compared. */
  get comparedBytes(): number {
    return this.votes?.wholeBytes ?? 0;
  }

  /** A communicator is revoked: all replicas of a member are told, and believe it when all of ours have told it. */
  revoke(rank: number, context: number, bits: number): void {
    const { dead, closed } = this.channelTo(rank);
    this.votes?.revoke(rank, context, bits, this.all & ~dead & ~closed);
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

  private take(send: RecordId): KeptSend {
    const message = this.spare.pop() ?? new KeptSend();
    const { words } = this.ports.records;
    const at = send * recordWords;
    message.dest = words[at + R_PEER]!;
    message.context = words[at + R_CONTEXT]!;
    message.tag = words[at + R_TAG]!;
    message.bytes = words[at + R_BYTES]!;
    message.sequence = words[at + R_SEQUENCE]!;
    message.isSynchronous = words[at + R_MODE] === SendMode.SYNCHRONOUS;
    message.pointer = words[at + R_POINTER]! as Pointer;
    message.send = send;
    const strand = this.order.strands.current;
    message.position = strand === null ? this.order.end : strand.base;
    message.strand = strand;
    message.taken = strand === null ? 0 : strand.length;
    message.ticket = this.ticketNow();
    message.isDelayed = false;
    message.announced = 0;
    message.went = 0;
    message.wished = 0;
    message.isOver = false;
    return message;
  }

  /** For `mayLeave`: how far this process is when it sends. */
  protected ticketNow(): number {
    return 0;
  }

  /** Asked again on every progress until it is true. */
  protected mayLeave(_message: KeptSend): boolean {
    return true;
  }

  private complete(message: KeptSend): void {
    const { send } = message;
    if (send < 0) return;
    message.send = noSend;
    this.ports.complete(send);
  }

  /** Have all that live all of it? Then it is over. */
  protected settle(channel: SendChannel, message: KeptSend): boolean {
    if ((message.has | channel.dead) !== this.all || message.announced !== 0) return false;
    channel.settle(message);
    this.unsettled--;
    this.complete(message);
    this.copies.give(message);
    channel.clean((over) => this.spare.push(over));
    return true;
  }

  // On their way

  private pumpAll(channel: SendChannel): boolean {
    const { worlds } = this;
    const to = worlds & ~channel.dead & ~channel.closed;
    if (this.isHeld) {
      this.pending.add(channel);
      return false;
    }
    let outcomes = 0;
    for (let world = 0; to >>> world !== 0; world++) {
      if ((to & (1 << world)) !== 0) outcomes |= this.pump(channel, world);
    }
    if ((outcomes & Pumped.NO_ROOM) !== 0) this.pending.add(channel);
    if ((outcomes & Pumped.SHUT) !== 0) this.shut.add(channel);
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
      this.settle(channel, message);
      outcome |= Pumped.MOVED;
    }
  }

  /** Do messages for a world that is behind wait for it? */
  get hasGates(): boolean {
    return true;
  }

  /** Is that world as far as this process was when it posted the message, or as another replica was that has sent it there? */
  private mayPass(channel: SendChannel, message: KeptSend, world: number): boolean {
    if (!this.hasGates || this.gates.mayPass(world, message)) return true;
    return channel.sentIn(world).has(message.sequence);
  }

  protected transmit(message: KeptSend, world: number): boolean {
    message.replica = world;
    const keeper = this.keepers;
    const went = (this.flips ?? this.ports).transmit(message, keeper);
    if (went === Went.NOWHERE) return false;
    if (went === Went.WHOLE) {
      message.went |= 1 << world;
      this.wentWhole(message, world);
    } else {
      message.announced |= 1 << world;
      this.announced.set(keeper, new AnnouncedSend(message, world));
      this.keepers = (keeper + 1) | 0;
    }
    if (world === this.place.replica) this.sent++;
    else this.sentForOthers++;
    return true;
  }

  protected wentWhole(message: KeptSend, world: number): void {
    if (!this.isConfirming && !this.isGuarded(message, world)) message.has |= 1 << world;
  }

  private isGuarded({ dest }: KeptSend, replica: number): boolean {
    return this.guards !== 0 && (this.channelTo(dest).guarded & (1 << replica)) !== 0;
  }

  /** The receiver has answered the announcement of a message: it has all of it now, or had it already. */
  delivered(keeper: number): void {
    const announced = this.announced.get(keeper);
    if (announced === undefined) return;
    this.announced.delete(keeper);
    const { message, replica } = announced;
    this.flips?.over(message);
    message.announced &= ~(1 << replica);
    this.answered(message, replica);
    this.settle(this.channelTo(message.dest), message);
  }

  /** The last pieces of it may be on their way. */
  protected answered(message: KeptSend, replica: number): void {
    const isGuarded = this.isGuarded(message, replica);
    if (isGuarded) message.went |= 1 << replica;
    if (!this.isConfirming && !isGuarded) message.has |= 1 << replica;
  }

  get isBusy(): boolean {
    return (this.pending.size !== 0 && !this.isHeld) || this.notices.isBusy;
  }

  /** Nothing is put on its way until it is told otherwise. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
  }

  progress(): boolean {
    let moved = this.notices.flush();
    if (this.isHeld) return moved;
    const channels = [...this.pending];
    this.pending.clear();
    for (const channel of channels) if (this.pumpAll(channel)) moved = true;
    return moved;
  }

  // Words of others

  /** A replica of a rank holds all messages of a run of numbers, from another replica of ours. */
  hear({ rank, replica }: ProcessName, first: number, count: number): void {
    const channel = this.channelTo(rank);
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
    this.settle(channel, message);
  }

  /** The same for all below a number. */
  hearBelow({ rank, replica }: ProcessName, number: number): void {
    const channel = this.channelTo(rank);
    channel.acknowledgeBefore(replica, number);
    channel.forEach((message) => {
      if (((message.sequence - number) | 0) >= 0) return;
      message.has |= 1 << replica;
      this.settle(channel, message);
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
    const channel = this.channelTo(rank);
    channel.dead &= ~(1 << replica);
    channel.closed |= 1 << replica;
    channel.renew(replica, source);
    this.heirs.set(rank, { source, replica });
    // An earlier attempt may have been given up without our hearing of it: what that one would have lacked, this one will have.
    channel.forEach((message) => void this.settle(channel, message));
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
    const waits = this.unwelcome.get(rank) ?? 0;
    this.unwelcome.set(rank, waits & ~(1 << replica));
    const channel = this.channelTo(rank);
    channel.closed &= ~(1 << replica);
    const { votes } = this;
    if (votes !== null) {
      votes.tellRevocations(rank, replica);
      channel.forEach((message) => {
        if ((message.has & (1 << replica)) === 0) votes.tell(message, 1 << replica);
      });
    }
    this.sendFrom(channel, 1 << replica);
  }

  /** It takes that message from another replica of ours. */
  elsewhere({ rank, replica }: ProcessName, sequence: number): void {
    this.channelTo(rank).takesElsewhere(replica, sequence);
  }

  /** That one is dead, and it lacks the bytes. */
  sendAgain({ rank, replica }: ProcessName, sequence: number): void {
    const channel = this.channelTo(rank);
    channel.forgetElsewhere(replica, sequence);
    this.sendFrom(channel, 1 << replica);
  }

  /** A replica of our own rank is back, and sends to its world itself. */
  resign({ replica }: ProcessName): void {
    this.heldBack &= ~(1 << replica);
    this.shrink();
    if (this.hasGates) this.notices.tellEverything(this.channels.values());
  }

  /**
   * A replica of our own rank is being made: whatever it can do itself it will do. Its world must not go on without it: the clone would get
   * messages there which depend on what it has not sent yet.
   */
  holdBack({ replica }: ProcessName): void {
    if (!this.hasGates) return;
    this.heldBack |= 1 << replica;
    this.shrink();
  }

  /** By rank: what this process has sent in the world of a dead replica of its rank. */
  sentTo(world: number): (readonly [number, ReceivedNumbers])[] {
    if (!this.hasGates || (this.membership.worldsOf(this.place.rank, this.place.replica) & (1 << world)) === 0)
      return [];
    return [...this.channels.values()].map((channel) => {
      const isThere = this.membership.isAlive(channel.rank, world);
      const unsent = isThere ? channel.unsentTo(world) : this.notices.unsentIn(channel, world);
      return [channel.rank, channel.posted.without(unsent)] as const;
    });
  }

  /** Has this process posted all that is known to have been sent in that world? */
  hasPosted(world: number): boolean {
    if (!this.hasGates) return true;
    for (const channel of this.channels.values()) {
      const { posted } = channel;
      if (!posted.hasAll(channel.sentIn(world))) return false;
      if (this.membership.isAlive(channel.rank, world) && !posted.hasAll(channel.acknowledgedOf(world))) return false;
    }
    return true;
  }

  private shrink(): void {
    const { worlds } = this;
    this.setWorlds();
    this.inherited &= this.worlds;
    this.gates.leave(worlds & ~this.worlds);
    this.notices.resign();
  }

  /** A receiver is back. It has seen what its world has not sent yet, and says when that is over. */
  receiverBack({ rank }: ProcessName): void {
    const channel = this.channels.get(rank);
    if (channel !== undefined && this.hasGates) this.notices.receiverBack(channel);
  }

  receiverCaughtUp({ rank, replica }: ProcessName): void {
    const channel = this.channels.get(rank);
    if (channel === undefined) return;
    channel.borrowed &= ~(1 << replica);
    this.notices.receiverCaughtUp(channel, replica);
  }

  // Moves

  /** A receiver is about to go on elsewhere: from now on it has what it says to have. What was sent before comes to it before our answer. */
  guard({ rank, replica }: ProcessName): void {
    const channel = this.channelTo(rank);
    if ((channel.guarded & (1 << replica)) !== 0) return;
    channel.guarded |= 1 << replica;
    this.guards++;
  }

  /** It stays, or is gone. */
  unguard({ rank, replica }: ProcessName): void {
    const channel = this.channelTo(rank);
    const bit = 1 << replica;
    if (!this.endGuard(channel, replica)) return;
    channel.forEach((message) => {
      message.has |= message.went & bit;
      this.settle(channel, message);
    });
  }

  private endGuard(channel: SendChannel, replica: number): boolean {
    const bit = 1 << replica;
    if ((channel.guarded & bit) === 0) return false;
    channel.guarded &= ~bit;
    this.guards--;
    return true;
  }

  /** Its next life is there: what it lacks is sent again when it has said what that is. */
  receiverMoved(name: ProcessName): void {
    const { rank, replica } = name;
    const channel = this.channelTo(rank);
    this.endGuard(channel, replica);
    this.forgetAnnounced(name);
    channel.closed |= 1 << replica;
    channel.forgetElsewhere(replica);
    channel.forEach((message) => void this.settle(channel, message));
    this.receiverBack(name);
  }

  /** A replica of our own rank goes on elsewhere, and may have missed what it was told. */
  siblingMoved(): void {
    if (this.hasGates) this.notices.tellEverything(this.channels.values());
  }

  /** This process is a clone: nothing is on its way from it, and nobody gets anything before it has welcomed it. */
  begin(place: ProcessName, isMoved: boolean): void {
    const { membership } = this;
    this.place = place;
    this.heldBack = 0;
    this.setWorlds();
    this.inherited = isMoved ? this.inherited & this.worlds : 0;
    this.isConfirming = false;
    this.guards = 0;
    if (this.hasGates && !isMoved) this.gates.begin(place.replica);
    this.notices.begin(place);
    this.announced.clear();
    this.pending.clear();
    this.heirs.clear();
    for (let rank = 0; rank < membership.ranks; rank++) {
      if (rank !== place.rank) this.unwelcome.set(rank, membership.livingOf(rank));
    }
    this.shut.clear();
    for (const channel of this.channels.values()) {
      const dead = membership.deadOf(channel.rank);
      if (this.hasGates) this.notices.learn(channel, dead & ~channel.dead);
      channel.dead = dead;
      channel.closed = this.unwelcome.get(channel.rank)!;
      channel.guarded = 0;
      channel.forgetElsewhere();
      channel.forEach((message) => {
        message.announced = 0;
        message.went = 0;
        message.wished = 0;
        this.votes?.abstain(message);
        this.settle(channel, message);
      });
    }
  }

  /** Everybody has been told that this process, a clone, is there. */
  begun(): void {
    if (this.hasGates) this.notices.tellEverything(this.channels.values());
  }

  private sendFrom(channel: SendChannel, worlds: number): void {
    channel.restart(worlds);
    if (channel.first < channel.end) this.pending.add(channel);
  }

  // Worlds that are behind

  /** What another replica of our rank has sent to a rank in a world where that has no replica any more. */
  hearNotice(rank: number, { world, first, count }: WorldNotice): void {
    const channel = this.channelTo(rank);
    const sent = channel.sentIn(world);
    if (count === 0) sent.addBefore(first);
    for (let i = 0; i < count; i++) sent.add((first + i) | 0);
    this.notices.moved();
  }

  /** The gate to a world may let more pass. */
  gateMoved(): void {
    for (const channel of this.shut) this.pending.add(channel);
    this.shut.clear();
    this.notices.moved();
    this.vouch();
  }

  /**
   * A clone of our rank waits for its world, which may wait for it: others that play there are of this process's world, and what came to the clone's
   * source before it posted a message may have come to us later. What is not too early by the order of any replica is not.
   */
  private vouch(): void {
    const clones = this.membership.aheadOf(this.place.rank);
    if (clones === 0) return;
    for (let world = 0; clones >>> world !== 0; world++) {
      if ((clones & (1 << world)) === 0) continue;
      for (const channel of this.channels.values()) {
        if (this.membership.isAlive(channel.rank, world)) {
          channel.forEach((message) => {
            if ((message.has & (1 << world)) === 0) this.vouchFor(channel, world, message);
          });
        } else for (const message of this.notices.unsent(channel, world)) this.vouchFor(channel, world, message);
      }
    }
  }

  private vouchFor(channel: SendChannel, world: number, message: UnsentMessage): void {
    const { sequence } = message;
    if (channel.vouched.has(sequence) || !this.gates.mayPass(world, message)) return;
    channel.vouched.add(sequence);
    const c = channel.rank * replicasMax + world;
    this.ports.tell({ rank: this.place.rank, replica: world }, { a: RevivalWord.SENT, b: sequence, c });
  }

  /** A clone of our rank has caught up with its world, or is dead, or there is another one. */
  forgetVouched(): void {
    for (const channel of this.channels.values()) channel.vouched.clear();
  }

  get owesNotices(): boolean {
    return this.notices.owes;
  }

  /** What was seen before everything that is kept is not asked for again. */
  trimOrder(): void {
    let oldest = this.notices.oldest(this.gates.oldest(this.worlds | this.membership.aheadOf(this.place.rank)));
    for (const channel of this.channels.values()) oldest = channel.oldest(oldest);
    this.order.trim(this.order.strands.oldest(oldest));
    this.gates.trimmed();
  }

  // Deaths

  /** A process is dead, and the engine has forgotten what was under way to it. */
  lost(name: ProcessName): void {
    if (name.rank === this.place.rank) {
      this.heldBack &= ~(1 << name.replica);
      this.forgetVouched();
      this.succeed();
    } else this.forget(name);
    this.notices.forgetEmpty();
  }

  /** A replica of our own rank: this process may be the substitute for more worlds now, and sends what was not acknowledged there. */
  protected succeed(): void {
    const { worlds } = this;
    this.setWorlds();
    const added = this.worlds & ~worlds;
    this.inherited |= added;
    if (added === 0) return;
    for (const channel of this.channels.values()) {
      this.sendFrom(channel, added);
      if (this.hasGates) this.notices.inherited(channel, added);
    }
  }

  /** The dead replicas of our own rank whose worlds this process sends to; those that never were there are none. */
  get stoodInFor(): number[] {
    const others: number[] = [];
    for (let world = 0; this.worlds >>> world !== 0; world++) {
      if ((this.inherited & (1 << world)) !== 0) others.push(world);
    }
    return others;
  }

  private forgetAnnounced({ rank, replica }: ProcessName): void {
    for (const [keeper, announced] of this.announced) {
      if (announced.message.dest !== rank || announced.replica !== replica) continue;
      this.announced.delete(keeper);
      this.flips?.over(announced.message);
      announced.message.announced &= ~(1 << replica);
    }
  }

  /** A receiver: nothing is sent to it, and no acknowledgement of it is waited for. */
  protected forget(name: ProcessName): void {
    const { rank, replica } = name;
    this.forgetAnnounced(name);
    const heir = this.heirs.get(rank);
    if (heir?.source === replica || heir?.replica === replica) this.heirs.delete(rank);
    const channel = this.channels.get(rank);
    if (channel === undefined) return;
    const wasAbsent = (channel.borrowed & (1 << replica)) !== 0;
    this.endGuard(channel, replica);
    channel.dead |= 1 << replica;
    if (this.hasGates) this.notices.receiverLost(channel, replica, wasAbsent);
    channel.forEach((message) => void this.settle(channel, message));
  }

  /** Copies in the process's memory. */
  get kept(): KeptPayload[] {
    const copies: KeptPayload[] = [];
    for (const channel of this.channels.values()) {
      channel.forEach((message) => {
        if (message.isCopy && message.bytes !== 0) copies.push(message);
      });
    }
    return copies;
  }
}

saves({ AnnouncedSend });
lives({ ReplicatedSends });
