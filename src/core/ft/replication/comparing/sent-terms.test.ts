import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { runMessagesMax, SentTerms, type TermRun } from "./sent-terms.ts";

const message = (sequence: number) => ({ sequence, context: 2, tag: 0, bytes: 8 });

function runsOf(numbers: readonly number[]): TermRun[] {
  const terms = new SentTerms(1, numbers[0]!);
  const runs: TermRun[] = [];
  for (const number of numbers) if (terms.add(message(number), number * 3)) runs.push(terms.takeRun());
  return runs;
}

test("R8 the first messages of a channel are told soon, later ones many at a time", () => {
  const runs = runsOf(Array.from({ length: 400 }, (_, i) => i));
  deepEqual(
    runs.slice(0, 8).map(({ first, count }) => [first, count]),
    [1, 2, 4, 8, 16, 32, 64, 64].map((count, i) => [i < 7 ? count - 1 : 127, count]),
  );
  equal(runs[1]!.sum, 3 + 6);
  ok(runs.every(({ count }) => count <= runMessagesMax));
});

test("R8 the order in which messages are posted does not matter: collectives go on when they can", () => {
  const inOrder = Array.from({ length: 63 }, (_, i) => i);
  const late = [...inOrder.slice(0, 5), ...inOrder.slice(6, 20), 5, ...inOrder.slice(20)];
  deepEqual(runsOf(late).slice(0, 3), runsOf(inOrder).slice(0, 3));
});

test("R8 a message that is never posted costs the comparison of some others, and no memory", () => {
  const runs = runsOf([0, ...Array.from({ length: 3_000 }, (_, i) => i + 2)]);
  const compared = runs.reduce((sum, { count }) => sum + count, 0);
  ok(compared > 2_700, `${compared} messages told`);
});

test("R8 numbers wrap", () => {
  const terms = new SentTerms(1, -2);
  for (const number of [0x7fffffff, -0x80000000]) equal(terms.has(number), false);
  terms.add(message(-2), 7);
  equal(terms.sumOf({ first: -2, count: 1 }), 7);
  equal(terms.sumOf({ first: -2, count: 2 }), null);
});
