/**
 * The seat of a member at a board (board.ts): the words of a round that a data plane can go through in the place of the engine
 * (docs/adr/0025-collectives-in-the-data-plane.md). Both run in the thread of the process, never at the same time, so no word needs an
 * atomic operation.
 */

/** Words of a seat, as collectives.wat has them. */
/** 1: the plane may meet the other members here. */
const S_OPEN = 0;
/** Rounds that this member has been through. */
const S_ROUND = 1;
/** A `GateArrival`: the plane has arrived at the current round, and the engine goes on with the call. */
const S_ARRIVED = 2;
/** Collectives that the plane has completed, and that the communicator has not counted yet; what the last of them was. */
const S_COMPLETED = 3;
const S_KIND = 4;
const S_ROOT = 5;
const S_BYTES = 6;
/** Address of the board, its members, and which of them this one is: written when the board is opened. */
const S_BOARD = 7;
const S_MEMBERS = 8;
const S_MEMBER = 9;
/** Address of its long parts, 0: it has none. */
const S_LONGS = 10;
/** What a member can put on the board. */
const S_BYTES_MAX = 11;
/** From so many bytes on its part may be lent (board.ts); more than there are: none may. */
const S_LENT_BYTES_MIN = 12;

export const seatWords = 16;

/** At which gate of its call a member stands. */
export const GateArrival = {
  /** It has not come to any. */
  NONE: 0,
  FIRST: 1,
  /** It has taken what it wants of the others' parts. */
  SECOND: 2,
} as const;
export type GateArrival = (typeof GateArrival)[keyof typeof GateArrival];

/** Where a member sits. */
interface SeatPlace {
  readonly board: number;
  readonly longs: number;
  readonly bytesMax: number;
  readonly lentBytesMin: number;
  readonly members: number;
  readonly member: number;
}

/** The last of the collectives that a plane has completed, and how many there were. */
interface Completed {
  readonly count: number;
  readonly kind: number;
  readonly root: number;
  readonly bytes: number;
}

export class Seat {
  private readonly words: Int32Array;
  /** Where the words are in the memory that the plane sees. */
  readonly address: number;

  constructor(words: Int32Array, address: number) {
    this.words = words;
    this.address = address;
  }

  /** The member takes the seat, at the first round. */
  take({ board, longs, bytesMax, lentBytesMin, members, member }: SeatPlace): void {
    const { words } = this;
    words.fill(0);
    words[S_BOARD] = board;
    words[S_MEMBERS] = members;
    words[S_MEMBER] = member;
    words[S_LONGS] = longs;
    words[S_BYTES_MAX] = bytesMax;
    words[S_LENT_BYTES_MIN] = lentBytesMin;
  }

  /** May the plane meet the other members here? */
  setOpen(isOpen: boolean): void {
    this.words[S_OPEN] = isOpen ? 1 : 0;
  }

  get round(): number {
    return this.words[S_ROUND]!;
  }

  nextRound(): void {
    this.words[S_ROUND] = (this.words[S_ROUND]! + 1) | 0;
  }

  /** The plane has put this member's part in its place and arrived: said once. */
  takeArrival(): GateArrival {
    const arrival = this.words[S_ARRIVED] as GateArrival;
    this.words[S_ARRIVED] = GateArrival.NONE;
    return arrival;
  }

  /** What the plane has completed since the last time; null: nothing. */
  takeCompleted(): Completed | null {
    const { words } = this;
    const count = words[S_COMPLETED]!;
    if (count === 0) return null;
    words[S_COMPLETED] = 0;
    return { count, kind: words[S_KIND]!, root: words[S_ROOT]!, bytes: words[S_BYTES]! };
  }
}
