/**
 * What this process tells of messages that it does not send, because their receiver in that world is dead: that they have been sent there. The
 * receiver's substitute is in that world as well, and the gate to it (world-gates.ts) waits for the news; so do the other
 * replicas of this process's rank, one of which may have to go on with it.
 *
 * A message counts as sent in the own world when it is posted, in a world of a dead replica when it passes the gate. In the worlds of
 * others this process waits to be told, and remembers what it has posted meanwhile. Worlds in which nobody lives are nobody's concern, unless the lost
 * come back.
 *
 * A receiver that has come back as a clone holds messages that were not sent in its world yet, and is told of them likewise, until it says that its
 * world has caught up.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import type { Told } from "../../request/decisions.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { runMax } from "./acknowledgements.ts";
import type { Membership } from "./membership.ts";
import type { KeptSend } from "./sending/kept-send.ts";
import type { SendChannel } from "./sending/send-channel.ts";
import type { Past } from "./strands.ts";
import type { WorldGates } from "./world-gates.ts";

/** The first word of packets: the kind in the low bits (below 9: others between replicas), the world, and a count of messages. The last word: the rank that they are for. */
const NoticePacket = {
  /** A run of messages, by its first number. */
  RUN: 9,
  /** All messages before a number. */
  BEFORE: 10,
} as const;
const kindMask = 0xf;
const worldShift = 4;
const worldMask = 0xf;
const countShift = 8;

export const isNotice = (first: number): boolean =>
  (first & kindMask) === NoticePacket.RUN || (first & kindMask) === NoticePacket.BEFORE;

/** A message that is not known to have been sent in a world. */
export interface UnsentMessage extends Past {
  readonly sequence: number;
}

/** Those of a channel, in the order of posting. */
class Waiting {
  readonly channel: SendChannel;
  readonly world: number;
  readonly messages: UnsentMessage[] = [];
  /** Have any of them been of nonblocking collectives? Others may be sent before those. */
  private isWoven = false;
  /** The run that is about to be told; `count` 0: none. */
  first = 0;
  count = 0;

  constructor(channel: SendChannel, world: number) {
    this.channel = channel;
    this.world = world;
  }

  push({ sequence, position, strand, taken }: KeptSend): void {
    this.messages.push({ sequence, position, strand, taken });
    if (strand !== null) this.isWoven = true;
  }

  /** Takes those out that are sent by now; of the program's those behind the first that is not are not, either. */
  remove(isSent: (message: UnsentMessage) => boolean): void {
    const { messages } = this;
    let kept = 0;
    for (let i = 0; i < messages.length; i++) {
      const mayBeSent = kept === 0 || this.isWoven;
      if (mayBeSent && isSent(messages[i]!)) continue;
      if (i === 0 && !this.isWoven) return;
      messages[kept++] = messages[i]!;
    }
    messages.length = kept;
    if (kept === 0) this.isWoven = false;
  }

  clear(): void {
    this.messages.length = 0;
    this.count = 0;
  }
}

interface NoticesParts {
  readonly place: ProcessName;
  readonly membership: Membership;
  readonly gates: WorldGates;
}

export class WorldNotices {
  private readonly ports: ProtocolPorts;
  private place: ProcessName;
  /** Bits: those that this process sends to. */
  worlds = 0;
  private readonly membership: Membership;
  private readonly gates: WorldGates;
  /** By channel and world. */
  private readonly all = new Map<SendChannel, Waiting[]>();
  /** Those with a run to tell, those that a gate holds up. */
  private readonly open = new Set<Waiting>();
  private readonly shut = new Set<Waiting>();

  constructor(ports: ProtocolPorts, { place, membership, gates }: NoticesParts) {
    this.ports = ports;
    this.place = place;
    this.membership = membership;
    this.gates = gates;
  }

  private waitingOf(channel: SendChannel, world: number): Waiting {
    let waiting = this.all.get(channel);
    if (waiting === undefined) {
      waiting = [];
      this.all.set(channel, waiting);
    }
    const found = waiting[world] ?? new Waiting(channel, world);
    waiting[world] = found;
    return found;
  }

  /**
   * That message has been posted. It is told of at once, as it would be sent at once: the program may compute for long before the process looks again, and
   * the world that waits for the news would be further behind with every message.
   */
  posted(channel: SendChannel, message: KeptSend): void {
    const absent = this.membership.absentOf(channel.rank);
    for (let world = 0; absent >>> world !== 0; world++) {
      const bit = 1 << world;
      if ((absent & bit) === 0) continue;
      const waiting = this.waitingOf(channel, world);
      const isOurs = (this.worlds & bit) !== 0;
      if (!this.isSent(waiting, message, isOurs)) {
        waiting.push(message);
        if (isOurs) this.shut.add(waiting);
      } else if (isOurs) this.add(waiting, message.sequence);
      if (waiting.count !== 0) this.tellRun(waiting);
    }
  }

  private isSent({ channel, world }: Waiting, message: UnsentMessage, isOurs: boolean): boolean {
    if (this.gates.isFree(world) || channel.isSentIn(world, message.sequence)) return true;
    return isOurs && this.gates.mayPass(world, message);
  }

  /** Tells what has passed the gate to a world that this process sends to. */
  private release(waiting: Waiting): void {
    waiting.remove((message) => {
      const isSent = this.isSent(waiting, message, true);
      if (isSent) this.add(waiting, message.sequence);
      return isSent;
    });
    if (waiting.messages.length > 0) this.shut.add(waiting);
  }

  /** Of a world that another replica of ours sends to: it has told of those. */
  private skipKnown(waiting: Waiting): void {
    waiting.remove((message) => this.isSent(waiting, message, false));
  }

  /** The gate to a world may let more pass. */
  moved(): void {
    const shut = [...this.shut];
    this.shut.clear();
    for (const waiting of shut) this.release(waiting);
  }

  // Deaths

  /** A replica of a receiver. Of messages that it has acknowledged it is known that they were sent to it; of those of one that was absent all is known. */
  receiverLost(channel: SendChannel, replica: number, wasAbsent: boolean): void {
    if (!wasAbsent) this.remember(channel, replica);
    this.tellAll(channel, this.worlds);
  }

  private remember(channel: SendChannel, replica: number): void {
    if (this.gates.isFree(replica) || (this.membership.inhabited & (1 << replica)) === 0) return;
    const waiting = this.waitingOf(channel, replica);
    channel.forEach((message) => {
      if ((message.has & (1 << replica)) === 0) waiting.push(message);
    });
  }

  /** This process sends to more worlds now. */
  inherited(channel: SendChannel, worlds: number): void {
    this.tellAll(channel, worlds);
  }

  /** Somebody is dead: in worlds where nobody is left nobody waits. */
  forgetEmpty(): void {
    for (const waiting of this.all.values()) {
      for (const one of waiting) {
        if (one === undefined || (this.membership.inhabited & (1 << one.world)) !== 0) continue;
        one.clear();
        this.shut.delete(one);
      }
    }
  }

  // Clones

  /** A receiver has come back; it may be the substitute for others, too. */
  receiverBack(channel: SendChannel): void {
    this.tellAll(channel, this.worlds);
  }

  /** All that it had from its source has been sent in its world by now. */
  receiverCaughtUp(channel: SendChannel, world: number): void {
    const waiting = this.all.get(channel)?.[world];
    if (waiting === undefined) return;
    waiting.clear();
    this.shut.delete(waiting);
  }

  /** Others send to some worlds from now on. */
  resign(): void {
    for (const waiting of [...this.shut]) if ((this.worlds & (1 << waiting.world)) === 0) this.shut.delete(waiting);
  }

  /** Another replica of our rank is new, and has heard nothing yet. */
  tellEverything(channels: Iterable<SendChannel>): void {
    for (const channel of channels) this.tellAll(channel, this.worlds);
  }

  /** This process is a clone. */
  begin(place: ProcessName): void {
    this.place = place;
    this.open.clear();
    this.shut.clear();
    for (const waiting of this.all.values()) for (const one of waiting) if (one !== undefined) one.count = 0;
  }

  /** It has not known of these deaths. */
  learn(channel: SendChannel, dead: number): void {
    for (let replica = 0; dead >>> replica !== 0; replica++) {
      if ((dead & (1 << replica)) !== 0) this.remember(channel, replica);
    }
  }

  /** The receiver's substitute may be another one, which has heard nothing yet. */
  private tellAll(channel: SendChannel, worlds: number): void {
    const absent = this.membership.absentOf(channel.rank) & worlds;
    for (let world = 0; absent >>> world !== 0; world++) {
      if ((absent & (1 << world)) === 0) continue;
      const waiting = this.waitingOf(channel, world);
      this.release(waiting);
      this.tellWhole(waiting);
    }
  }

  private tellWhole(waiting: Waiting): void {
    const { channel, world } = waiting;
    const { posted } = channel;
    const isWaiting = new Set(waiting.messages.map(({ sequence }) => sequence));
    let before = posted.firstMissing;
    for (const number of isWaiting) if (((number - before) | 0) < 0) before = number;
    waiting.count = 0;
    this.tell(waiting, NoticePacket.BEFORE | (world << worldShift), before);
    for (let number = before; ((number - posted.firstMissing) | 0) < 0; number = (number + 1) | 0) {
      if (!isWaiting.has(number)) this.add(waiting, number);
    }
    for (const number of posted.later) if (!isWaiting.has(number)) this.add(waiting, number);
  }

  /** Messages that are not known to have been sent in that world. */
  unsent(channel: SendChannel, world: number): readonly UnsentMessage[] {
    return this.all.get(channel)?.[world]?.messages ?? [];
  }

  /** Their numbers. */
  unsentIn(channel: SendChannel, world: number): Set<number> {
    return new Set(this.unsent(channel, world).map(({ sequence }) => sequence));
  }

  // Words

  private add(waiting: Waiting, sequence: number): void {
    if (waiting.count !== 0 && (((waiting.first + waiting.count) | 0) !== sequence || waiting.count === runMax)) {
      this.tellRun(waiting);
    }
    if (waiting.count === 0) waiting.first = sequence;
    waiting.count++;
    this.open.add(waiting);
  }

  private tellRun(waiting: Waiting): void {
    const { world, first, count } = waiting;
    waiting.count = 0;
    this.tell(waiting, NoticePacket.RUN | (world << worldShift) | ((count - 1) << countShift), first);
  }

  /** To the receiver's substitute, or to a clone and those that vouch for it; and to the other replicas of this process's rank. */
  private tell({ channel, world }: Waiting, a: number, b: number): void {
    const { membership, place } = this;
    const { rank } = channel;
    const substitute = membership.substituteOf(rank, world);
    const isAhead = (membership.aheadOf(rank) & (1 << world)) !== 0;
    this.tellReplicas(rank, isAhead ? membership.livingOf(rank) : substitute < 0 ? 0 : 1 << substitute, {
      a,
      b,
      c: rank,
    });
    this.tellReplicas(place.rank, membership.livingOf(place.rank) & ~(1 << place.replica), { a, b, c: rank });
  }

  private tellReplicas(rank: number, replicas: number, told: Told): void {
    for (let replica = 0; replicas >>> replica !== 0; replica++) {
      if ((replicas & (1 << replica)) !== 0) this.ports.tell({ rank, replica }, told);
    }
  }

  get isBusy(): boolean {
    return this.open.size !== 0;
  }

  /** True when anything left. */
  flush(): boolean {
    if (this.open.size === 0) return false;
    for (const waiting of this.open) if (waiting.count !== 0) this.tellRun(waiting);
    this.open.clear();
    return true;
  }

  /** Does another world wait for news that only this process can give, and has not yet? */
  get owes(): boolean {
    return this.shut.size !== 0;
  }

  /** The order of what was seen is asked for from there on. */
  oldest(newest: number): number {
    let oldest = newest;
    for (const waiting of this.all.values()) {
      for (const one of waiting) {
        if (one === undefined) continue;
        if ((this.worlds & (1 << one.world)) === 0) this.skipKnown(one);
        for (const { position } of one.messages) oldest = Math.min(oldest, position);
      }
    }
    return oldest;
  }
}

/** A packet of another process about messages of its rank. */
export interface WorldNotice {
  readonly world: number;
  readonly first: number;
  /** 0: all before `first`. */
  readonly count: number;
}

export function noticeOf(a: number, b: number): WorldNotice {
  const count = (a & kindMask) === NoticePacket.RUN ? ((a >>> countShift) & (runMax - 1)) + 1 : 0;
  return { world: (a >>> worldShift) & worldMask, first: b, count };
}

saves({ Waiting });
lives({ WorldNotices });
