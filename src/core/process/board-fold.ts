/**
 * What the last member to arrive at a board does for all: combines their parts in the canonical order, into part 0. When parts
 * have different lengths there is no result, and the length of part 0 says so.
 */
import type { Board } from "../coll/engine/board.ts";
import type { Communicator } from "./communicator.ts";
import type { Reduction } from "./reduction.ts";

/** No part has this length. */
export const noResult = -1;

export function foldOnBoard(comm: Communicator, board: Board, reduction: Reduction, bytes: number): void {
  for (let member = 0; member < comm.size; member++) {
    if (board.lengthOf(member) === bytes) continue;
    board.putLength(0, noResult);
    return;
  }
  const count = bytes / reduction.elementBytes;
  const steps = comm.foldSteps;
  for (let i = 0; i < steps.length; i += 2) {
    const left = board.part(steps[i]!);
    reduction.apply(board.memory, left, board.part(steps[i + 1]!), left, count);
  }
}
