import assert from "node:assert/strict";
import { test } from "node:test";
import { ImageHistory, linksMax } from "./image-history.ts";

const image = (number: number, changed: number, present = 1000, pages = changed) => ({
  number,
  pages,
  present,
  changed,
  chain: BigInt(number),
});

/** Takes checkpoints that all count; the plans. */
function takeAll(history: ImageHistory, numbers: readonly number[], changed: number) {
  const kept = [0];
  return numbers.map((number) => {
    const plan = history.plan({ oldest: kept.at(-2) ?? 0, newest: kept.at(-1)! });
    // Every page is new to an empty book.
    const isNew = number <= 2;
    history.written(plan.base === null ? image(number, isNew ? 1000 : changed, 1000, 1000) : image(number, changed));
    kept.push(number);
    return plan;
  });
}

const chainOf = (number: number) => ({ number, chain: number.toString(16) });

test("M6: image builds upon the one before the last, so that two that are kept have no file in common", () => {
  const plans = takeAll(new ImageHistory(), [1, 2, 3, 4, 5, 6], 50);
  assert.deepEqual(
    plans.map(({ base }) => base),
    [null, null, chainOf(1), chainOf(2), chainOf(3), chainOf(4)],
  );
  assert.deepEqual(
    plans.map(({ needs }) => needs),
    [[], [], [1], [2], [1, 3], [2, 4]],
  );
});

test("M6: image chains are bounded: by their number of files, and by their size", () => {
  const many = takeAll(
    new ImageHistory(),
    Array.from({ length: 60 }, (_, i) => i + 1),
    1,
  );
  assert.equal(Math.max(...many.map(({ needs }) => needs.length)), linksMax);
  assert.equal(many.filter(({ base }) => base === null).length, Math.ceil(30 / (linksMax + 1)) * 2);
  // 40 % each time: after three of them a whole one is no larger.
  const large = takeAll(new ImageHistory(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 400);
  assert.deepEqual(
    large.map(({ needs }) => needs.length),
    [0, 0, 1, 1, 2, 2, 3, 3, 0, 0],
  );
});

test("M6: image of a memory that changes altogether is whole, and builds upon others when that is over", () => {
  const history = new ImageHistory();
  const plans = takeAll(history, [1, 2, 3, 4, 5, 6, 7, 8, 9], 1000);
  assert.deepEqual(
    plans.map(({ base }) => base),
    [null, null, chainOf(1), chainOf(2), null, null, null, null, null],
  );
  assert.equal(history.plan({ oldest: 8, newest: 9 }).base, null);
  history.written(image(10, 10, 1000, 1000));
  assert.equal(history.plan({ oldest: 9, newest: 10 }).base, null);
  history.written(image(11, 10, 1000, 1000));
  assert.deepEqual(history.plan({ oldest: 10, newest: 11 }).base, chainOf(10));
});

test("M6: image never builds upon one that was given up or could not be written", () => {
  const history = new ImageHistory();
  takeAll(history, [1, 2, 3, 4], 10);
  // 5 is given up, when it is written or before.
  assert.deepEqual(history.plan({ oldest: 3, newest: 4 }).needs, [1, 3]);
  history.written(image(5, 10));
  assert.equal(history.plan({ oldest: 3, newest: 4 }).base, null);
  // 6 could not be written; 7 can, and leaves the book of 4 alone.
  assert.equal(history.plan({ oldest: 3, newest: 4 }).base, null);
  history.written(image(7, 10, 1000, 1000));
  assert.deepEqual(history.plan({ oldest: 4, newest: 7 }).needs, [2, 4]);
});
