/**
 * The transport of one rank and its way of waiting: rings alone where the job is on one node, rings and sockets side by side
 * otherwise. Jobs of one node do not pay for sockets.
 */

import type { Identity } from "../../core/base/identity.ts";
import type { Memory } from "../../core/request/memory.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { Landing, Transport } from "../../core/wire/transport.ts";
import type { NodeMemory } from "../transport/node-memory.ts";
import type { ProcessBuffers } from "../transport/process-buffers.ts";
import type { RankMemory } from "../transport/rank-memory.ts";
import { RankTransport } from "../transport/rank-transport.ts";
import { RingTransport } from "../transport/ring-transport.ts";
import { openSocketCalls } from "../transport/sockets/open-socket-calls.ts";
import { Handover, type SharedHandover, type TcpRequest } from "../transport/tcp/handover.ts";
import { linkSizesBetween } from "../transport/tcp/link-sizes.ts";
import { TcpTransport } from "../transport/tcp/tcp-transport.ts";
import type { ProcessSockets } from "./joint-socket-sleep.ts";
import { type Napper, Waiting } from "./waiting.ts";

interface RankTransportsOptions {
  readonly rank: number;
  /** Its name in packets. */
  readonly identity: Identity;
  /** How many ranks the job starts with. */
  readonly ranks: number;
  /** Node of each process that the job can have. */
  readonly placement: Placement;
  /** Index in the node of each rank, −1 for ranks elsewhere. */
  readonly places: Int32Array;
  /** More ranks than cores on this machine. */
  readonly crowded: boolean;
  /** The port that delivers sockets from the node's main thread; null where no node listens: a job of one node, or one whose ranks speak through services alone. */
  readonly handover: SharedHandover | null;
  readonly tell: (request: TcpRequest) => void;
  readonly napper: Napper | null;
  /** See `RingTransport`; a data plane has one. */
  readonly cursor: Int32Array | undefined;
}

export interface RankTransports {
  readonly ring: RingTransport;
  readonly transport: Transport;
  readonly waiting: Waiting;
  setLanding(landing: Landing): void;
  peerFailed(rank: number, incarnation: number): void;
  /** Before the process hears of it: what it then says to the new life must not go to the old one. `place`: its index in the node, −1: it is elsewhere. */
  peerReturned(rank: number, incarnation: number, place: number): void;
  /** The process ends in order: true once everybody has what it sent. Ask again after progress. */
  leave(): boolean;
  /** Does everybody have what it sent? */
  isDelivered(): boolean;
  /** Has a packet come from another node, for the engine to take? */
  lookAtSockets(): boolean;
  /** For a thread that sleeps for several processes; null where no node listens: a job of one node, or one whose ranks speak through services alone. */
  readonly sockets: ProcessSockets | null;
}

/** `heap`: the transport's own blocks of the node's memory; `memory`: the program's buffers, which may be the same. */
interface RankMemories {
  readonly heap: RankMemory;
  readonly memory: Memory & ProcessBuffers;
}

export function openTransports(
  node: NodeMemory,
  { heap, memory }: RankMemories,
  options: RankTransportsOptions,
): RankTransports {
  const { rank, identity, ranks, placement, places, crowded, handover, tell, napper, cursor } = options;
  const prepare = memory.prepare === undefined ? undefined : (): boolean => memory.prepare!();
  // Joint copies are for ranks with a core to spare.
  const joint = crowded ? { jointBytesMin: Number.POSITIVE_INFINITY } : {};
  if (handover === null) {
    const ring = new RingTransport(node, heap, { rank, identity, places, buffers: memory, ...joint, cursor });
    const waiting = new Waiting(node, ring, { crowded, napper, prepare });
    const peerReturned = (other: number, incarnation: number) => ring.peerReturned(other, incarnation);
    const always = (): boolean => true;
    const others = {
      setLanding() {},
      peerFailed() {},
      peerReturned,
      leave: always,
      isDelivered: always,
      lookAtSockets: () => false,
      sockets: null,
    };
    return { ring, transport: ring, waiting, ...others };
  }
  const bells = new Handover(handover);
  const place = places[rank]!;
  const openCalls = () => openSocketCalls(node.memory, heap);
  const ring = new RingTransport(node, heap, {
    rank,
    identity,
    places,
    buffers: memory,
    wakeElsewhere: (other) => bells.wake(other),
    ...joint,
    cursor,
  });
  const tcp = new TcpTransport({
    rank,
    identity,
    ranks: placement.length,
    process: place,
    memory: heap,
    buffers: memory,
    handover,
    tell,
    openCalls,
    sizesOf: linkSizesBetween({ rank, ranks, placement, memoryBytes: node.layout.memoryBytes }),
  });
  const transport = new RankTransport(ring, tcp, places);
  const sockets: ProcessSockets = {
    get readyFd() {
      return tcp.readyFd;
    },
    watchBlocked: (watch) => tcp.watchBlocked(watch),
    collect: () => tcp.collect(),
    openCalls,
    wakeBy: (eventfd) => bells.wakeBy(place, eventfd),
  };
  return {
    ring,
    transport,
    waiting: new Waiting(node, transport, { crowded, sleeper: transport.sleeper, napper, prepare }),
    setLanding: (landing) => transport.setLanding(landing),
    peerFailed: (other, incarnation) => transport.peerFailed(other, incarnation),
    peerReturned: (other, incarnation, at) => transport.peerReturned(other, incarnation, at),
    leave: () => transport.leave(),
    isDelivered: () => tcp.isDelivered,
    lookAtSockets: () => transport.lookAtSockets(),
    sockets,
  };
}
