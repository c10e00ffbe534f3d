/** Puts the process of a rank together: memory, transport, engine and waiting. The bindings give programs their view of it. */
import { availableParallelism, hostname } from "node:os";
import type { ProcessName } from "../../core/base/identity.ts";
import { playersOf, roleOf } from "../../core/base/players.ts";
import { Group } from "../../core/comm/group.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";
import { spawnedWorldContext } from "../../core/process/context.ts";
import type { NodeMap } from "../../core/process/node-map.ts";
import { Process, type ProcessOptions } from "../../core/process/process.ts";
import type { Origin, Spawner } from "../../core/process/spawner.ts";
import type { Memory } from "../../core/request/memory.ts";
import type { Placement } from "../../core/service/placement.ts";
import { DataPlane, patienceOf } from "../data-plane/data-plane.ts";
import type { PlaneRecorder } from "../data-plane/plane-recorder.ts";
import { RankTracer } from "../trace/rank-tracer.ts";
import { Line, lineOf } from "../transport/layout.ts";
import type { SharedNode } from "../transport/node-memory.ts";
import { enterNodeMemory, type NodeMemory, turnWordOf } from "../transport/node-memory.ts";
import { NoticeKind, NoticeReader } from "../transport/notices.ts";
import type { ProcessBuffers } from "../transport/process-buffers.ts";
import { RankMemory } from "../transport/rank-memory.ts";
import type { RingTransport } from "../transport/ring-transport.ts";
import { SharedBoards } from "../transport/shared-board.ts";
import type { SharedHandover, TcpRequest } from "../transport/tcp/handover.ts";
import { type ProcessBell, processBellOf } from "./joint-sleep.ts";
import type { ProcessSockets } from "./joint-socket-sleep.ts";
import { RankHost } from "./rank-host.ts";
import { openTransports, type RankTransports } from "./rank-transports.ts";
import { RankWhereabouts } from "./rank-whereabouts.ts";
import type { Napper } from "./waiting.ts";

export interface RankOptions {
  /** The number of the process: its rank, unless `replicas` says otherwise. */
  readonly rank: number;
  /** How many processes the job starts with. */
  readonly ranks: number;
  /** By rank: how many of them play it; null: one. */
  readonly replicas: readonly number[] | null;
  /** The machine's name as programs see it; null: its own. */
  readonly hostName: string | null;
  /** Of each process that the job can have: its ranks, then those that may be spawned. */
  readonly placement: Placement;
  /** By process: its index in this node, −1: it is elsewhere. Changed as processes come and go. */
  readonly places: Int32Array;
  readonly nodeMap: NodeMap;
  readonly incarnation: number;
  /** By rank: which life of it is the present one. Empty: all are first ones. */
  readonly incarnations: readonly number[];
  /** Those that died before this process was born, in the dispatcher's order; it hears of later deaths by notices. */
  readonly deaths?: readonly { readonly rank: number; readonly incarnation: number }[];
  /** The fault-tolerance protocol; null: `none`, and the engine makes no calls. */
  readonly protocol: NewProtocol | null;
  /** Number of the correlated set, the ranks that fall and are captured together with this one; −1: there are no sets. */
  readonly set: number;
  /** Boards carry no messages: they are allowed only under protocols that need not see those (rule 12). */
  readonly mayUseBoards: boolean;
  /** The living are told of deaths and go on, and nobody takes the place of the dead. */
  readonly survivesDeaths: boolean;
  /** Another source of events that the process may wait for; null: only messages. */
  readonly napper: Napper | null;
  /** `NodeMemory.shared` of this rank's node. */
  readonly memory: SharedNode;
  /** Where the rank says where it is (real/messages/whereabouts.ts). */
  readonly whereabouts: SharedArrayBuffer;
  /** The port through which connections to other nodes reach this rank; null where no node listens: a job of one node, or one whose ranks speak through services alone. */
  readonly handover: SharedHandover | null;
  /** Posts messages about those connections to the node's main thread. */
  tell(request: TcpRequest): void;
  /** The file for trace events, one JSON object a line (Chrome trace format); empty: no trace. */
  readonly traceFile: string;
  /** Something stands between the program and its process, which sees every call. */
  readonly isLayered?: boolean;
  /** But for collectives on boards, which a data plane may carry out past it. */
  readonly mayMeetPastLayer?: boolean;
  /** May the rank have a data plane, where it can have one? */
  readonly mayUsePlane?: boolean;
  /** Of a protocol that lets a data plane pass; null or not there: it must see all messages. */
  readonly recorder?: PlaneRecorder | null;
  /** Others share its thread: its data plane never waits. */
  readonly takesTurns?: boolean;
  /** MPI_Abort: ends the job with that code; does not return. */
  abort(code: number, message: string, members: readonly number[]): never;
  /** Others have been told that this process is dead, and its thread lives. */
  buried?(): void;
  /** Rank 0's value for `await job.done`; throws the errors of `structuredClone`. */
  result(value: unknown): void;
  readonly spawner: Spawner;
  /** `mpi.checkpoint`: returns when the images of the rank's set are written, or given up. */
  checkpoint(state: Uint8Array): void;
  /** The value passed to `mpi.checkpoint` at the capture, if the program began with an image; null: it did not. */
  restored(): Uint8Array | null;
}

/** A data plane, and what it needs of the transport. */
interface OpenPlane {
  readonly node: NodeMemory;
  readonly heap: RankMemory;
  readonly plane: DataPlane;
  readonly ring: RingTransport;
  /** Now and then, in calls that the plane makes: true when the engine has heard something from another node. */
  lookAtSockets(): boolean;
}

type Leaving =
  | { readonly kind: "left" }
  | { readonly kind: "unfinished"; readonly requests: number }
  /** The process has been asked to stop in the middle of the program. */
  | { readonly kind: "stopped" };

export interface OpenProcess {
  readonly bell: ProcessBell;
  readonly sockets: ProcessSockets | null;
  readonly host: RankHost;
  /** Null: the engine does everything. */
  readonly plane: OpenPlane | null;
  /** An orderly end: waits for all ranks. */
  leave(): Leaving;
  /** The same without waiting: "stopped" means not yet; make progress and try again. */
  tryToLeave(): Leaving;
  /** Waits until all messages sent have been delivered, even if the process is asked to stop. */
  handOver(): void;
  /** The same without waiting: false means not yet. */
  tryToHandOver(): boolean;
  /** Closes everything that is open, without waiting for anybody. */
  close(): void;
}

/** `programMemory`: the memory of the program's buffers, if that is not the node's. */
export function openProcess(
  options: RankOptions,
  programMemory?: (node: NodeMemory) => Memory & ProcessBuffers,
): OpenProcess {
  const {
    rank,
    incarnation,
    incarnations,
    ranks,
    replicas,
    placement,
    places,
    nodeMap,
    memory: shared,
    spawner,
  } = options;
  const role = roleOf(options);
  const players = replicas === null ? null : playersOf(replicas);
  const nameOf = (process: number): ProcessName => players?.[process] ?? { rank: process, replica: 0 };
  const world = worldOf(role.ranks, spawner.origin);
  const processes = players?.length ?? world.ranks;
  const others = (spawner.origin?.parents.length ?? 0) + (options.napper?.services ?? 0);
  const crowded = processes + others > availableParallelism();

  const node = enterNodeMemory(shared.memory, shared.layout, places[rank]!);
  const heap = new RankMemory(node);
  const memory = programMemory?.(node) ?? heap;
  const { handover, tell, napper } = options;
  const patience = patienceOf(crowded, options.takesTurns ?? false);
  const plane = canHavePlane(options)
    ? new DataPlane(node, heap, {
        rank,
        places,
        patience,
        isLayered: options.isLayered,
        hasSockets: handover !== null,
        recorder: options.recorder ?? null,
      })
    : null;
  const transports = openTransports(
    node,
    { heap, memory },
    {
      rank,
      identity: { ...nameOf(rank), incarnation },
      ranks,
      placement,
      places,
      crowded,
      handover,
      tell,
      napper,
      cursor: plane?.cursor,
    },
  );
  const { ring, transport, waiting } = transports;
  const { protocol, mayUseBoards } = options;
  const meeting = { meetings: plane?.meetings ?? null, mayLend: options.isLayered !== true };
  const boards = mayUseBoards ? new SharedBoards(node, ring, places, meeting) : null;
  const { worldBoard } = shared;
  const universe = replicas?.length ?? placement.length;
  const process = new Process({
    rank: role.rank,
    replica: role.replica,
    replicas: replicas?.reduce((most, there) => Math.max(most, there), 1) ?? 1,
    // Where several processes play a rank the protocol tells of their lives.
    incarnations: replicas === null ? incarnations : [],
    ...world,
    universe,
    nodeMap,
    transport,
    memory,
    protocol,
    boards,
    worldBoard,
    pass: plane?.pass ?? null,
  });
  if (players !== null) placePlayers(process, players);
  transports.setLanding(process.engine.transfers);
  const notices = new NoticeReader(node);
  const tracer = tracerOf(options, placement[rank]!);
  process.engine.tracer = tracer;

  const line = lineOf(node.layout, node.process);
  const host = new RankHost({
    process,
    waiting,
    tracer,
    survivesDeaths: options.survivesDeaths,
    number: rank,
    nameOf,
    whereabouts: new RankWhereabouts({
      words: options.whereabouts,
      turn: turnWordOf(node),
      process,
      isDelivered: () => transports.isDelivered(),
    }),
    processorName: options.hostName ?? hostname(),
    stop: { words: node.words, at: (line + Line.STOP) >> 2 },
    kept: () => ({
      oldest: Atomics.load(node.words, (line + Line.KEPT_OLDEST) >> 2),
      newest: Atomics.load(node.words, (line + Line.KEPT_NEWEST) >> 2),
    }),
    notices: {
      isNews: () => notices.isNews(),
      deliver(hearer) {
        if (!notices.isNews()) return false;
        for (let notice = notices.next(); notice !== undefined; notice = notices.next()) {
          const { kind, rank: peer, incarnation, place } = notice;
          if (kind === NoticeKind.DIED) {
            hearer.died(peer, incarnation);
            transports.peerFailed(peer, incarnation);
          } else if (kind === NoticeKind.RETURNED && peer !== rank) {
            transports.peerReturned(peer, incarnation, place);
            hearer.returned(peer, incarnation);
          } else if (kind === NoticeKind.OLDEST && peer === options.set) hearer.trimmed(incarnation);
          else if (kind === NoticeKind.LEFT) hearer.left(peer);
          else if (kind === NoticeKind.STAYS && peer === rank) hearer.stays(incarnation);
        }
        return true;
      },
    },
    spawner,
    abort: options.abort,
    buried: () => options.buried?.(),
    result: options.result,
    checkpoint: options.checkpoint,
    restored: options.restored,
  });
  for (const { rank: dead, incarnation: life } of options.deaths ?? []) {
    process.peerFailed(nameOf(dead), life);
    transports.peerFailed(dead, life);
  }
  const lookAtSockets = (): boolean => {
    if (!transports.lookAtSockets()) return false;
    process.progress();
    return true;
  };
  return {
    host,
    bell: processBellOf(node),
    sockets: transports.sockets,
    plane: plane === null ? null : { node, heap, plane, ring, lookAtSockets },
    leave() {
      const leaving = leave(host, transports);
      if (leaving.kind !== "stopped") tracer?.close();
      return leaving;
    },
    tryToLeave() {
      const leaving = tryToLeave(host, transports);
      if (leaving.kind !== "stopped") tracer?.close();
      return leaving;
    },
    handOver: () => host.settle(() => hasHandedOver(host, transports)),
    tryToHandOver: () => hasHandedOver(host, transports),
    close: () => tracer?.close(),
  };
}

/**
 * The end of a rank: its pending messages leave, then it waits for all other ranks, so that no rank closes a connection that
 * another still needs. A rank with unfinished requests does not wait: it has failed, and the job ends. Deaths end the waits.
 */
function leave(host: RankHost, transports: RankTransports): Leaving {
  const { process } = host;
  const { engine } = process;
  // A thawed rank may be in the middle of the barrier: then the question was asked before.
  if (process.finalBarrier < 0 || engine.isComplete(process.finalBarrier)) {
    if (!host.waitUntil(() => !engine.unsent)) return { kind: "stopped" };
    const { unfinished } = engine.completion;
    if (unfinished > 0) return { kind: "unfinished", requests: unfinished };
  }
  if (!host.wait(process.startFinalBarrier())) return { kind: "stopped" };
  if (process.protocol?.hasFarewell !== false) host.settle(() => hasHandedOver(host, transports));
  return { kind: "left" };
}

function tryToLeave({ process }: RankHost, transports: RankTransports): Leaving {
  const { engine } = process;
  if (engine.unsent) return { kind: "stopped" };
  if (process.finalBarrier < 0 || engine.isComplete(process.finalBarrier)) {
    const { unfinished } = engine.completion;
    if (unfinished > 0) return { kind: "unfinished", requests: unfinished };
  }
  const isOver = engine.isComplete(process.startFinalBarrier()) && !engine.unsent && transports.leave();
  return isOver ? { kind: "left" } : { kind: "stopped" };
}

/** The rank's last signals may still wait for room, or be on a connection that breaks: nobody else could send them again. */
const hasHandedOver = ({ process }: RankHost, transports: RankTransports): boolean =>
  !process.engine.unsent && transports.leave();

/** Which process has each name, where that is not the number that it would have if all ranks had as many. */
function placePlayers({ engine: { peers } }: Process, players: readonly ProcessName[]): void {
  for (const [process, { rank, replica }] of players.entries()) {
    const peer = peers.numberOf(rank, replica);
    if (peer !== process) peers.place(peer, process);
  }
}

/** No protocol, or one that lets all messages of the node pass; first lives: everything else is the engine's. */
function canHavePlane({
  mayUsePlane = false,
  handover,
  protocol,
  recorder = null,
  isLayered = false,
  mayMeetPastLayer = false,
  incarnation,
  incarnations,
  traceFile,
}: RankOptions): boolean {
  const areFirst = incarnation === 0 && incarnations.every((other) => other === 0);
  const isSeen = (protocol !== null && recorder === null) || (isLayered && !mayMeetPastLayer) || traceFile !== "";
  return mayUsePlane && (handover === null || !isLayered) && !isSeen && areFirst;
}

/** The world of the process: the job's own, or that of the processes that were spawned together. */
function worldOf(ranks: number, origin: Origin | null): Pick<ProcessOptions, "ranks" | "worldGroup" | "worldContext"> {
  if (origin === null) return { ranks };
  const { world } = origin;
  return { ranks: world.length, worldGroup: Group.of(world), worldContext: spawnedWorldContext(world[0]!) };
}

function tracerOf({ traceFile, rank, abort }: RankOptions, node: number): RankTracer | null {
  if (traceFile === "") return null;
  const failed = (reason: string): never =>
    abort(1, `Cannot write the trace: ${reason}; free some space, or run without --trace`, []);
  return new RankTracer({ file: traceFile, rank, node, failed });
}
