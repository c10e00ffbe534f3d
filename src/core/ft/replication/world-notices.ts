/**
 * What this process tells of messages that it does not send, because their receiver in that world is dead: that they have been sent there. The
 * receiver's substitute is in that world as well, and the gate to it (world-gates.ts) waits for the news; so do the other
 * replicas of this process's rank, one of which may have to go on with it.
 *
 * A message counts as sent in the own world when it is posted, in a world of a dead replica when it passes the gate. In the worlds of
 * others this process waits to be told, and remembers what it has posted meanwhile. Worlds in which nobody lives are nobody's concern.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { runMax } from "./acknowledgements.ts";
import type { KeptSend } from "./kept-send.ts";
import type { Membership } from "./membership.ts";
import type { SendChannel } from "./send-channel.ts";
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

/** Messages of a channel that are not known to have been sent in a world: their numbers, and where they were posted in the order of what the program has seen. */
class Waiting {
  readonly channel: SendChannel;
  readonly world: number;
  readonly numbers: number[] = [];
  readonly positions: number[] = [];
  /** The run that is about to be told; `count` 0: none. */
  first = 0;
  count = 0;

  constructor(channel: SendChannel, world: number) {
    this.channel = channel;
    this.world = world;
  }

  push(sequence: number, position: number): void {
    this.numbers.push(sequence);
    this.positions.push(position);
  }

  shift(): void {
    this.numbers.shift();
    this.positions.shift();
  }
}

interface NoticesParts {
  readonly place: ProcessName;
  readonly membership: Membership;
  readonly gates: WorldGates;
}

export class WorldNotices {
  private readonly ports: ProtocolPorts;
  private readonly place: ProcessName;
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

  /** Bits: worlds where somebody lives, but not the receiver. */
  private absent(rank: number): number {
    return this.membership.deadOf(rank) & this.membership.inhabited;
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

  private get worlds(): number {
    return this.membership.worldsOf(this.place.rank, this.place.replica);
  }

  /** That message has been posted. */
  posted(channel: SendChannel, message: KeptSend): void {
    const absent = this.absent(channel.rank);
    for (let world = 0; absent >>> world !== 0; world++) {
      const bit = 1 << world;
      if ((absent & bit) === 0) continue;
      const waiting = this.waitingOf(channel, world);
      const isOurs = (this.worlds & bit) !== 0;
      // The dead receiver has acknowledged it, or another replica of ours has told of it: then it was sent there.
      const isSent = world === this.place.replica || (message.has & bit) !== 0;
      if (!isSent) {
        waiting.push(message.sequence, message.position);
        if (isOurs) this.release(waiting);
      } else if (isOurs) this.add(waiting, message.sequence);
    }
  }

  /** Tells what has passed the gate to a world that this process sends to. */
  private release(waiting: Waiting): void {
    const { channel, world, numbers, positions } = waiting;
    while (numbers.length > 0) {
      if (!channel.isAcknowledged(world, numbers[0]!) && !this.gates.mayPass(world, positions[0]!)) {
        this.shut.add(waiting);
        return;
      }
      this.add(waiting, numbers[0]!);
      waiting.shift();
    }
  }

  /** Of a world that another replica of ours sends to: it has told of those. */
  private skipKnown(waiting: Waiting): void {
    const { channel, world, numbers } = waiting;
    while (numbers.length > 0 && channel.isAcknowledged(world, numbers[0]!)) waiting.shift();
  }

  /** The gate to a world may let more pass. */
  moved(): void {
    const shut = [...this.shut];
    this.shut.clear();
    for (const waiting of shut) this.release(waiting);
  }

  // Deaths

  /** A replica of a receiver. Of messages that it has acknowledged it is known that they were sent to it. */
  receiverLost(channel: SendChannel, replica: number): void {
    if (replica !== this.place.replica && (this.membership.inhabited & (1 << replica)) !== 0) {
      const waiting = this.waitingOf(channel, replica);
      channel.forEach((message) => {
        if ((message.has & (1 << replica)) === 0) waiting.push(message.sequence, message.position);
      });
    }
    this.tellAll(channel, this.worlds);
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
        one.numbers.length = 0;
        one.positions.length = 0;
        one.count = 0;
        this.shut.delete(one);
      }
    }
  }

  /** The receiver's substitute may be another one, which has heard nothing yet. */
  private tellAll(channel: SendChannel, worlds: number): void {
    const absent = this.absent(channel.rank) & worlds;
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
    const isWaiting = new Set(waiting.numbers);
    let before = posted.firstMissing;
    for (const number of isWaiting) if (((number - before) | 0) < 0) before = number;
    waiting.count = 0;
    this.tell(waiting, NoticePacket.BEFORE | (world << worldShift), before);
    for (let number = before; ((number - posted.firstMissing) | 0) < 0; number = (number + 1) | 0) {
      if (!isWaiting.has(number)) this.add(waiting, number);
    }
    for (const number of posted.later) if (!isWaiting.has(number)) this.add(waiting, number);
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

  /** To the receiver's substitute, and to the other replicas of this process's rank. */
  private tell({ channel, world }: Waiting, a: number, b: number): void {
    const { membership, place, ports } = this;
    const substitute = membership.substituteOf(channel.rank, world);
    if (substitute >= 0) ports.tell({ rank: channel.rank, replica: substitute }, { a, b, c: channel.rank });
    const others = membership.livingOf(place.rank) & ~(1 << place.replica);
    for (let replica = 0; others >>> replica !== 0; replica++) {
      if ((others & (1 << replica)) !== 0) ports.tell({ rank: place.rank, replica }, { a, b, c: channel.rank });
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
        if (one.positions.length > 0) oldest = Math.min(oldest, one.positions[0]!);
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
