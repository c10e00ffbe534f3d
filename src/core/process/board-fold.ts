/** What the last member to arrive at a board does for all: combines their parts in the canonical order, into part 0. */
import type { Board } from "../coll/board.ts";
import type { Communicator } from "./communicator.ts";
import type { Reduction } from "./reduction.ts";

export function foldOnBoard(comm: Communicator, board: Board, reduction: Reduction, count: number): void {
  const steps = comm.foldSteps;
  for (let i = 0; i < steps.length; i += 2) {
    const left = board.part(steps[i]!);
    reduction.apply(board.memory, left, board.part(steps[i + 1]!), left, count);
  }
}
