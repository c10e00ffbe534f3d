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

const streamOf = (all: readonly OperationWord[]): Uint8Array =>
  new Uint8Array(Int32Array.from(all.flatMap((word) => [...encodeOperation(word)])).buffer);

test("X2 words about operations are read as they were said, in whatever pieces they come", () => {
  const bytes = streamOf(words);
  for (const pieceBytes of [4, 12, 512, bytes.length]) {
    const reader = new OperationReader();
    const read: OperationWord[] = [];
    for (let at = 0; at < bytes.length; at += pieceBytes)
      read.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
    deepEqual(read, words);
  }
});

test("X2 a replica that says nonsense is not heard any more", () => {
  for (const nonsense of [
    [2, 0, 0],
    [3, 9, 0],
    [5, 1, 0, -1, 0],
    [4, 1, 0, 3],
    [8, 0, 0, 1, 1, 1, 2, 5],
  ]) {
    const reader = new OperationReader();
    deepEqual(reader.push(new Uint8Array(Int32Array.from(nonsense).buffer)), []);
    deepEqual(reader.push(streamOf(words)), []);
  }
  const odd = new OperationReader();
  deepEqual(odd.push(new Uint8Array(3)), []);
  deepEqual(odd.push(streamOf(words)), []);
});
