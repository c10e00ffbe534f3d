/**
 * Boards (core/coll/engine/board.ts) in the memory of a simulated node. The last member to arrive opens the gate, and the others see it a
 * while later: until then a round is neither over nor to be taken back, as when a real thread is interrupted just there.
 *
 * A node has few of them, and they hold little, so that collectives often have to do with messages.
 */
import { assert } from "../core/base/assert.ts";
import type { Pointer } from "../core/base/brand.ts";
import type { Board, Boards } from "../core/coll/engine/board.ts";
import { LentPlace } from "../core/coll/engine/lent-parts.ts";
import { GateArrival } from "../core/coll/engine/seat.ts";
import { type Views, viewsOf } from "../core/comm/datatype/views.ts";
import type { Arena } from "./arena.ts";

/** Boards lie in the arena of the node and belong to no process. */
const owner = -1;
const headBytes = 16;
/** Of a part's head: where its bytes are lent. */
const lentWord = 1;
/** Little, so that it happens often. */
const lentBytesMin = 24;
/** Boards that are kept. Few, so that some communicators have none. */
const keptMax = 8;

export interface BoardLimits {
  readonly count: number;
  /** Of one member's part. */
  readonly bytesMax: number;
  /** Not under the fault layer; unless told otherwise members do. */
  readonly mayLend?: boolean;
}

interface Shared {
  readonly members: number;
  readonly data: number;
  /** By bank. */
  readonly arrived: [number, number];
  /** Rounds that all members may see to be over. */
  gate: number;
  present: number;
}

/** What the processes of a node have in common; a node that begins anew has new ones. */
export class NodeBoards {
  readonly limits: BoardLimits;
  readonly views: Views;
  readonly #arena: Arena;
  readonly #boards: (Shared | null)[];

  constructor(arena: Arena, limits: BoardLimits) {
    this.#arena = arena;
    this.limits = limits;
    this.views = viewsOf(arena.bytes.buffer);
    this.#boards = new Array<Shared | null>(limits.count).fill(null);
  }

  get stride(): number {
    return headBytes + Math.ceil(this.limits.bytesMax / 16) * 16;
  }

  claim(members: number): number {
    const index = this.#boards.indexOf(null);
    if (index < 0 || index >= this.limits.count) return -1;
    this.#boards[index] = this.#newBoard(members);
    return index;
  }

  #newBoard(members: number): Shared {
    const data = this.#arena.allocate(2 * members * this.stride, owner);
    return { members, data, arrived: [0, 0], gate: 0, present: members };
  }

  at(index: number): Shared {
    const board = this.#boards[index];
    assert(board !== null && board !== undefined, `board ${index} is used, and nobody has claimed it`);
    return board;
  }

  /** The first of its members to come makes a kept board ready. */
  kept(number: number): number {
    return number < keptMax ? this.limits.count + number : -1;
  }

  open(index: number, members: number): Shared {
    if (index >= this.limits.count) this.#boards[index] ??= this.#newBoard(members);
    return this.at(index);
  }

  leave(index: number): void {
    const board = this.at(index);
    if (index >= this.limits.count || --board.present > 0) return;
    this.#arena.free(board.data, owner);
    this.#boards[index] = null;
  }
}

interface SimBoardsPorts {
  /** After a random while. */
  later(act: () => void): void;
  wake(rank: number): void;
  /** Is that process on our node? */
  isHere(rank: number): boolean;
  /** From the memory of a process of our node to our own. */
  fetch(to: Pointer, toOffset: number, from: number, bytes: number): void;
  /** How often members met. */
  readonly counts: BoardCounts;
}

export interface BoardCounts {
  meetings: number;
  withdrawn: number;
  lent: number;
}

/** The end of one process. */
export class SimBoards implements Boards {
  readonly #node: NodeBoards;
  readonly #ports: SimBoardsPorts;

  constructor(node: NodeBoards, ports: SimBoardsPorts) {
    this.#node = node;
    this.#ports = ports;
  }

  reaches(worldRank: number): boolean {
    return this.#ports.isHere(worldRank);
  }

  claim(members: number): number {
    return this.#node.claim(members);
  }

  kept(number: number): number {
    return this.#node.kept(number);
  }

  open(index: number, _member: number, worldRanks: readonly number[]): Board {
    return new SimBoard(this.#node, this.#node.open(index, worldRanks.length), worldRanks, this.#ports);
  }

  leave(index: number): void {
    this.#node.leave(index);
  }
}

class SimBoard implements Board {
  readonly bytesMax: number;
  /** Programs give lent views as well. */
  readonly lendsAll = false;
  readonly memory: Views;
  readonly seat = null;
  readonly #mayLend: boolean;
  readonly #shared: Shared;
  readonly #stride: number;
  readonly #ranks: readonly number[];
  readonly #ports: SimBoardsPorts;
  #round = 0;

  constructor(node: NodeBoards, shared: Shared, ranks: readonly number[], ports: SimBoardsPorts) {
    this.bytesMax = node.limits.bytesMax;
    this.#mayLend = node.limits.mayLend ?? true;
    this.memory = node.views;
    this.#stride = node.stride;
    this.#shared = shared;
    this.#ranks = ranks;
    this.#ports = ports;
  }

  get rounds(): number {
    return this.#round;
  }

  get #bank(): 0 | 1 {
    return (this.#round & 1) as 0 | 1;
  }

  #place(member: number): number {
    return this.#shared.data + (this.#bank * this.#shared.members + member) * this.#stride;
  }

  part(member: number): Pointer {
    return (this.#place(member) + headBytes) as Pointer;
  }

  lengthOf(member: number): number {
    return this.memory.int32[this.#place(member) >> 2]!;
  }

  putLength(member: number, bytes: number): void {
    const head = this.#place(member) >> 2;
    this.memory.int32[head] = bytes;
    this.memory.int32[head + lentWord] = 0;
  }

  get lentBytesMin(): number {
    return this.#mayLend && this.#shared.members > 1 ? lentBytesMin : 0x7fffffff;
  }

  lend(member: number, at: number): void {
    this.memory.int32[(this.#place(member) >> 2) + lentWord] = at;
    if (at > LentPlace.ON_BOARD) this.#ports.counts.lent++;
  }

  lentAt(member: number): number {
    return this.memory.int32[(this.#place(member) >> 2) + lentWord]!;
  }

  fetch(_member: number, to: Pointer, toOffset: number, lent: number, bytes: number): void {
    this.#ports.fetch(to, toOffset, lent, bytes);
  }

  arrive(): boolean {
    const { arrived, members } = this.#shared;
    arrived[this.#bank]++;
    return arrived[this.#bank] === members;
  }

  takeOver(): GateArrival {
    return GateArrival.NONE;
  }

  withdraw(): boolean {
    const { arrived, members } = this.#shared;
    if (this.passed() || arrived[this.#bank] === members) return false;
    arrived[this.#bank]--;
    this.#ports.counts.withdrawn++;
    return true;
  }

  open(): void {
    const shared = this.#shared;
    const [bank, round] = [this.#bank, this.#round];
    this.#ports.counts.meetings++;
    this.#ports.later(() => {
      shared.arrived[bank] = 0;
      shared.gate = round + 1;
      for (const rank of this.#ranks) this.#ports.wake(rank);
    });
  }

  passed(): boolean {
    return this.#shared.gate === this.#round + 1;
  }

  next(): void {
    this.#round++;
  }
}
