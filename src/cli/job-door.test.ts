import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { moveOrder, moveQuestion } from "./job-door.ts";

test("M7 an order to move is the same behind the door", () => {
  for (const onto of [null, 0, 12]) {
    for (const replica of [null, 0, 3]) {
      const order = { moved: { kind: "rank", rank: 7, replica }, onto } as const;
      deepEqual(moveOrder(moveQuestion(order)), order);
      const away = { ...order, moved: { ...order.moved, from: 2 } } as const;
      deepEqual(moveOrder(moveQuestion(away)), away);
    }
    const order = { moved: { kind: "node", node: 0 }, onto } as const;
    deepEqual(moveOrder(moveQuestion(order)), order);
  }
  equal(moveOrder("ranks"), null);
  equal(moveOrder("move node 3 replica 1"), null);
  equal(moveOrder("move "), null);
});
