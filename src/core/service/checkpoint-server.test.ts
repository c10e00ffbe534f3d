import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { CheckpointServer } from "./checkpoint-server.ts";

describe("the checkpoint server's books (rule 4: one transaction per set)", () => {
  it("L4: a number is committed when all members are stored, and a restart uses the newest", () => {
    const server = new CheckpointServer([[0, 1], [2]]);
    deepEqual(server.newest(0), { number: 0, position: 0 });
    const number = server.begin(0);
    equal(server.stored(0, number, 0, 40), false);
    equal(server.commit(0, number), null);
    equal(server.stored(0, number, 1, 40), true);
    deepEqual(server.newest(0), { number: 0, position: 0 });
    deepEqual(server.commit(0, number), { oldest: { number: 0, position: 0 }, dropped: [] });
    deepEqual(server.newest(0), { number: 1, position: 40 });
    deepEqual(server.newest(1), { number: 0, position: 0 });
  });

  it("the position of a checkpoint is the last that any member saw, in whatever order they say so", () => {
    const server = new CheckpointServer([[0, 1, 2]]);
    const number = server.begin(0);
    for (const [rank, position] of [40, 44, 41].entries()) server.stored(0, number, rank, position);
    server.commit(0, number);
    equal(server.newest(0).position, 44);
  });

  it("rule 5: two are kept, and what is older than both is dropped", () => {
    const server = new CheckpointServer([[0]]);
    for (const position of [10, 20, 30]) server.stored(0, server.begin(0), 0, position);
    equal(server.commit(0, 1), null);
    equal(server.commit(0, 2), null);
    deepEqual(server.commit(0, 3), { oldest: { number: 0, position: 0 }, dropped: [] });
    server.stored(0, server.begin(0), 0, 50);
    deepEqual(server.commit(0, 4), { oldest: { number: 3, position: 30 }, dropped: [0] });
  });

  it("what was given up is never committed, however late its images come", () => {
    const server = new CheckpointServer([[0, 1]]);
    const first = server.begin(0);
    server.stored(0, first, 0, 7);
    server.giveUp(0);
    equal(server.stored(0, first, 1, 7), false);
    equal(server.commit(0, first), null);
    const second = server.begin(0);
    equal(second, first + 1);
    equal(server.stored(0, first, 1, 7), false);
    equal(server.isOpen(0, second), true);
  });

  it("an image that cannot be read: the one before is used, down to the start of the program", () => {
    const server = new CheckpointServer([[0]]);
    server.stored(0, server.begin(0), 0, 10);
    server.commit(0, 1);
    equal(server.refuse(0, 1), true);
    deepEqual(server.newest(0), { number: 0, position: 0 });
    equal(server.refuse(0, 0), false);
  });
});
