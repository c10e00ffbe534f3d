import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { OperationWord } from "./operation-log.ts";
import { encodeOperation, OperationReader } from "./operation-wire.ts";

const entry = { outcome: null, isRepeated: true };
const large = { outcome: Array.from({ length: 500 }, (_, i) => 5 - i * 77), isRepeated: false };
const words: readonly OperationWord[] = [
  { kind: "entry", view: 3, number: 9, entry, allHold: 7, wantsWord: false },
  { kind: "entry", view: 3, number: 10, entry: large, allHold: 7, wantsWord: true },
  { kind: "held", view: 3, known: 11, passed: 10 },
  { kind: "query", view: 4, known: 11 },
  { kind: "state", view: 4, from: 9, entries: [entry, large], known: 11, passed: 0 },
];

const read = (stream: readonly number[]): OperationWord[] => {
  const reader = new OperationReader();
  return stream.map((next) => reader.push(next)).filter((word) => word !== null);
};
const stream = words.flatMap((word) => [...encodeOperation(word)]);

test("X2 words about operations are read as they were said", () => {
  deepEqual(read(stream), words);
});

test("X2 a replica that says nonsense is not heard any more", () => {
  for (const nonsense of [
    [2, 0, 0],
    [3, 9, 0],
    [5, 1, 0, -1, 0],
    [4, 1, 0, 3],
    [8, 0, 0, 1, 1, 1, 2, 5],
  ]) {
    deepEqual(read([...nonsense, ...stream]), [], nonsense.join());
  }
});
