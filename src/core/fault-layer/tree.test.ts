import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { predecessorOf, successorsOf } from "./tree.ts";

test("U5 §5.3.5.1, Figure 5.8: eight members, two successors each", () => {
  const shape = { size: 8, fanOut: 2 };
  const successors = Array.from({ length: 8 }, (_, member) => successorsOf(member, shape));
  deepEqual(successors, [[1, 2], [3, 4], [5, 6], [7], [], [], [], []]);
});

test("U5 §5.3.5.1: a predecessor is whose successor one is, whatever the root, and the depth is a logarithm", () => {
  for (let size = 1; size <= 40; size++) {
    for (const fanOut of [1, 2, 3, 5, 40]) {
      for (const root of [0, 1, size - 1].filter((each) => each < size)) {
        const shape = { size, fanOut, root };
        const depth = new Map([[root, 0]]);
        // In the order of the tree: a predecessor comes before its successors.
        for (let place = 0; place < size; place++) {
          const member = (place + root) % size;
          for (const successor of successorsOf(member, shape)) {
            equal(predecessorOf(successor, shape), member);
            ok(!depth.has(successor), "no member has two predecessors");
            depth.set(successor, depth.get(member)! + 1);
          }
        }
        equal(predecessorOf(root, shape), -1);
        equal(depth.size, size, "every member is in the tree");
        if (fanOut > 1) ok(Math.max(...depth.values()) <= Math.ceil(Math.log(size) / Math.log(fanOut)) + 1);
      }
    }
  }
});
