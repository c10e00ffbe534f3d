/**
 * The simulated network: a FIFO channel for each ordered pair of processes that ever spoke, with latency, bandwidth and a
 * bound; packets of different channels overtake each other by jitter from the seed.
 *
 * A packet lies in the arena of its sender's node from `reserve` on, moves to the receiver's arena when it arrives (inside a
 * node it stays where it is), and is freed when the receiver releases it. Until then it counts against its channel.
 */
import { assert } from "../core/base/assert.ts";
import type { Placement } from "../core/service/placement.ts";
import {
  controlWords,
  headerWords,
  KIND,
  kindOf,
  PAYLOAD,
  PacketKind,
  type Sender,
  SOURCE,
  STAMP,
} from "../core/wire/packet.ts";
import type { Arena } from "./arena.ts";
import type { CostModel } from "./cost-model.ts";
import type { Random } from "./random.ts";

/** Processes are named by numbers: their ranks, and behind those the suspects. */
interface NetworkChannel {
  /** Another number when the process becomes a suspect. */
  from: number;
  to: number;
  /** Which lives of the two it is between. */
  readonly fromLife: number;
  readonly toLife: number;
  /** Sent and not yet released by the receiver. */
  bytes: number;
  packets: number;
  /** Packets on the wire, oldest first: their number ever sent and ever arrived. */
  sent: number;
  arrived: number;
  /** Packets from this number on are lost: the sender died with them. */
  lostFrom: number;
  busyUntilNs: number;
  lastArrivalNs: number;
  /** The sender was told "full" and waits for room. */
  stalled: boolean;
}

export interface Packet {
  readonly channel: NetworkChannel;
  readonly number: number;
  /** Where it lies now: byte offset in that arena. */
  arena: Arena;
  at: number;
  readonly bytes: number;
}

/** What the network needs of the world. */
interface NetworkPorts {
  nowNs(): number;
  /** `arrived` is to be called at that time. */
  planArrival(timeNs: number, packet: Packet): void;
  /** What the link between their nodes adds to its latency. */
  delayNs(from: number, to: number): number;
  /** That process can go on sending, after a delay. */
  planRoom(rank: number): void;
}

interface NetworkOptions {
  readonly ranks: number;
  readonly placement: Placement;
  /** One for each node. */
  readonly arenas: readonly Arena[];
  readonly cost: CostModel;
  readonly random: Random;
  readonly ports: NetworkPorts;
}

/** A process that is taken for dead and lives: another life of its rank may be there, and a peer that has not heard of it speaks with this one. */
interface Suspect {
  readonly rank: number;
  readonly life: number;
  /** Memory of its node; those on one node see each other. */
  readonly arena: Arena;
  isDead: boolean;
}

const controlBytes = 4 * controlWords;
/** More numbers of processes than there can be. */
const numbersMax = 1 << 20;
/** Owner of packets in arenas; processes are owners by their rank. */
const network = -1;

export class Network {
  readonly #ranks: number;
  readonly #placement: Placement;
  readonly #arenas: Arena[];
  readonly #cost: CostModel;
  readonly #random: Random;
  readonly #ports: NetworkPorts;
  readonly #channels = new Map<number, NetworkChannel>();
  readonly #dead: Uint8Array;
  /** Which life of each process is the present one, or was the last. */
  readonly #lives: Int32Array;
  /** By pair: the life of the second that the first speaks with, when that is not its first one. */
  readonly #known = new Map<number, number>();
  /** The first has the number behind the last rank. */
  readonly #suspects: Suspect[] = [];
  /** Reserved and not yet committed. */
  #reserved: Packet | null = null;
  /** Committed and not yet released or dropped. */
  packetsInFlight = 0;
  packetsSent = 0;
  /** Packets that begin a message. */
  messagesSent = 0;
  /** How often a sender heard "full"; tests that claim to exercise it look here. */
  timesFull = 0;
  /** How often a receiver told a sender to keep its payloads. */
  timesClosed = 0;

  constructor(options: NetworkOptions) {
    this.#ranks = options.ranks;
    this.#placement = options.placement;
    this.#arenas = [...options.arenas];
    this.#cost = options.cost;
    this.#random = options.random;
    this.#ports = options.ports;
    this.#dead = new Uint8Array(options.ranks);
    this.#lives = new Int32Array(options.ranks);
  }

  arenaOf(number: number): Arena {
    return this.#suspects[number - this.#ranks]?.arena ?? this.#arenas[this.#placement[number]!]!;
  }

  arenaOfNode(node: number): Arena {
    return this.#arenas[node]!;
  }

  /** The rank of a process. */
  rankOf(number: number): number {
    return this.#suspects[number - this.#ranks]?.rank ?? number;
  }

  /** Are the process and the one that it reaches by that rank on one node? */
  sameNode(one: number, rank: number): boolean {
    const other = this.reached(one, rank);
    if (one >= this.#ranks || other >= this.#ranks) return this.arenaOf(one) === this.arenaOf(other);
    return this.#placement[one] === this.#placement[other];
  }

  /** The process that another one reaches by a rank: the life that it knows of, also where that is a suspect. */
  reached(from: number, rank: number): number {
    if (this.#suspects.length === 0) return rank;
    const life = this.#knownLife(from, rank);
    const arena = this.arenaOf(from);
    const isIt = (suspect: Suspect): boolean => suspect.rank === rank && suspect.life === life;
    const isNear = (suspect: Suspect): boolean => suspect.rank === rank && suspect.arena === arena;
    const index = this.#suspects.findIndex(from >= this.#ranks ? (each) => isNear(each) || isIt(each) : isIt);
    return index < 0 ? rank : this.#ranks + index;
  }

  /** A process is taken for dead, and lives on with this number: what is on its way to it and from it stays on its way. */
  disown(rank: number): number {
    const number = this.#ranks + this.#suspects.length;
    const arena = this.arenaOf(rank);
    for (let other = 0; other < number; other++) this.know(number, other, this.#knownLife(rank, other));
    this.#suspects.push({ rank, life: this.#lives[rank]!, arena, isDead: false });
    this.#dead[rank] = 1;
    for (const channel of [...this.#channels.values()]) {
      if (channel.from !== rank && channel.to !== rank) continue;
      this.#channels.delete(keyOf(channel.from, channel.to));
      if (channel.from === rank) channel.from = number;
      if (channel.to === rank) channel.to = number;
      this.#channels.set(keyOf(channel.from, channel.to), channel);
    }
    return number;
  }

  isDead(number: number): boolean {
    return this.#suspects[number - this.#ranks]?.isDead ?? this.#dead[number] !== 0;
  }

  /** Is the life that it speaks with over, whether it knows that or not? Nothing that it sends arrives then. */
  isGone(from: number, rank: number): boolean {
    const to = this.reached(from, rank);
    return this.isDead(to) || (to === rank && this.#lives[to] !== this.#knownLife(from, to));
  }

  #knownLife(from: number, to: number): number {
    return this.#known.size === 0 ? 0 : (this.#known.get(keyOf(from, to)) ?? 0);
  }

  /** A process speaks with that life of another from now on, and hears nothing of earlier ones any more. */
  know(from: number, to: number, life: number): void {
    if (life <= this.#knownLife(from, to)) return;
    this.#known.set(keyOf(from, to), life);
  }

  /** First word of a new packet in the sender's arena, or −1 when the channel is full. */
  reserve(from: number, to: number, payloadBytes: number): number {
    assert(this.#reserved === null, "a packet is reserved while another one is not committed yet");
    const channel = this.#channel(from, this.reached(from, to));
    const bytes = controlBytes + payloadBytes;
    const dead = this.isGone(from, to);
    if (!dead && channel.packets !== 0 && channel.bytes + bytes > this.#cost.channelBytesMax) {
      channel.stalled = true;
      this.timesFull++;
      return -1;
    }
    if (!dead && this.#random.chance(this.#cost.fullChance)) {
      this.timesFull++;
      this.#ports.planRoom(from);
      return -1;
    }
    const arena = this.arenaOf(from);
    const at = arena.allocate(bytes, network);
    this.#reserved = { channel, number: channel.sent, arena, at, bytes };
    const words = arena.words;
    words[(at >> 2) + PAYLOAD] = payloadBytes === 0 ? 0 : at + 4 * headerWords;
    return at >> 2;
  }

  commit(from: number, to: number, { rank, bits }: Sender): void {
    const packet = this.#reserved;
    assert(
      packet !== null && packet.channel.from === from && this.rankOf(packet.channel.to) === to,
      "commit without reserve",
    );
    this.#reserved = null;
    const { channel } = packet;
    const { words } = this.arenaOf(from);
    words[(packet.at >> 2) + STAMP] = channel.sent;
    words[(packet.at >> 2) + SOURCE] = rank;
    words[(packet.at >> 2) + KIND]! |= bits;
    if (this.isGone(from, to)) {
      this.arenaOf(from).free(packet.at, network);
      return;
    }
    const kind = kindOf(words[(packet.at >> 2) + KIND]!);
    if (kind === PacketKind.EAGER_CLOSE) this.timesClosed++;
    if (kind === PacketKind.EAGER || kind === PacketKind.RTS) this.messagesSent++;
    channel.sent++;
    channel.bytes += packet.bytes;
    channel.packets++;
    this.packetsInFlight++;
    this.packetsSent++;
    this.#ports.planArrival(this.#arrivalNs(channel, packet.bytes), packet);
  }

  /** The packet is there. False: it was lost, or its receiver is dead. */
  arrive(packet: Packet): boolean {
    const { channel } = packet;
    channel.arrived++;
    const source = packet.arena;
    if (packet.number >= channel.lostFrom || this.#isOfOldLife(channel)) {
      source.free(packet.at, network);
      this.#forget(packet);
      return false;
    }
    this.know(channel.to, this.rankOf(channel.from), channel.fromLife);
    const target = this.arenaOf(channel.to);
    if (source === target) return true;
    const at = target.allocate(packet.bytes, network);
    target.bytes.set(source.bytes.subarray(packet.at, packet.at + packet.bytes), at);
    source.free(packet.at, network);
    packet.arena = target;
    packet.at = at;
    const { words } = target;
    if (words[(at >> 2) + PAYLOAD] !== 0) words[(at >> 2) + PAYLOAD] = at + 4 * headerWords;
    return true;
  }

  /** To a life that is over, or from one that its receiver knows to be over. */
  #isOfOldLife({ from, to, fromLife, toLife }: NetworkChannel): boolean {
    const isOver = this.isDead(to) || (to < this.#ranks && this.#lives[to] !== toLife);
    return isOver || fromLife < this.#knownLife(to, this.rankOf(from));
  }

  /** The receiver is done with an arrived packet. */
  release(packet: Packet): void {
    packet.arena.free(packet.at, network);
    this.#forget(packet);
  }

  /** A process is dead: its packets may be lost, packets to it vanish, and processes that wait for room in its channels go on. */
  crash(number: number): void {
    const suspect = this.#suspects[number - this.#ranks];
    if (suspect === undefined) this.#dead[number] = 1;
    else suspect.isDead = true;
    for (const channel of this.#channels.values()) {
      if (channel.from === number) channel.lostFrom = this.#firstLost(channel);
      if (channel.to === number && channel.stalled) {
        channel.stalled = false;
        this.#ports.planRoom(channel.from);
      }
    }
  }

  /** A node begins anew: nothing of its memory is left. */
  renewArena(node: number): void {
    this.#arenas[node] = this.#arenas[node]!.another();
  }

  /** That life of a dead process begins, and speaks with these lives of the others. Some may have been over before they began. */
  revive(rank: number, lives: readonly number[]): void {
    assert(
      lives[rank]! > this.#lives[rank]!,
      `life ${lives[rank]} of rank ${rank} begins after life ${this.#lives[rank]}`,
    );
    this.#dead[rank] = 0;
    this.#lives[rank] = lives[rank]!;
    for (let other = 0; other < this.#ranks; other++) {
      this.#channels.delete(keyOf(rank, other));
      this.#channels.delete(keyOf(other, rank));
      this.know(rank, other, lives[other]!);
    }
    for (const index of this.#suspects.keys()) this.#channels.delete(keyOf(this.#ranks + index, rank));
  }

  #firstLost({ arrived, sent }: NetworkChannel): number {
    switch (this.#cost.inFlightAtCrash) {
      case "delivered":
        return sent;
      case "lost":
        return arrived;
      case "either":
        return this.#random.between(arrived, sent);
    }
  }

  #arrivalNs(channel: NetworkChannel, bytes: number): number {
    const cost = this.#cost;
    const inside = this.sameNode(channel.from, this.rankOf(channel.to));
    const kibibyteNs = inside ? cost.kibibyteInsideNs : cost.kibibyteBetweenNs;
    const latencyNs = inside ? cost.latencyInsideNs : cost.latencyBetweenNs;
    const startNs = Math.max(this.#ports.nowNs(), channel.busyUntilNs);
    channel.busyUntilNs = startNs + Math.ceil((bytes * kibibyteNs) / 1024);
    const jitterNs = cost.jitterNs === 0 ? 0 : this.#random.below(cost.jitterNs);
    const delayNs = this.#ports.delayNs(this.rankOf(channel.from), this.rankOf(channel.to));
    channel.lastArrivalNs = Math.max(channel.lastArrivalNs, channel.busyUntilNs + latencyNs + jitterNs + delayNs);
    return channel.lastArrivalNs;
  }

  #forget({ channel, bytes }: Packet): void {
    channel.bytes -= bytes;
    channel.packets--;
    this.packetsInFlight--;
    if (!channel.stalled) return;
    channel.stalled = false;
    this.#ports.planRoom(channel.from);
  }

  #lifeOf(number: number): number {
    return this.#suspects[number - this.#ranks]?.life ?? this.#lives[number]!;
  }

  #channel(from: number, to: number): NetworkChannel {
    const key = keyOf(from, to);
    let channel = this.#channels.get(key);
    if (channel === undefined) {
      channel = {
        from,
        to,
        fromLife: this.#lifeOf(from),
        toLife: this.#lifeOf(to),
        bytes: 0,
        packets: 0,
        sent: 0,
        arrived: 0,
        lostFrom: Number.POSITIVE_INFINITY,
        busyUntilNs: 0,
        lastArrivalNs: 0,
        stalled: false,
      };
      this.#channels.set(key, channel);
    }
    return channel;
  }
}

const keyOf = (from: number, to: number): number => from * numbersMax + to;
