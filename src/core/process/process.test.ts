import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { KeptBoards } from "./kept-boards.ts";

describe("boards of a process that is restored", () => {
  it("M6 images: one that was agreed on before the capture is none after it, for those too who had not heard of it", () => {
    const { core } = new ByHand({ ranks: 2 }).world.processes[0]!;
    const before = core.nameOfBoard(3);
    equal(core.boardNamed(before), 3);
    equal(core.boardNamed(core.nameOfBoard(-1)), -1);
    core.reopenBoards();
    equal(core.boardNamed(before), -1);
    equal(core.boardNamed(core.nameOfBoard(3)), 3);
  });
});

describe("boards that are kept", () => {
  it("rule 12: each rank of a node gives those of its own row, whatever others give", () => {
    const [first, second] = [new KeptBoards(2, [2, 5]), new KeptBoards(5, [2, 5])];
    deepEqual([first.next(), first.next(), second.next(), first.next()], [0, 2, 1, 4]);
  });

  it("rule 12: they stay where the ranks of the node do, and are gone where one has joined or left", () => {
    const boards = new KeptBoards(5, [2, 5]);
    boards.next();
    ok(boards.areKeptAmong([2, 5]));
    equal(boards.next(), 3);
    ok(!boards.areKeptAmong([5]));
    equal(boards.next(), 0);
    ok(boards.areKeptAmong([5]));
    ok(!boards.areKeptAmong([5, 7]));
  });
});
