import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";

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
