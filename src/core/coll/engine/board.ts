/**
 * A board: shared memory through which the members of one communicator, all on one node, run small blocking collectives
 * without messages. A port; the implementations are real/transport/shared-board.ts and sim/boards.ts.
 *
 * Every member puts up to `bytesMax` bytes into its own part and arrives. The last one to arrive may combine all parts into
 * the result, then opens the gate; every member reads what it needs. There are two banks, used in turn, so a member that is
 * slow to read is never overwritten: no member can arrive at round k + 2 before all have arrived at round k + 1, which a
 * member does only after it has read round k.
 *
 * In a lending call (lent-parts.ts) a part stays where the program has it, and the others fetch what they want from there. It is
 * the program's again when all have done so: such a call ends with a second round, in which nobody puts anything.
 *
 * Nothing here waits. A member that dies leaves the gate of its round shut for ever: the others hear of the death from
 * the dispatcher, as always, and give up the round.
 */
import type { Pointer } from "../../base/brand.ts";
import type { Views } from "../../comm/datatype/views.ts";
import type { GateArrival, Seat } from "./seat.ts";

/**
 * The last member to arrive combines the parts of a reduction, alone: so many bytes together. Where there are more the members share the
 * work, by messages. Data planes keep to it as well.
 */
export const combinedBytesMax = 512 * 1024;

/** What members can call there. */
export type BoardKind = "barrier" | "bcast" | "gather" | "scatter" | "allgather" | "alltoall" | "reduce" | "allreduce";

export interface Board {
  readonly bytesMax: number;
  /** The memory that parts lie in: the one that packets' payloads lie in. */
  readonly memory: Views;
  /** The words of our rounds that a data plane shares; null: no plane can. */
  readonly seat: Seat | null;
  /** Rounds that this member has been through, by a data plane or the engine. */
  readonly rounds: number;
  /**
   * Where `member` (rank in the communicator) puts its bytes in the current round, after it has put their length there. Own part: before
   * `arrive`; others': after the gate opened, or by the last to arrive.
   */
  part(member: number): Pointer;
  /**
   * How many bytes `member` has put into its part: members may have called a collective with counts that do not match, and
   * a member that reads a part finds out. Read and written when the part may be.
   */
  lengthOf(member: number): number;
  putLength(member: number, bytes: number): void;
  /** Calls with parts of so many bytes may be lending. More than there are: none may. */
  readonly lentBytesMin: number;
  /** Can every member lend whatever it gives? Then lending calls may be longer than `bytesMax`. */
  readonly lendsAll: boolean;
  /** After `putLength`, in a lending call: our bytes lie there in the memory of this process, or `LentPlace.ON_BOARD`. */
  lend(member: number, at: number): void;
  /** Where a member has lent its part, in its memory; or a `LentPlace`. */
  lentAt(member: number): number;
  /** From there, or behind it, to our memory. */
  fetch(member: number, to: Pointer, toOffset: number, lent: number, bytes: number): void;
  /** Our part is in place. True for exactly one member, the last: it must call `open`. */
  arrive(): boolean;
  /** Where a data plane has arrived in our name, once: in the place of `arrive`. */
  takeOver(): GateArrival;
  /**
   * Takes our arrival back, for a capture in the middle of a round: the member arrives again later. False: too late, the
   * last member has arrived, the gate is open or about to be.
   */
  withdraw(): boolean;
  /** Opens the gate of the current round and wakes the members that sleep. */
  open(): void;
  /** Is the gate of the round we arrived at open? */
  passed(): boolean;
  /** We have read what we needed: the next round's parts are current from now on. */
  next(): void;
}

export interface Boards {
  /** Is that process (by its world rank) on our node now, so that it can share a board with us? */
  reaches(worldRank: number): boolean;
  /** A free board for `members` members, all of which are on our node; claimed by one of them. −1 when the pool is empty or there are too many members. */
  claim(members: number): number;
  /** The board with that number among those that are nobody's to claim, see core/process/kept-boards.ts. −1: there are too many of them, or of members. */
  kept(number: number, members: number): number;
  /** This member's end of a claimed board. `worldRanks` are the members in communicator order. */
  open(index: number, member: number, worldRanks: readonly number[]): Board;
  /** This member will not use the board again; the last to leave makes it free. */
  leave(index: number): void;
}
