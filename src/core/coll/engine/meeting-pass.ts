/**
 * The part of the pass (core/p2p/pass.ts) that a data plane needs for collectives on boards: a seat for every board, the seats of communicators
 * that the program has shown, and which predefined operations take which predefined datatypes.
 */
import { assert } from "../../base/assert.ts";
import { Seat, seatWords } from "./seat.ts";

/** Words, as collectives.wat has them. */
/** 1: the plane has arrived at a gate, and the engine is about to go on with that call. */
const M_AT_GATE = 0;
/** Collectives that the plane has completed, and that it has left to the engine half way: for tests and benchmarks. */
const M_COMPLETED = 1;
const M_LEFT = 2;
/** Byte addresses of seats, by the place of the communicator in the pass; 0: there is none. */
const M_COMMUNICATORS = 16;
const communicatorsMax = 16;
/** By handle of a predefined datatype: a bit for each operation that takes it, and how its elements are read. 0: the engine's. */
const M_OPERATIONS = M_COMMUNICATORS + communicatorsMax;
const typeFirst = 0x200;
const typesMax = 256;
const M_SEATS = M_OPERATIONS + typesMax;

/** Operations have the numbers of the ABI, which fit into so many bits. */
const operationFirst = 0x20;
const formatShift = 24;

export class MeetingPass {
  private readonly words: Int32Array;
  private readonly address: number;
  private readonly boards: number;

  static wordsFor(boards: number): number {
    return M_SEATS + boards * seatWords;
  }

  constructor(words: Int32Array, boards: number, address: number) {
    words.fill(0);
    this.words = words;
    this.boards = boards;
    this.address = address;
  }

  /** The seat of the process at that board of its node. */
  seatAt(board: number): Seat {
    assert(board >= 0 && board < this.boards, "a node has as many seats for a process as boards");
    const first = M_SEATS + board * seatWords;
    return new Seat(this.words.subarray(first, first + seatWords), this.address + first * 4);
  }

  /** The seat of the communicator at that place; 0: it has none. */
  publishSeat(place: number, seat: number): void {
    this.words[M_COMMUNICATORS + place] = seat;
  }

  /** Those operations take elements of that type, which are read in that way. */
  publishOperations(type: number, operations: readonly number[], format: number): void {
    assert(type >= typeFirst && type < typeFirst + typesMax, "predefined datatypes have the numbers of the ABI");
    let bits = format << formatShift;
    for (const operation of operations) {
      assert(operation >= operationFirst && operation < operationFirst + formatShift, "so have operations");
      bits |= 1 << (operation - operationFirst);
    }
    this.words[M_OPERATIONS + type - typeFirst] = bits;
  }

  /** Has the plane begun the call that the engine gets next? Then it cannot be made again from its beginning. */
  get isAtGate(): boolean {
    return this.words[M_AT_GATE] !== 0;
  }

  leaveGate(): void {
    this.words[M_AT_GATE] = 0;
  }

  get completed(): number {
    return this.words[M_COMPLETED]!;
  }

  get left(): number {
    return this.words[M_LEFT]!;
  }
}
