/**
 * For tests of what is between ranks and processes: engines of a job whose ranks have several processes each, on the simulated
 * network, driven by hand. Replica k of every rank together are world k: its messages stay in it, unless somebody says otherwise.
 */

import type { Pointer } from "../../core/base/brand.ts";
import type { Identity, ProcessName } from "../../core/base/identity.ts";
import { PassThrough } from "../../core/ft/pass-through.ts";
import { Engine } from "../../core/p2p/engine.ts";
import { ProtocolAccess } from "../../core/p2p/protocol-access.ts";
import { type KeptMessage, Went } from "../../core/request/decisions.ts";
import { placementOf } from "../../core/service/placement.ts";
import { CONTEXT, SOURCE } from "../../core/wire/packet.ts";
import { Agenda } from "../agenda.ts";
import { Arena } from "../arena.ts";
import { type CostModel, costModelDefault } from "../cost-model.ts";
import { SimMemory } from "../memory.ts";
import { Network, type Packet } from "../network.ts";
import { Random } from "../random.ts";
import { SimTransport } from "../transport.ts";

interface ReplicaWorldOptions {
  readonly ranks: number;
  readonly replicas: number;
  /** All in one node, whose processes reach each other's memory. */
  readonly together?: boolean;
  readonly cost?: Partial<CostModel>;
  readonly seed?: number;
  /** The process that each name begins at, by peer number; its own number unless given. */
  readonly placement?: readonly number[];
  /** The members of another world whose memories these have, by peer number. */
  readonly heirsOf?: readonly Member[];
}

/** Keeps what it is told. */
class Listener extends PassThrough {
  readonly heard: { readonly source: number; readonly a: number; readonly payload: Uint8Array }[] = [];
  readonly #toldBytes: (packet: number) => Uint8Array;

  constructor(toldBytes: (packet: number) => Uint8Array) {
    super();
    this.#toldBytes = toldBytes;
  }

  override control(words: Int32Array, packet: number): void {
    const payload = this.#toldBytes(packet);
    this.heard.push({ source: words[packet + SOURCE]!, a: words[packet + CONTEXT]!, payload });
  }
}

export class Member {
  readonly name: ProcessName;
  readonly memory: SimMemory;
  readonly transport: SimTransport;
  readonly engine: Engine;
  /** What its protocol, if it had one, could do. */
  readonly access: ProtocolAccess;
  readonly listener: Listener;
  /** Stands still, as the dead do; what it sent before is on its way. */
  isStill = false;

  constructor(parts: {
    readonly name: ProcessName;
    readonly size: { readonly ranks: number; readonly replicas: number };
    readonly memory: SimMemory;
    readonly transport: SimTransport;
  }) {
    const { name, size, memory, transport } = parts;
    this.name = name;
    this.memory = memory;
    this.transport = transport;
    const listener = new Listener((packet) => this.access.toldBytes(packet));
    this.listener = listener;
    this.engine = new Engine({ ...name, ...size, transport, memory, hooks: () => listener });
    this.access = new ProtocolAccess(this.engine);
  }

  /** Bytes that no other message has. */
  filled(bytes: number, number: number, lent = false): Pointer {
    const pointer = lent ? this.memory.lend(new Uint8Array(bytes)) : this.memory.allocate(bytes);
    const view = this.memory.view(pointer, bytes);
    for (let at = 0; at < bytes; at++) view[at] = contentByte(number, at);
    return pointer;
  }

  holds(pointer: Pointer, bytes: number, number: number): boolean {
    return this.memory.view(pointer, bytes).every((value, at) => value === contentByte(number, at));
  }

  /** A message that its protocol would have kept, on behalf of another process. False: there is no room. */
  sendFor(from: Identity, message: Omit<KeptMessage, "from" | "isSynchronous" | "isLent">): boolean {
    return this.access.transmit({ ...message, from, isSynchronous: false, isLent: true }, 0) !== Went.NOWHERE;
  }
}

const contentByte = (number: number, at: number): number => (number * 131 + at * 7 + (at >> 8)) & 0xff;

export class ReplicaWorld {
  /** By peer number: replica after replica, each in the order of ranks. */
  readonly members: readonly Member[];
  readonly network: Network;
  readonly #queue = new Agenda<Packet | null>();
  readonly #ranks: number;
  readonly #byProcess: Member[] = [];

  constructor(options: ReplicaWorldOptions) {
    const { ranks, replicas, together = false, placement, heirsOf, seed = 1 } = options;
    this.#ranks = ranks;
    const count = ranks * replicas;
    const cost = { ...costModelDefault, ...options.cost };
    const processOf = (peer: number): number => placement?.[peer] ?? peer;
    const nodes = placementOf(Array.from({ length: count }, (_, process) => (together ? 0 : process)));
    const arenas: Arena[] = [];
    for (let peer = 0; peer < count; peer++) {
      arenas[nodes[processOf(peer)]!] ??= heirsOf?.[peer]?.memory.arena ?? new Arena();
    }
    this.network = new Network({
      ranks: count,
      placement: nodes,
      arenas,
      cost,
      random: new Random(seed),
      ports: {
        nowNs: () => this.#queue.nowNs,
        planArrival: (timeNs, packet) => this.#queue.plan(timeNs, packet),
        delayNs: () => 0,
        planRoom: () => this.#queue.plan(this.#queue.nowNs + 1, null),
      },
    });
    const size = { ranks, replicas };
    this.members = Array.from({ length: count }, (_, peer) => {
      const name = { rank: peer % ranks, replica: Math.floor(peer / ranks) };
      const process = processOf(peer);
      const memory = heirsOf?.[peer]?.memory ?? new SimMemory(arenas[nodes[process]!]!, peer);
      const transport = new SimTransport({
        rank: process,
        identity: { ...name, incarnation: 0 },
        network: this.network,
        memory,
        cost,
        sharesInside: together,
        neighbour: (other) => this.#byProcess[other]!.transport,
        wake: () => this.#queue.plan(this.#queue.nowNs + 1, null),
      });
      const member = new Member({ name, size, memory, transport });
      this.#byProcess[process] = member;
      return member;
    });
    if (placement === undefined) return;
    for (const { access } of this.members) {
      for (const [peer, process] of placement.entries()) access.place(this.members[peer]!.name, process);
    }
  }

  member(rank: number, replica: number): Member {
    return this.members[replica * this.#ranks + rank]!;
  }

  /** Lets everything happen that can. */
  settle(): void {
    for (;;) {
      let moved = false;
      for (const { engine, isStill } of this.members) while (!isStill && engine.progress()) moved = true;
      const packet = this.#queue.take();
      if (packet === undefined && !moved) return;
      if (packet && this.network.arrive(packet)) this.#byProcess[packet.channel.to]!.transport.take(packet);
    }
  }
}
