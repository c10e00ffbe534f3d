import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { DecisionWord } from "./decision-log.ts";
import { DecisionReader, encodeDecision } from "./decision-wire.ts";

const words: readonly DecisionWord[] = [
  { kind: "decision", view: 0, number: 9, decision: [1, 4, 2, -7] },
  { kind: "decision", view: 3, number: 10, decision: [4, 4096] },
  { kind: "held", view: 3, known: 11, passed: 10 },
  { kind: "query", view: 4, known: 11 },
  {
    kind: "state",
    view: 4,
    from: 9,
    known: 11,
    decisions: [
      [1, 4, 2, 7],
      [5, 5, -1, 0x7fffffff],
    ],
  },
];
const stream = words.flatMap(encodeDecision);

const read = (said: readonly number[]): DecisionWord[] => {
  const reader = new DecisionReader();
  return said.map((next) => reader.push(next)).filter((word) => word !== null);
};

test("R8 words about decisions are read as they were said", () => {
  deepEqual(read(stream), words);
});

test("R8 a replica that says nonsense is not heard any more", () => {
  const query = 2 << 24;
  const state = 3 << 24;
  for (const nonsense of [
    [2, 0],
    [3 | (9 << 24), 0, 0],
    [3 | query, -1, 0],
    [4 | query, 1, 1, 1],
    [6 | state, 1, 0, 1, 5, 5],
  ]) {
    deepEqual(read([...nonsense, ...stream]), [], nonsense.join());
  }
});
