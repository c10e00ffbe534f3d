/** What the last member to arrive at a board does for all: combines their parts in the canonical order, into part 0. */
import type { Board } from "../coll/board.ts";
import { foldParts } from "../coll/reduction-order.ts";
import type { Views } from "../comm/views.ts";
import type { Reduction } from "./reduction.ts";

export function foldOnBoard(board: Board, members: number, memory: Views, reduction: Reduction, count: number): void {
  foldParts(members, (left, right, into) =>
    reduction.apply(memory, board.part(left), board.part(right), board.part(into), count),
  );
}
