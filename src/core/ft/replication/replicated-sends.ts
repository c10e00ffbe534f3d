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
import type { Copies } from "./copies.ts";
import { KeptSend, noSend } from "./kept-send.ts";
import type { Membership } from "./membership.ts";
import type { SeenOrder } from "./seen-order.ts";
import { SendChannel } from "./send-channel.ts";
import type { WorldGates } from "./world-gates.ts";
import { type WorldNotice, WorldNotices } from "./world-notices.ts";

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
}

export class ReplicatedSends {
  protected readonly ports: ProtocolPorts;
  protected readonly place: ProcessName;
  protected readonly membership: Membership;
  private readonly copies: Copies;
  private readonly order: SeenOrder;
  private readonly gates: WorldGates;
  private readonly notices: WorldNotices;
  /** Bits: all replicas there can be, and the worlds that this process sends to. */
  private readonly all: number;
  protected worlds: number;
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
  /** Objects of messages that are over. */
  private readonly spare: KeptSend[] = [];
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
    this.all = (1 << membership.replicas) - 1;
    this.worlds = this.worldsNow();
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
      channel = new SendChannel(rank, this.membership.replicas, this.membership.deadOf(rank));
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
    if (channel.dead !== 0 && this.hasGates) this.notices.posted(channel, message);
    if (this.mustCopy(message)) {
      this.copies.takeAnyway(message);
      this.complete(message);
    }
    const mayCopy = message.send >= 0 && this.isSmall(message);
    this.pumpAll(channel);
    if (message.isOver || this.settle(channel, message)) return;
    // Bytes that a receiver may be reading from the program's buffer stay the program's.
    if (mayCopy && message.announced === 0 && this.copies.take(message)) this.complete(message);
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
    message.position = this.order.end;
    message.ticket = this.ticketNow();
    message.isDelayed = false;
    message.announced = 0;
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
    message.isOver = true;
    this.unsettled--;
    this.complete(message);
    this.copies.give(message);
    channel.clean((over) => this.spare.push(over));
    return true;
  }

  // On their way

  private pumpAll(channel: SendChannel): boolean {
    const { worlds } = this;
    const to = worlds & ~channel.dead;
    let moved = false;
    let isPending = false;
    for (let world = 0; to >>> world !== 0; world++) {
      if ((to & (1 << world)) === 0) continue;
      if (this.pump(channel, world)) moved = true;
      const { [world]: next = 0 } = channel.next;
      if (next >= channel.end) continue;
      if (this.mayPass(channel.at(next), world)) isPending = true;
      else this.shut.add(channel);
    }
    if (isPending) this.pending.add(channel);
    return moved;
  }

  /** Puts on its way to one replica what it lacks, as far as there is room. */
  private pump(channel: SendChannel, world: number): boolean {
    const bit = 1 << world;
    const { next } = channel;
    let moved = false;
    for (let position = next[world]!; ; position++) {
      // A message that settles takes those behind it along that had settled before.
      position = Math.max(position, channel.first);
      next[world] = position;
      if (position >= channel.end) return moved;
      const message = channel.at(position);
      if (message.isOver || (message.has & bit) !== 0) continue;
      if (!this.mayLeave(message) || !this.mayPass(message, world) || !this.transmit(message, world)) return moved;
      this.settle(channel, message);
      moved = true;
    }
  }

  /** Do messages for a world that is behind wait for it? */
  protected get hasGates(): boolean {
    return true;
  }

  /** Is that world as far as this process was when it posted the message? */
  private mayPass(message: KeptSend, world: number): boolean {
    return world === this.place.replica || !this.hasGates || this.gates.mayPass(world, message.position);
  }

  protected transmit(message: KeptSend, world: number): boolean {
    message.replica = world;
    const keeper = this.keepers;
    const went = this.ports.transmit(message, keeper);
    if (went === Went.NOWHERE) return false;
    if (went === Went.WHOLE) this.wentWhole(message, world);
    else {
      message.announced |= 1 << world;
      this.announced.set(keeper, new AnnouncedSend(message, world));
      this.keepers = (keeper + 1) | 0;
    }
    if (world === this.place.replica) this.sent++;
    else this.sentForOthers++;
    return true;
  }

  protected wentWhole(message: KeptSend, world: number): void {
    message.has |= 1 << world;
  }

  /** The receiver has answered the announcement of a message: it has all of it now, or had it already. */
  delivered(keeper: number): void {
    const announced = this.announced.get(keeper);
    if (announced === undefined) return;
    this.announced.delete(keeper);
    const { message, replica } = announced;
    message.announced &= ~(1 << replica);
    this.answered(message, replica);
    this.settle(this.channelTo(message.dest), message);
  }

  protected answered(message: KeptSend, replica: number): void {
    message.has |= 1 << replica;
  }

  get isBusy(): boolean {
    return this.pending.size !== 0 || this.notices.isBusy;
  }

  progress(): boolean {
    let moved = this.notices.flush();
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
  }

  private hearOne(channel: SendChannel, replica: number, sequence: number): void {
    if (!channel.acknowledge(replica, sequence)) return;
    const message = channel.find(sequence);
    if (message === null) return;
    // Where it was announced it is not over before that is answered as well: its receiver may be reading the announcement now.
    message.has |= 1 << replica;
    this.settle(channel, message);
  }

  /** What another replica of our rank has sent to a rank in a world where that has no replica any more. */
  hearNotice(rank: number, { world, first, count }: WorldNotice): void {
    const channel = this.channelTo(rank);
    if (count === 0) channel.acknowledgeBefore(world, first);
    for (let i = 0; i < count; i++) channel.acknowledge(world, (first + i) | 0);
    this.notices.moved();
  }

  /** The gate to a world may let more pass. */
  gateMoved(): void {
    for (const channel of this.shut) this.pending.add(channel);
    this.shut.clear();
    this.notices.moved();
  }

  get owesNotices(): boolean {
    return this.notices.owes;
  }

  /** What was seen before everything that is kept is not asked for again. */
  trimOrder(): void {
    let oldest = this.notices.oldest(this.gates.oldest(this.worlds));
    for (const channel of this.channels.values()) {
      if (channel.first < channel.end) oldest = Math.min(oldest, channel.at(channel.first).position);
    }
    this.order.trim(oldest);
    this.gates.trimmed();
  }

  // Deaths

  /** A process is dead, and the engine has forgotten what was under way to it. */
  lost(name: ProcessName): void {
    if (name.rank === this.place.rank) this.succeed();
    else this.forget(name);
    this.notices.forgetEmpty();
  }

  /** A replica of our own rank: this process may be the substitute for more worlds now, and sends what was not acknowledged there. */
  protected succeed(): void {
    const { worlds } = this;
    this.worlds = this.worldsNow();
    const added = this.worlds & ~worlds;
    this.inherited |= added;
    if (added === 0) return;
    for (const channel of this.channels.values()) {
      for (let world = 0; added >>> world !== 0; world++) {
        if ((added & (1 << world)) !== 0) channel.next[world] = channel.first;
      }
      if (channel.first < channel.end) this.pending.add(channel);
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

  /** A receiver: nothing is sent to it, and no acknowledgement of it is waited for. */
  protected forget({ rank, replica }: ProcessName): void {
    for (const [keeper, announced] of this.announced) {
      if (announced.message.dest !== rank || announced.replica !== replica) continue;
      this.announced.delete(keeper);
      announced.message.announced &= ~(1 << replica);
    }
    const channel = this.channels.get(rank);
    if (channel === undefined) return;
    channel.dead |= 1 << replica;
    if (this.hasGates) this.notices.receiverLost(channel, replica);
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
