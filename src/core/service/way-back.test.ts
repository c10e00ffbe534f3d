/** D1, R8: which checkpoint a job of replicas goes back to. */
import { equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Reason } from "./outcome.ts";
import { WayBack } from "./way-back.ts";
import type { WorldCheckpoint } from "./world-checkpoints.ts";

const checkpoint = (number: number, earlier: WorldCheckpoint | null = null): WorldCheckpoint => ({
  number,
  world: 0,
  members: [0, 1],
  takenMs: number,
  inputOffsets: new Map(),
  earlier,
});
const disputed = (what: string): Reason => ({ kind: "unusable", message: "", disputed: what });
const lost: Reason = { kind: "node-failed", node: 0, ranks: [0], loss: { kind: "switched-off" }, unplayed: [0] };

describe("D1 which checkpoint replicas that differ go back to", () => {
  it("the last one; the one before if it did not help; none when all have been tried", () => {
    const way = new WayBack();
    const third = checkpoint(3, checkpoint(2, checkpoint(1)));
    equal(way.choose(disputed("a"), third).to?.number, 3);
    // Another message differs, and there is no newer checkpoint: this one is wrong.
    equal(way.choose(disputed("b"), third).to?.number, 2);
    equal(way.choose(disputed("b"), third.earlier).to?.number, 1);
    const { to, why } = way.choose(disputed("b"), checkpoint(1));
    equal(to, null);
    match(why, /checkpoint 1, the oldest that is kept, and replicas differ again: it ends/);
  });

  it("newer checkpoints are of no use when the same message differs again", () => {
    const way = new WayBack();
    const second = checkpoint(2, checkpoint(1));
    equal(way.choose(disputed("a"), second).to?.number, 2);
    equal(way.choose(disputed("a"), checkpoint(4, checkpoint(3, second))).to?.number, 1);
  });

  it("newer ones are when another one does, but not for ever", () => {
    const way = new WayBack();
    for (let number = 1; number <= 20; number++) {
      equal(way.choose(disputed(`${number}`), checkpoint(number, checkpoint(number - 1))).to?.number, number);
    }
    match(way.choose(disputed("x"), checkpoint(30)).why, /differed 20 times/);
  });

  it("without a checkpoint, or without a dispute, the job ends as it is", () => {
    equal(new WayBack().choose(disputed("a"), null).to, null);
    equal(new WayBack().choose({ kind: "unusable", message: "no file" }, checkpoint(1)).to, null);
  });
});

describe("R8 which checkpoint a job goes back to that has lost the last replica of a rank", () => {
  it("the last one, five times in a row", () => {
    const way = new WayBack();
    for (let i = 0; i < 5; i++) equal(way.choose(lost, checkpoint(7)).to?.number, 7);
    const { to, why } = way.choose(lost, checkpoint(7));
    equal(to, null);
    match(why, /gone back to checkpoint 7 5 times/);
    equal(way.choose(lost, checkpoint(8)).to?.number, 8);
  });
});
