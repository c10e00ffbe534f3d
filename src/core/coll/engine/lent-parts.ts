/**
 * Which calls on a board are *lending*: parts of so many bytes that a second round costs less than a second copy stay where the program has
 * them, and those who want them fetch them (board.ts). All members must say the same, so nothing counts here that one of them alone knows.
 */
import type { Pointer } from "../../base/brand.ts";
import type { Board, BoardKind } from "./board.ts";

/** In the place of the address of a part that is lent. */
export const LentPlace = {
  /** The member has not come to a lending call. */
  NO: 0,
  /** It has, and its bytes are on the board. */
  ON_BOARD: 1,
} as const;

/** Of one block, so that 64 of them have a length that an int32 holds. */
export const lentBlockBytesMax = 16 << 20;

/** A fold takes operands by whole sixteens. */
const foldedBytes = 16;

/** A part of an all-to-all is fetched block by block, of which each costs a call: short ones are sooner on the board. */
const lentBlockBytesMin = (partBytesMin: number): number => partBytesMin >> 2;

interface Call {
  readonly kind: BoardKind;
  readonly members: number;
  /** Of a member's part. */
  readonly length: number;
}

/**
 * Where everybody takes from everybody, a second round makes nobody wait for whom it need not wait for. Two members that reduce have an operand
 * each, so whoever wants the result fetches one; among more the last to arrive combines all of them on the board.
 */
export function isLending(board: Board, { kind, members, length }: Call): boolean {
  if (length < board.lentBytesMin) return false;
  if (kind === "reduce" || kind === "allreduce") return members === 2 && length % foldedBytes === 0;
  if (kind === "alltoall") return length >= members * lentBlockBytesMin(board.lentBytesMin);
  return kind === "allgather";
}

/** Would the call overwrite what others fetch? */
export const isOverwritten = (kind: BoardKind, inPlace: boolean): boolean =>
  inPlace && (kind === "alltoall" || kind === "allreduce");

/** Have all members come to a lending call with parts of that length? */
export function doAllLend(board: Board, members: number, length: number): boolean {
  for (let member = 0; member < members; member++) {
    if (board.lengthOf(member) !== length || board.lentAt(member) === 0) return false;
  }
  return true;
}

/** A reduction of two operands, of which another process has one. */
export interface Pair {
  /** Of our memory: room for pieces of the other operand. */
  readonly memory: { allocate(bytes: number): Pointer; free(pointer: Pointer): void };
  /** Our operand. The result goes to `into`, which is the same, or apart from it. */
  readonly own: Pointer;
  readonly into: Pointer;
  readonly bytes: number;
  readonly elementBytes: number;
  /** Is our operand the left one? */
  readonly isFirst: boolean;
  /** The other's operand from that byte on. */
  fetch(to: Pointer, offset: number, bytes: number): void;
  /** into = left ∘ right, in our memory; `into` may be `left` or `right`. */
  apply(left: number, right: number, into: number, bytes: number): void;
}

/** Where the result replaces our operand, the other one comes in pieces. */
const pieceBytesMax = 16 * 1024;

export function foldLentPair(pair: Pair): void {
  const { memory, own, into, bytes, elementBytes, isFirst } = pair;
  if (own !== into) {
    pair.fetch(into, 0, bytes);
    pair.apply(isFirst ? own : into, isFirst ? into : own, into, bytes);
    return;
  }
  const piece = Math.max(elementBytes, pieceBytesMax - (pieceBytesMax % elementBytes));
  const scratch = memory.allocate(Math.min(piece, bytes));
  for (let offset = 0; offset < bytes; offset += piece) {
    const length = Math.min(piece, bytes - offset);
    const at = own + offset;
    pair.fetch(scratch, offset, length);
    pair.apply(isFirst ? at : scratch, isFirst ? scratch : at, at, length);
  }
  memory.free(scratch);
}
