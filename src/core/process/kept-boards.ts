/**
 * Boards of communicators that the program has made, where a protocol sees the choices of earlier lives again: which collectives are
 * messages must be the same in every life then, because those take numbers of channels by which choices name messages. So a communicator keeps
 * its board in all lives, and whether it has one is no matter of chance: each rank gives those of its own row, one after the other, and takes
 * none back.
 *
 *   number of a board    0  1  2  3  4  5  …      of a node with three ranks
 *   given by             a  b  c  a  b  c
 *
 * That holds as long as the ranks of a node stay together. When a rank has joined or left (ADR 73) all of them begin with one checkpoint, and
 * nothing of what came after is repeated: their communicators have no boards from there on, and new ones have new boards.
 */
import { saves } from "../base/saved-classes.ts";

export class KeptBoards {
  private readonly rank: number;
  /** The ranks of the node; none where it has no boards. */
  private neighbours: readonly number[];
  private given = 0;

  constructor(rank: number, neighbours: readonly number[]) {
    this.rank = rank;
    this.neighbours = neighbours;
  }

  /** The number of the next board that this rank gives. */
  next(): number {
    const { neighbours, rank } = this;
    return this.given++ * neighbours.length + neighbours.indexOf(rank);
  }

  /** After a restore: are the ranks of the node those that they were? */
  areKeptAmong(neighbours: readonly number[]): boolean {
    const before = this.neighbours;
    if (before.length === neighbours.length && before.every((rank, index) => rank === neighbours[index])) return true;
    this.neighbours = neighbours;
    this.given = 0;
    return false;
  }
}

saves({ KeptBoards });
