/**
 * One process put together: the matching engine, the protocol between it and the program, communicators, collectives and
 * operations of several steps. Bindings (mpi/, abi/) start operations here and let their world wait.
 *
 * This is the file where engine and protocol meet; neither knows the other.
 */
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE, PROC_NULL } from "../base/constants.ts";
import type { ProcessName } from "../base/identity.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Board, Boards } from "../coll/engine/board.ts";
import { Group } from "../comm/group.ts";
import type { Choices } from "../ft/choices.ts";
import type { Beginning, NewProtocol, Protocol } from "../ft/protocol.ts";
import { Engine } from "../p2p/engine.ts";
import type { Pass } from "../p2p/pass.ts";
import { ProtocolAccess } from "../p2p/protocol-access.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_ERROR,
  R_POINTER,
  R_STATE,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  RecordKind,
  RecordState,
  type SendMode,
} from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { Agreements } from "./agreements.ts";
import { Collectives } from "./collectives.ts";
import { Communicator } from "./communicator.ts";
import { FinalMeeting, sayFarewell } from "./communicators/final-meeting.ts";
import { finalContext, groupContext, partitionedContext, selfContext, worldContext } from "./context.ts";
import { Failures } from "./failures.ts";
import { Inquiries } from "./inquiries.ts";
import { KeptBoards } from "./kept-boards.ts";
import { memberNodesOf, type NodeMap } from "./node-map.ts";
import { Revocations } from "./revocations.ts";
import type { Task } from "./task.ts";

export interface ProcessOptions {
  readonly rank: number;
  /** How many processes may play a rank, 1 unless given; and which of them this one is. */
  readonly replicas?: number;
  readonly replica?: number;
  /** By rank: which life of it is the present one, if that is known not to be the first. */
  readonly incarnations?: readonly number[];
  /** Size of its world. */
  readonly ranks: number;
  /** The processes of its world. Those of one thread may share it, and what is known about it. */
  readonly worldGroup?: Group;
  /** Worlds that are spawned have one of their own. */
  readonly worldContext?: number;
  /** Numbers that processes of the job can have: its ranks, and those that may be spawned. As many as ranks unless given. */
  readonly universe?: number;
  readonly nodeMap: NodeMap;
  readonly transport: Transport;
  readonly memory: Memory;
  /** Shared memory for collectives inside the node; null where there is none, or where a protocol must see messages. */
  readonly boards?: Boards | null;
  /** The board that was claimed for all ranks of the job, −1: none. */
  readonly worldBoard?: number;
  /** Null: no protocol, and the engine makes no call. */
  readonly protocol?: NewProtocol | null;
  readonly unexpectedBytesMax?: number;
  /** Where a data plane sends and receives on behalf of the engine. */
  readonly pass?: Pass | null;
}

/** More than a node has boards. */
const boardNames = 1 << 16;
/** Contexts of freed communicators that are remembered. */
const freedMax = 256;

/** What goes on beside the program whenever the process makes progress, in its calls and in its waits. */
export interface Background {
  /** Is there anything to do for `progress`, whatever arrives? Otherwise it is called only when messages have come in its contexts (context.ts). */
  readonly isBusy: boolean;
  /** How many of them had come (`UnexpectedQueue.appended`) when it was called last. */
  readonly appendedSeen: number;
  /** Does what can be done now; true when anything moved. Waits for nothing. */
  progress(): boolean;
  /** The communicator is there, from now on. */
  made(comm: Communicator): void;
  /** The communicator is there for the last time. The program may never have had it: a call made it for itself. */
  freeing(comm: Communicator): void;
}

export class Process {
  static readonly unsaved = {
    background: null,
    jobBoard: null,
    jobBoardIndex: -1,
    freedContexts: [],
    freedWithWildcards: new Set(),
  };
  /** Its number in the job: its rank in the world, unless it was spawned. */
  readonly rank: number;
  readonly ranks: number;
  readonly nodeMap: NodeMap;
  readonly memory: Memory;
  readonly engine: Engine;
  readonly boards: Boards | null;
  readonly protocol: Protocol | null;
  readonly world: Communicator;
  readonly self: Communicator;
  /** Where groups talk that make a communicator without having one: the program never sees it, nor can it be revoked. */
  readonly everybody: Communicator;
  /** Communicators alive in this process, by context: what a new context must not clash with. */
  readonly communicators = new Map<number, Communicator>();
  readonly collectives: Collectives;
  readonly inquiries: Inquiries;
  readonly revocations: Revocations;
  readonly agreements: Agreements;
  readonly failures: Failures;
  /** The other side of each inter-communicator that a spawn has made, by its context, until this one disconnects. */
  private readonly connections = new Map<number, Group>();
  /** The board of the whole job, and its index; null: there is none. */
  private readonly jobBoard: Board | null;
  private readonly jobBoardIndex: number;
  /** The request of the last barrier, −1: not begun. */
  finalBarrier = -1 as RecordId;
  /** How often the boards of its communicators went with the node that had them; the same for all that were captured together. */
  private boardsLost = 0;
  /** Null: boards are claimed as they are free, and go with their node. */
  private readonly keptBoards: KeptBoards | null;
  /** The part of a layer above that serves other processes (core/fault-layer); null: there is none. */
  background: Background | null = null;
  /** Tasks under way; the order does not matter. */
  readonly tasks: Task[] = [];
  /** Of the communicators that were freed last: ranks that have not may ask what becomes of a collective there. */
  private readonly freedContexts: number[] = [];
  /** Freed while receives from ANY_SOURCE were posted there, which deaths of members concern. Not in images: older ones lack it. */
  private readonly freedWithWildcards = new Set<Communicator>();

  constructor(options: ProcessOptions) {
    this.rank = options.rank;
    this.ranks = options.ranks;
    this.nodeMap = options.nodeMap;
    this.memory = options.memory;
    this.boards = options.boards ?? null;
    const { protocol: newProtocol = null } = options;
    let protocol: Protocol | null = null;
    this.engine = new Engine({
      rank: options.rank,
      ranks: options.universe ?? options.ranks,
      replicas: options.replicas ?? 1,
      replica: options.replica ?? 0,
      transport: options.transport,
      memory: options.memory,
      pass: options.pass ?? null,
      hooks:
        newProtocol === null
          ? null
          : (engine) => {
              protocol = newProtocol(new ProtocolAccess(engine));
              return protocol;
            },
      ...(options.unexpectedBytesMax === undefined ? {} : { unexpectedBytesMax: options.unexpectedBytesMax }),
    });
    this.protocol = protocol;
    for (const [rank, incarnation] of (options.incarnations ?? []).entries()) {
      if (incarnation !== 0) this.knowLife({ rank, replica: options.replica ?? 0 }, incarnation);
    }
    this.failures = new Failures(this.engine);
    this.collectives = new Collectives(this.engine, options.memory, this.failures);
    this.inquiries = new Inquiries(this);
    this.revocations = new Revocations(this);
    this.agreements = new Agreements(this);
    const all = options.worldGroup ?? Group.world(options.ranks);
    const { nodeMap, worldBoard = -1 } = options;
    // The node that claimed it has all of them; the program must see it so as well, see `mayShareBoard`.
    const board = worldBoard >= 0 && memberNodesOf(all, nodeMap) === null ? worldBoard : -1;
    this.world = this.addCommunicator(options.worldContext ?? worldContext, all, null, board);
    const world = options.rank as WorldRank;
    this.everybody = new Communicator({ context: groupContext, group: Group.world(options.ranks), world, nodeMap });
    this.jobBoard = this.world.board;
    this.jobBoardIndex = this.world.boardIndex;
    // Also where this life has no boards: a later one may.
    this.keptBoards = this.choices === null ? null : new KeptBoards(this.rank, this.neighbours);
    this.self = this.addCommunicator(selfContext, Group.of([options.rank]), null);
  }

  /** How many communicators there have been, all together. */
  communicatorsMade = 0;

  /** `board` is the index of the board its members share, −1: none. */
  addCommunicator(context: number, group: Group, remote: Group | null, board = -1): Communicator {
    const world = this.rank as WorldRank;
    const communicator = new Communicator({ context, group, remote, world, nodeMap: this.nodeMap });
    this.communicators.set(context, communicator);
    this.communicatorsMade++;
    if (board >= 0 && remote === null) this.openBoard(communicator, board);
    if (this.failures.count !== 0) this.failures.update(communicator);
    this.revocations.made(communicator);
    this.background?.made(communicator);
    return communicator;
  }

  private openBoard(communicator: Communicator, index: number): void {
    if (this.boards === null) return;
    communicator.boardIndex = index;
    communicator.board = this.boards.open(index, communicator.rank, communicator.group.worldRanks());
  }

  /** Ends a communicator here. Messages under way still arrive in its context; no receive can take them any more. */
  freeCommunicator(communicator: Communicator): void {
    this.background?.freeing(communicator);
    communicator.freed = true;
    this.freedContexts.push(communicator.context);
    if (this.freedContexts.length > freedMax) this.freedContexts.shift();
    this.communicators.delete(communicator.context);
    for (const each of [...this.freedWithWildcards, communicator]) this.keepForWildcards(each);
    this.collectives.forget(communicator);
    // Also when it was given up: by a revocation, or because a member died.
    if (communicator.boardIndex >= 0) this.boards?.leave(communicator.boardIndex);
    communicator.board = null;
    communicator.boardIndex = -1;
  }

  private keepForWildcards(freed: Communicator): void {
    if (this.engine.matching.hasWildcards(freed.context)) this.freedWithWildcards.add(freed);
    else this.freedWithWildcards.delete(freed);
  }

  /**
   * After a restore: the job's own board is as new. Others are so where they are kept (kept-boards.ts); elsewhere they are gone with the
   * node that had them, and their communicators do with messages, all members alike.
   */
  reopenBoards(): void {
    const areKept = this.keptBoards?.areKeptAmong(this.neighbours) === true;
    if (!areKept) this.boardsLost++;
    this.engine.peers.restored();
    this.engine.outbox.numbers.restored();
    for (const communicator of this.communicators.values()) {
      const { boardIndex } = communicator;
      communicator.boardIndex = -1;
      const isKept = areKept && communicator !== this.world && !communicator.isRevoked;
      if (isKept && boardIndex >= 0) this.openBoard(communicator, boardIndex);
    }
    this.world.board = this.world.isRevoked ? null : this.jobBoard;
    this.world.boardIndex = this.jobBoardIndex;
  }

  /** The ranks of our node; none where it has no boards. */
  private get neighbours(): number[] {
    const { boards, ranks } = this;
    if (boards === null) return [];
    return Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => boards.reaches(rank));
  }

  /** The index of a board that a communicator of our node shall have, on behalf of its members; −1: there is none. */
  claimBoard(members: number): number {
    const { boards, keptBoards } = this;
    if (boards === null) return -1;
    return keptBoards === null ? boards.claim(members) : boards.kept(keptBoards.next(), members);
  }

  /**
   * Are all members on one node, by the program's node map and in fact? Boards take the place of messages, and which collectives are
   * messages must be the same wherever the processes run (rule 6): where two nodes of the map have come to share one, there is no
   * board for both.
   */
  mayShareBoard({ group, memberNodes }: Communicator): boolean {
    const { boards } = this;
    return memberNodes === undefined && boards !== null && group.worldRanks().every((member) => boards.reaches(member));
  }

  /** An image is about to be taken. */
  rememberNumbers(): void {
    this.engine.outbox.numbers.remember();
    for (const communicator of this.communicators.values()) communicator.countCompleted();
  }

  /** How members of a new communicator name a board to each other: in a later life it is none of theirs. */
  nameOfBoard(index: number): number {
    return index < 0 ? -1 : this.boardsLost * boardNames + index;
  }

  /** The board of that name; −1: there is none, or it went with the node that had it. */
  boardNamed(name: number): number {
    return name >= 0 && Math.floor(name / boardNames) === this.boardsLost ? name % boardNames : -1;
  }

  /** Was a communicator with that context freed lately, and is none being made that will have it? */
  hasFreed(context: number): boolean {
    return this.freedContexts.includes(context) && !this.collectives.isMaking(context);
  }

  /** Is a communicator of that context known here, was one revoked, or have members agreed on something in it? */
  isKnownContext(context: number): boolean {
    return this.communicators.has(context) || this.revocations.has(context) || this.agreements.has(context);
  }

  /** A spawn has made this inter-communicator: both sides come to their end together, also when it is freed before. */
  connect(communicator: Communicator): void {
    this.connections.set(communicator.context, communicator.peers);
  }

  disconnect(communicator: Communicator): void {
    if (this.connections.delete(communicator.context))
      sayFarewell(this.engine, communicator.context, communicator.peers);
  }

  /** Is a message or a collective of a communicator under way here? */
  isUsing(communicator: Communicator): boolean {
    const { engine } = this;
    const { context, operations } = communicator;
    return (
      operations > 0 || engine.completion.isUsing(context) || engine.completion.isUsing(partitionedContext(context))
    );
  }

  // Messages, in the communicator's ranks

  startSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number, mode: SendMode): RecordId {
    if (dest === PROC_NULL) return this.nothing(comm, RecordKind.SEND, from);
    return this.engine.startSend(from, bytes, comm.peers.worldRank(dest as CommRank), tag, comm.context, mode);
  }

  startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    if (source === PROC_NULL) return this.nothing(comm, RecordKind.RECEIVE, to);
    const world = source === ANY_SOURCE ? ANY_SOURCE : comm.peers.worldRank(source as CommRank);
    return this.engine.startReceive(to, room, world, tag, comm.context);
  }

  /** A request that is complete from the start: a message from or to PROC_NULL (MPI 5.0 §3.10). */
  private nothing(comm: Communicator, kind: RecordKind, pointer: Pointer): RecordId {
    const { records } = this.engine;
    const request = records.take(kind);
    records.put(request, R_POINTER, pointer);
    records.put(request, R_STATE, RecordState.COMPLETE);
    if (comm.isRevoked) records.put(request, R_ERROR, ErrorClass.REVOKED);
    records.put(request, R_STATUS_SOURCE, PROC_NULL);
    records.put(request, R_STATUS_TAG, -2);
    records.put(request, R_STATUS_BYTES, 0);
    return request;
  }

  // Tasks

  /** Starts a task; the request that is returned completes when it has ended. */
  start(task: Task): RecordId {
    task.request = this.engine.startOperation();
    if (task.advance(this)) this.engine.completion.complete(task.request, task.error);
    else {
      this.tasks.push(task);
      this.engine.pass.closeReceives();
    }
    return task.request;
  }

  /**
   * The last thing a process does: a barrier of its whole world, of those of it that live, in a context of its own, whatever the
   * program has done, and with those to whom a spawn has connected it. Begun by MPI_Finalize, or at the end of a program without it; its request stays.
   */
  startFinalBarrier(): RecordId {
    if (this.finalBarrier >= 0) return this.finalBarrier;
    const world = this.rank as WorldRank;
    const { group } = this.world;
    const last = new Communicator({ context: finalContext, group, world, nodeMap: this.nodeMap });
    const barrier = this.collectives.startEqual(last, "barrier", 0 as Pointer, 0 as Pointer, {});
    this.finalBarrier = this.start(new FinalMeeting(group, barrier, this.connections, this.engine));
    return this.finalBarrier;
  }

  /** Another process of the world has come to its end, behind the last barrier: so all have come to it. */
  peerLeft(rank: number): void {
    const { group } = this.world;
    if (this.finalBarrier >= 0 && group.has(rank as WorldRank)) this.agreements.conclude(finalContext, group, 0);
  }

  /** For a process that has stopped: the end of the process goes on, which is no matter of the program. True: something moved. */
  progressEnd(): boolean {
    let moved = this.engine.arrivals.hasNews && this.takeNews();
    if (this.collectives.progress()) moved = true;
    if (this.isOver && this.advanceTasks()) moved = true;
    return moved;
  }

  /** The program will start nothing any more, and nothing that it has started goes on in steps. */
  get isOver(): boolean {
    return this.finalBarrier >= 0 && this.tasks.every((task) => task instanceof FinalMeeting);
  }

  /** True while something of ours moves only by `progress`, whatever arrives: queued sends, pieces, collectives, tasks. */
  get isBusy(): boolean {
    return this.tasks.length !== 0 || this.collectives.isBusy || this.engine.isBusy || this.engine.arrivals.hasNews;
  }

  /** What a data plane may do, and needs for it. */
  get pass(): Pass {
    return this.engine.pass;
  }

  /** A data plane may send, or receive, if it would do what this process does now. */
  openPass(): void {
    const { engine } = this;
    if (!engine.pass.isUsed || !engine.pass.isWanted) return;
    const receives = engine.receivesArePlain && !this.isBusy && this.collectives.programOperations === 0;
    engine.pass.open({ sends: engine.sendsArePlain, receives });
  }

  /**
   * The life of this process begins, after a restore or in place of it. Collectives that waited at boards when they were captured arrive again, or go on by messages where there is no
   * board any more: not before the protocol has begun, which must see those.
   */
  beginLife(beginning: Beginning): void {
    this.protocol?.begin(beginning);
    this.collectives.arriveAgain();
  }

  /** Moves whatever can move; true when anything did. */
  progress(): boolean {
    if (this.inquiries.refused !== null) this.inquiries.tellRefused();
    let moved = this.engine.progress();
    if (this.engine.arrivals.hasNews && this.takeNews()) moved = true;
    // A wait comes here often: what has nothing to do costs two comparisons.
    const { background } = this;
    if (background !== null && (background.isBusy || background.appendedSeen !== this.engine.unexpected.appended)) {
      if (background.progress()) moved = true;
    }
    if (this.collectives.isBusy && this.collectives.progress()) moved = true;
    if (this.tasks.length !== 0 && this.advanceTasks()) moved = true;
    return moved;
  }

  private advanceTasks(): boolean {
    const { tasks, revocations, collectives } = this;
    const endings = revocations.count + collectives.givenUp;
    let moved = false;
    for (let i = 0; i < tasks.length; ) {
      const task = tasks[i]!;
      if (task.advance(this)) {
        this.engine.completion.complete(task.request, task.error);
        tasks[i] = tasks[tasks.length - 1]!;
        tasks.pop();
        moved = true;
      } else i++;
    }
    // A task that gives up ends an operation or revokes its communicator, and has to see what becomes of the messages.
    return moved || revocations.count + collectives.givenUp !== endings;
  }

  /** What other members have to say about communicators. */
  private takeNews(): boolean {
    for (const { kind, source, words } of this.engine.arrivals.takeNews()) {
      if (kind === PacketKind.REVOKE) this.revocations.take(source as WorldRank, words);
      else if (kind === PacketKind.INQUIRY) this.inquiries.take(source as WorldRank, words);
      else this.agreements.take(source as WorldRank, words);
    }
    return true;
  }

  // Deaths

  /** For a member that waits at the gate of a board: throws REVOKED, unless all have come and the gate is about to open. */
  checkGate(comm: Communicator, board: Board): void {
    this.inquiries.checkGate();
    if (!comm.isRevoked || !board.withdraw()) return;
    throw new MpiError(ErrorClass.REVOKED, "Cannot complete the collective: the communicator is revoked");
  }

  /** The observer of non-deterministic outcomes; null: there is none. */
  get choices(): Choices | null {
    return this.protocol === null ? null : this.protocol.choices;
  }

  /** A new life takes the place of the one that was lost. */
  peerReturned(name: ProcessName, incarnation: number): void {
    if (this.protocol?.peersSpeak !== false) this.knowLife(name, incarnation);
    this.protocol?.peerReturned(name, incarnation);
  }

  /** That life of a process is there, or will be: nothing that earlier ones have sent counts any more. */
  private knowLife({ rank, replica }: ProcessName, incarnation: number): void {
    const { peers } = this.engine;
    peers.know(peers.numberOf(rank, replica), incarnation);
  }

  /** The dispatcher declared a death. */
  peerFailed(name: ProcessName, incarnation: number): void {
    if (this.protocol?.deathEndsRequests === false) {
      this.protocol.peerFailed(name, incarnation);
      return;
    }
    const { rank } = name;
    if (this.engine.peers.hasFailed(rank)) return;
    this.engine.peerFailed(name);
    // Another process plays the rank for us.
    if (!this.engine.peers.hasFailed(rank)) return;
    // What the dead has said in its life counts.
    this.takeNews();
    this.failures.ranks.push(rank as WorldRank);
    this.collectives.peerFailed(rank as WorldRank);
    if (this.protocol !== null) this.protocol.peerFailed(name, incarnation);
    // A wildcard receive might wait for the dead for ever: it is reported, and the program decides (MPI 5.0, ULFM).
    for (const communicator of this.communicators.values()) {
      if (!communicator.peers.has(rank as WorldRank)) continue;
      communicator.closeToPlane();
      this.failures.update(communicator);
      this.engine.matching.stallWildcards(communicator.context);
    }
    for (const { peers, context } of this.freedWithWildcards) {
      if (peers.has(rank as WorldRank)) this.engine.matching.stallWildcards(context);
    }
    this.revocations.peerFailed(rank as WorldRank);
    this.agreements.peerFailed();
  }
}

lives({ Process });
