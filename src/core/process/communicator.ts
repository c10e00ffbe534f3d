/**
 * A communicator as one process knows it: its members, its contexts and their counters. Data only; what is done with it
 * is in process.ts (messages), collectives.ts and the operations that make new ones.
 */
import type { WorldRank } from "../base/brand.ts";
import { CONGRUENT, IDENT, SIMILAR, UNDEFINED, UNEQUAL } from "../base/constants.ts";
import type { ErrorCode, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";
import type { Board } from "../coll/engine/board.ts";
import { unknownKind, unlike } from "../coll/engine/collective-call.ts";
import { CompiledScheduleCache } from "../coll/engine/compiled-schedule-cache.ts";
import { foldSteps } from "../coll/engine/reduction-order.ts";
import type { MemberNodes } from "../coll/intra/node-layout.ts";
import type { Group } from "../comm/group.ts";
import type { Topology } from "../comm/topology/topology.ts";
import { collectiveContext } from "./context.ts";
import { memberNodesOf, type NodeMap } from "./node-map.ts";

interface CommunicatorOptions {
  readonly context: number;
  readonly group: Group;
  /** The other side of an inter-communicator. */
  readonly remote?: Group | null;
  readonly world: WorldRank;
  readonly nodeMap: NodeMap;
}

export class Communicator {
  static readonly unsaved = {
    currentBoard: null,
    knownFoldSteps: null,
    knownMemberNodes: undefined,
    knownPrograms: null,
    lastKind: unknownKind,
    lastRoot: unlike,
    lastBytes: unlike,
    lastError: 0,
    disagreement: null,
  };
  readonly context: number;
  readonly collectiveContext: number;
  readonly group: Group;
  readonly remote: Group | null;
  readonly rank: number;
  readonly size: number;
  /** The group that ranks of messages refer to: the remote group of an inter-communicator, the own group otherwise. */
  readonly peers: Group;
  /** Number of the next collective: the tag of its messages. Every member counts alike. */
  collectives = 0;
  /** The last of them, as this rank called it; the error with which it was given up, 0: it was not. */
  lastKind: number = unknownKind;
  lastRoot: number = unlike;
  lastBytes: number = unlike;
  lastError: ErrorCode = 0;
  /** Numbers that are taken, and whose collectives have still to begin; null: none. */
  private promised: Set<number> | null = null;
  /** How often each persistent collective was started, by its tag; null: none was. */
  private turns: Map<number, number> | null = null;
  /** Why a collective was given up on it: its ranks disagreed. Until the program is told; null: none was. */
  disagreement: MpiError | null = null;
  /** Persistent collectives made on it: they are matched by the order in which they were made, started in any. */
  persistentCollectives = 0;
  /** Communicators made from this one: see context.ts. */
  children = 0;
  /** Communicators that only some of its members made: processes may count them differently. */
  groupChildren = 0;
  /**
   * Calls that only some members make (MPI_Comm_create_group, the leaders of MPI_Intercomm_create), by the world rank of each other member
   * that makes them too: how many this rank has come to. Two ranks make those that they have in common in the same order. Null: none.
   */
  private partialCalls: Map<number, number> | null = null;
  /** By world rank and tag: words of leaders (MPI_Intercomm_create) that belong to calls which this rank had given up. Null: none. */
  private leftWords: Map<string, number> | null = null;
  private currentBoard: Board | null = null;
  boardIndex = -1;
  private knownFoldSteps: Int32Array | null = null;
  freed = false;
  /** By us or by another member: everything on it ends with REVOKED but agreements, shrinking and what is local. */
  isRevoked = false;
  /**
   * A layer above the process knows of a dead member, or of a revocation, which the process does not: members need not come to anything here any
   * more, and nobody judges whether they do.
   */
  isBroken = false;
  /** How many of its dead members, in the order of their deaths, the program has acknowledged. */
  acknowledged = 0;
  /** Number of the next agreement among its members: they agree in the same order. */
  agreements = 0;
  topology: Topology | null = null;
  /** Number of this communicator among those that have had collectives, −1: it has had none. */
  channel = -1;
  /** Collectives under way. */
  operations = 0;
  private readonly nodeMap: NodeMap;
  /** Undefined: not asked for yet. */
  private knownMemberNodes: MemberNodes | null | undefined = undefined;
  private knownPrograms: CompiledScheduleCache | null = null;

  constructor({ context, group, remote, world, nodeMap }: CommunicatorOptions) {
    this.context = context;
    this.collectiveContext = collectiveContext(context);
    this.group = group;
    this.remote = remote ?? null;
    this.peers = this.remote ?? group;
    const rank = group.rankOf(world);
    this.rank = rank === UNDEFINED ? -1 : rank;
    this.size = group.size;
    this.nodeMap = nodeMap;
  }

  /** Node of each member, by the program's node map; undefined when all of them are on one node. */
  get memberNodes(): MemberNodes | undefined {
    if (this.knownMemberNodes === undefined) this.knownMemberNodes = memberNodesOf(this.group, this.nodeMap);
    return this.knownMemberNodes ?? undefined;
  }

  /** Compiled schedules of collectives that were run on it. */
  get programs(): CompiledScheduleCache {
    this.knownPrograms ??= new CompiledScheduleCache();
    return this.knownPrograms;
  }

  /** The canonical order of reduction, for the board. */
  get foldSteps(): Int32Array {
    this.knownFoldSteps ??= foldSteps(this.size);
    return this.knownFoldSteps;
  }

  /** Shared memory for small blocking collectives, where all members are on one node. A data plane may use it as long as it is there. */
  get board(): Board | null {
    return this.currentBoard;
  }

  set board(board: Board | null) {
    this.countCompleted();
    this.currentBoard?.seat?.setOpen(false);
    this.currentBoard = board;
    board?.seat?.setOpen(true);
  }

  /** A member is dead: a data plane would wait for it at the board. */
  closeToPlane(): void {
    this.currentBoard?.seat?.setOpen(false);
  }

  /** Counts what a data plane has completed at the board: before anybody asks for the number or the last call. */
  countCompleted(): void {
    const completed = this.currentBoard?.seat?.takeCompleted() ?? null;
    if (completed === null) return;
    this.collectives = (this.collectives + completed.count) & numberMax;
    this.lastKind = completed.kind;
    this.lastRoot = completed.root;
    this.lastBytes = completed.bytes;
    this.lastError = 0;
  }

  /** IDENT, CONGRUENT (the same members in the same order), SIMILAR (in another order) or UNEQUAL. */
  compare(other: Communicator): number {
    if (this === other) return IDENT;
    if (this.isInter !== other.isInter) return UNEQUAL;
    const sides: number[] = [this.group.compare(other.group)];
    if (this.remote !== null && other.remote !== null) sides.push(this.remote.compare(other.remote));
    if (sides.includes(UNEQUAL)) return UNEQUAL;
    return sides.includes(SIMILAR) ? SIMILAR : CONGRUENT;
  }

  get isInter(): boolean {
    return this.remote !== null;
  }

  /** Where this process stands, in the words of schedules: for both kinds of communicators. */
  get place(): { rank: number; size: number; localSize: number; remoteSize: number } {
    return { rank: this.rank, size: this.size, localSize: this.size, remoteSize: this.peers.size };
  }

  /**
   * Number of the next collective on this communicator, as a tag: the members run them in the same order. The words are those of
   * `CollectiveCall`. Calls that take no part in messages are counted too: those on boards, those whose arguments are refused.
   */
  nextCollective(kind: number, root: number, bytes: number): number {
    this.countCompleted();
    const number = this.collectives;
    this.collectives = (number + 1) & numberMax;
    this.lastKind = kind;
    this.lastRoot = root;
    this.lastBytes = bytes;
    this.lastError = 0;
    return number;
  }

  /** The number that the next collective will have. */
  get nextNumber(): number {
    this.countCompleted();
    return this.collectives;
  }

  /** A number for a collective that begins later, whatever is started meanwhile. */
  promiseCollective(): number {
    const number = this.nextCollective(unknownKind, unlike, unlike);
    this.promised ??= new Set();
    this.promised.add(number);
    return number;
  }

  /** The collective with that number begins now, or never will. */
  endPromise(number: number): void {
    this.promised?.delete(number);
  }

  /** Has this rank come to the collective with that number? Of a persistent one: to that start. */
  hasReached(number: number, turn: number): boolean {
    if (number >= firstPersistentTag) return (this.turns?.get(number) ?? 0) >= turn;
    this.countCompleted();
    return isNumberBefore(number, this.collectives) && this.promised?.has(number) !== true;
  }

  /** Has this rank taken the number of that collective? One that is promised begins later, without the program. */
  hasTaken(number: number, turn: number): boolean {
    return this.promised?.has(number) === true || this.hasReached(number, turn);
  }

  /** This rank comes to a call that these members make, itself among them, and perhaps no others. */
  beginPartial(members: Iterable<WorldRank>): void {
    this.partialCalls ??= new Map();
    for (const member of members) this.partialCalls.set(member, this.partialCallsWith(member) + 1);
  }

  /** How many such calls this rank has come to with that member. */
  partialCallsWith(member: WorldRank): number {
    return this.partialCalls?.get(member) ?? 0;
  }

  /** That member has given up such a call, the one with that number between the two. This rank will not come to it, if it has not. */
  skipPartial(member: WorldRank, number: number): void {
    this.partialCalls ??= new Map();
    if (number > this.partialCallsWith(member)) this.partialCalls.set(member, number);
  }

  /** This rank, a leader, gives up a call in which the other leader has something to say, or will have. */
  leaveWord(leader: WorldRank, tag: number): void {
    const key = `${leader} ${tag}`;
    this.leftWords ??= new Map();
    this.leftWords.set(key, (this.leftWords.get(key) ?? 0) + 1);
  }

  /** A word of the other leader: does it belong to such a call? */
  takeLeftWord(leader: WorldRank, tag: number): boolean {
    const key = `${leader} ${tag}`;
    const left = this.leftWords?.get(key) ?? 0;
    if (left === 0) return false;
    if (left === 1) this.leftWords!.delete(key);
    else this.leftWords!.set(key, left - 1);
    return true;
  }

  /** Number of the last collective, −1: there was none. */
  get lastCollective(): number {
    this.countCompleted();
    return this.lastKind === unknownKind ? -1 : (this.collectives - 1) & numberMax;
  }

  /** The reason why a collective on it ended with that error, if its ranks disagreed; null: another one. Told once. */
  takeDisagreement(error: ErrorCode): MpiError | null {
    const { disagreement } = this;
    if (disagreement?.code !== error) return null;
    this.disagreement = null;
    return disagreement;
  }

  /** A start of the collective with that tag: its number if it is a persistent one, else 0. */
  nextTurn(tag: number): number {
    if (tag < firstPersistentTag) return 0;
    this.turns ??= new Map();
    const turn = (this.turns.get(tag) ?? 0) + 1;
    this.turns.set(tag, turn);
    return turn;
  }

  /** The tag of a new persistent collective, for all its starts: beyond those of the others. */
  nextPersistent(): number {
    const number = this.persistentCollectives;
    this.persistentCollectives = (number + 1) & numberMax;
    return number + firstPersistentTag;
  }
}

/** Numbers of collectives wrap behind it. */
const numberMax = 0x3fffffff;

/** Of two numbers of collectives, which are never far from each other: does the one come before the other? */
export const isNumberBefore = (one: number, other: number): boolean => ((one - other) & numberMax) > numberMax >> 1;

const firstPersistentTag = 0x40000000;

saves({ Communicator });
