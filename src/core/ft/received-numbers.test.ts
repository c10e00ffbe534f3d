import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ReceivedNumbers } from "./received-numbers.ts";

describe("received numbers of a channel", () => {
  it("rule 1: every number is new once, whatever the order, and gaps close", () => {
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ];
    for (const order of orders) {
      const received = new ReceivedNumbers();
      for (const [i, number] of order.entries()) {
        ok(!received.has(number));
        ok(received.add(number));
        ok(!received.add(number));
        ok(received.has(number));
        equal(received.count, i + 1);
      }
      equal(received.firstMissing, 4);
      equal(received.later.size, 0);
    }
  });

  it("numbers above a gap are listed", () => {
    const received = new ReceivedNumbers();
    for (const number of [0, 2, 5]) received.add(number);
    equal(received.firstMissing, 1);
    deepEqual([...received.later], [2, 5]);
    received.add(1);
    equal(received.firstMissing, 3);
    deepEqual([...received.later], [5]);
  });

  it("numbers wrap", () => {
    const received = new ReceivedNumbers();
    received.firstMissing = 2 ** 31 - 2;
    for (const number of [2 ** 31 - 2, -(2 ** 31), 2 ** 31 - 1]) ok(received.add(number));
    equal(received.firstMissing, -(2 ** 31) + 1);
    ok(received.has(2 ** 31 - 1));
    ok(!received.has(-(2 ** 31) + 1));
  });
});
