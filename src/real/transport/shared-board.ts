/**
 * `Boards` in the node's shared memory. A board's control lines: who is present, how many have arrived (one counter for each
 * of the two banks), the gate, the members' places; then two parts for each member, on lines of their own. A part begins with
 * its length. Where that is more than it has room for, the bytes are in the member's long part, elsewhere in the memory, which the
 * first boards of a node have. The word behind the length says whether the part is lent, and where the member's program has it.
 *
 * The gate counts rounds opened. A member waiting at round k (from 0) sees k before and k + 1 after: it cannot be k + 2,
 * because that gate opens only after this member has arrived at round k + 1. So equality is the test, also when counts wrap.
 *
 * A member that dies leaves its round's gate shut; the node's main thread leaves the board in its name (living-processes.ts).
 */
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import type { Board, Boards } from "../../core/coll/engine/board.ts";
import type { MeetingPass } from "../../core/coll/engine/meeting-pass.ts";
import { GateArrival, type Seat } from "../../core/coll/engine/seat.ts";
import { type Views, viewsOf } from "../../core/comm/datatype/views.ts";
import { BoardPart, boardOf, type LongParts, lineBytes, longPartsOf, partHeadBytes, partStride } from "./layout.ts";
import type { NodeCalls, NodeMemory } from "./node-memory.ts";
import type { RingTransport } from "./ring-transport.ts";

interface SharedBoardsOptions {
  readonly meetings?: MeetingPass | null;
  /**
   * Under the fault layer nobody lends: one that hears of a death has to know from a single gate whether a collective is carried out by all
   * (docs/adr/0081-parts-that-are-lent.md).
   */
  readonly mayLend?: boolean;
}

export class SharedBoards implements Boards {
  readonly #node: NodeMemory;
  readonly #ring: RingTransport;
  /** Index in the node of each world rank, −1 for those elsewhere. */
  readonly #places: Int32Array;
  readonly #views: Views;
  /** Our member number on each board we have opened, −1 elsewhere. */
  readonly #member: Int32Array;
  /** Where a data plane has our seats; null: there is none. */
  readonly #meetings: MeetingPass | null;
  readonly #mayLend: boolean;

  constructor(node: NodeMemory, ring: RingTransport, places: Int32Array, options: SharedBoardsOptions = {}) {
    const { meetings = null, mayLend = true } = options;
    this.#meetings = meetings;
    this.#mayLend = mayLend;
    this.#node = node;
    this.#ring = ring;
    this.#places = places;
    this.#views = viewsOf(node.bytes.buffer);
    this.#member = new Int32Array(node.layout.boardCount).fill(-1);
  }

  reaches(worldRank: number): boolean {
    return (this.#places[worldRank] ?? -1) >= 0;
  }

  claim(members: number): number {
    return claimBoard(this.#node, members);
  }

  /** Those behind the job's own, which is the first that was claimed; a process claims others or keeps them. */
  kept(number: number, members: number): number {
    const { boardMembers, boardCount } = this.#node.layout;
    return members <= boardMembers && 1 + number < boardCount ? 1 + number : -1;
  }

  open(index: number, member: number, worldRanks: readonly number[]): Board {
    assert(this.#member[index] === -1, "a process is one member of a board");
    const places = worldRanks.map((rank) => this.#places[rank]!);
    assert(
      places.every((place) => place >= 0),
      "the members of a board are in one node",
    );
    this.#member[index] = member;
    const board = boardOf(this.#node.layout, index);
    this.#node.calls.store(board + BoardPart.MEMBERS + member * 4, this.#node.process + 1);
    const seat = this.#meetings?.seatAt(index) ?? null;
    const longs = longPartsOf(this.#node.layout, index, places.length);
    // All know whether all reach each other's buffers.
    const canLend = this.#mayLend && places.length > 1 && worldRanks.every((rank) => this.#ring.shares(rank));
    const lentBytesMin = canLend ? this.#node.layout.lentBytesMin : 0x7fffffff;
    seat?.take({ board, longs: longs.at, bytesMax: longs.bytes, lentBytesMin, members: places.length, member });
    return new SharedBoard(this.#node, this.#ring, {
      board,
      longs,
      lentBytesMin,
      places,
      memory: this.#views,
      seat,
      meetings: this.#meetings,
    });
  }

  leave(index: number): void {
    const member = this.#member[index]!;
    assert(member >= 0, "a member leaves a board once, and after it opened it");
    this.#member[index] = -1;
    this.#node.calls.boardLeave(boardOf(this.#node.layout, index), member);
  }
}

export function claimBoard({ calls, layout }: NodeMemory, members: number): number {
  if (members < 1 || members > layout.boardMembers) return -1;
  for (let index = 0; index < layout.boardCount; index++) {
    if (calls.boardClaim(boardOf(layout, index), members) === 1) return index;
  }
  return -1;
}

/** Of a part's head: where its bytes are lent, or a `Lent`. */
const lentWord = 1;

interface SharedBoardOptions {
  readonly board: number;
  readonly longs: LongParts;
  readonly lentBytesMin: number;
  /** A data plane goes through rounds as well: where it and the board say how many there were; null: there is no plane. */
  readonly seat: Seat | null;
  readonly meetings: MeetingPass | null;
  readonly memory: Views;
  /** Index in the node of every member. */
  readonly places: readonly number[];
}

class SharedBoard implements Board {
  readonly bytesMax: number;
  readonly lentBytesMin: number;
  readonly lendsAll: boolean;
  readonly memory: Views;
  readonly #calls: NodeCalls;
  readonly #words: Int32Array;
  readonly #ring: RingTransport;
  readonly #board: number;
  readonly #members: number;
  readonly #shortBytes: number;
  readonly #partStride: number;
  readonly #longs: number;
  readonly #longStride: number;
  readonly #places: readonly number[];
  readonly #gate: number;
  readonly seat: Seat | null;
  readonly #meetings: MeetingPass | null;
  /** The round in which we are, its bank's counter and data: fields, because an allreduce asks for them a dozen times. */
  #round = 0;
  #arrived: number;
  #data: number;

  constructor(node: NodeMemory, ring: RingTransport, options: SharedBoardOptions) {
    const { board, longs, lentBytesMin, places, memory, seat, meetings } = options;
    const { boardBytes } = node.layout;
    this.#meetings = meetings;
    this.bytesMax = longs.bytes;
    this.#shortBytes = boardBytes;
    this.#partStride = partStride(boardBytes);
    this.#longs = longs.at;
    this.#longStride = partStride(longs.bytes);
    this.lentBytesMin = lentBytesMin;
    // Programs whose buffers are in the node's memory give ordinary arrays as well.
    this.lendsAll = !ring.buffersAreInNode;
    this.memory = memory;
    this.#calls = node.calls;
    this.#words = node.words;
    this.#ring = ring;
    this.#board = board;
    this.#members = places.length;
    this.#places = places;
    this.#gate = board + BoardPart.GATE;
    this.seat = seat;
    this.#arrived = board + BoardPart.ARRIVED;
    this.#data = board + BoardPart.DATA;
  }

  get rounds(): number {
    return this.seat?.round ?? this.#round;
  }

  /** A plane may have been through rounds since we looked. */
  #follow(): void {
    if (this.seat !== null && this.seat.round !== this.#round) this.#enter(this.seat.round);
  }

  #enter(round: number): void {
    const bank = round & 1;
    this.#round = round;
    this.#arrived = this.#board + BoardPart.ARRIVED + bank * lineBytes;
    this.#data = this.#board + BoardPart.DATA + bank * this.#members * this.#partStride;
  }

  part(member: number): Pointer {
    if (this.lengthOf(member) <= this.#shortBytes) {
      return (this.#data + member * this.#partStride + partHeadBytes) as Pointer;
    }
    return (this.#longs + ((this.#round & 1) * this.#members + member) * this.#longStride) as Pointer;
  }

  lengthOf(member: number): number {
    return this.#words[this.#headOf(member)]!;
  }

  putLength(member: number, bytes: number): void {
    this.#follow();
    const head = this.#headOf(member);
    this.#words[head] = bytes;
    this.#words[head + lentWord] = 0;
  }

  lend(member: number, at: number): void {
    this.#words[this.#headOf(member) + lentWord] = at;
  }

  lentAt(member: number): number {
    return this.#words[this.#headOf(member) + lentWord]!;
  }

  fetch(member: number, to: Pointer, toOffset: number, lent: number, bytes: number): void {
    this.#ring.copyFrom(this.#places[member]!, to, toOffset, lent, bytes);
  }

  /** Index of the first word of a part. */
  #headOf(member: number): number {
    return (this.#data + member * this.#partStride) >> 2;
  }

  arrive(): boolean {
    this.#follow();
    if (this.#calls.boardArrive(this.#arrived, this.#members) === 1) return true;
    this.#ring.watch(this.#gate, (this.#round + 1) | 0);
    return false;
  }

  takeOver(): GateArrival {
    const arrival = this.seat?.takeArrival() ?? GateArrival.NONE;
    if (arrival === GateArrival.NONE) return arrival;
    this.#follow();
    this.#meetings?.leaveGate();
    this.#ring.watch(this.#gate, (this.#round + 1) | 0);
    return arrival;
  }

  withdraw(): boolean {
    if (this.#calls.boardWithdraw(this.#arrived, this.#members) === 0) return false;
    this.#ring.watch(0, 0);
    return true;
  }

  open(): void {
    const round = (this.#round + 1) | 0;
    if (this.#calls.boardOpen(this.#board, this.#arrived, round, this.#members) === 0) return;
    for (const place of this.#places) this.#ring.ring(place);
  }

  passed(): boolean {
    // A plain look first: it is asked again and again, and only a yes must order the reads after it.
    if (this.#words[this.#gate >> 2] !== ((this.#round + 1) | 0)) return false;
    this.#calls.load(this.#gate);
    this.#ring.watch(0, 0);
    return true;
  }

  next(): void {
    this.#enter((this.#round + 1) | 0);
    this.seat?.nextRound();
  }
}
