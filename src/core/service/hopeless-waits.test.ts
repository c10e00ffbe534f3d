import assert from "node:assert/strict";
import { test } from "node:test";
import { HopelessWaits, type RankInLook } from "./hopeless-waits.ts";

const base: RankInLook = {
  rank: 0,
  state: "computing",
  wait: 1,
  polls: 0,
  kind: "receive",
  peer: -3,
  isOneEnough: false,
  isUnmatched: true,
  isBlocked: true,
  hasDelivered: true,
};
const over = (rank: number): RankInLook => ({ ...base, rank, state: "over" });
const waits = (rank: number, peer: number): RankInLook => ({ ...base, rank, state: "waiting", peer });
const computes = (rank: number): RankInLook => ({ ...base, rank });

/** The verdict after so many looks at the same ranks, each of which has polled between them. */
function after(
  looks: number,
  places: readonly RankInLook[],
): { readonly rank: number; readonly awaited: number } | null {
  const hopeless = new HopelessWaits();
  let verdict = null;
  for (let i = 0; i < looks; i++) verdict = hopeless.look(places.map((place) => ({ ...place, polls: i })));
  return verdict;
}

test("M8: a wait for a rank that is over is hopeless in the third look, whatever others do", () => {
  const places = [over(0), waits(1, 0), computes(2)];
  assert.equal(after(2, places), null);
  assert.deepEqual(after(3, places), { rank: 1, awaited: 0, others: 0 });
});

test("M8: a collective has time to end with an error of the program's own", () => {
  const collective = { ...waits(1, 0), kind: "collective" };
  for (const places of [
    [over(0), collective, computes(2)],
    [over(0), collective],
  ]) {
    assert.equal(after(7, places), null);
    assert.deepEqual(after(8, places), { rank: 1, awaited: 0, others: 0 });
  }
});

test("M8: one that waits for a rank that computes, or for any rank while one computes, may go on", () => {
  assert.equal(after(5, [over(0), waits(1, 2), computes(2)]), null);
  assert.equal(after(5, [over(0), waits(1, -1), computes(2)]), null);
  assert.equal(after(5, [over(0), { ...waits(1, 0), isOneEnough: true }, computes(2)]), null);
});

test("M8: where all wait or are over, nothing can move", () => {
  assert.deepEqual(after(3, [over(0), waits(1, -1), waits(2, 1)]), { rank: 1, awaited: 0, others: 1 });
  assert.equal(after(5, [waits(0, 1), waits(1, 0)]), null, "no rank is over: that is for people to see");
});

test("M8: messages that have not left, matched ones, and waits that a timer can end, are no reason", () => {
  assert.equal(after(5, [{ ...over(0), hasDelivered: false }, waits(1, 0)]), null);
  assert.equal(after(5, [over(0), { ...waits(1, 0), isUnmatched: false }, computes(2)]), null);
  assert.equal(after(5, [over(0), { ...waits(1, 0), isBlocked: false }]), null);
});

test("M8: a rank that has not looked again since, or waits anew, is not judged", () => {
  const hopeless = new HopelessWaits();
  for (let i = 0; i < 5; i++) assert.equal(hopeless.look([{ ...over(0), polls: i }, waits(1, 0)]), null);
  const anew = (i: number) => [
    { ...over(0), polls: i },
    { ...waits(1, 0), polls: i, wait: i },
  ];
  for (let i = 0; i < 5; i++) assert.equal(hopeless.look(anew(i)), null);
});
