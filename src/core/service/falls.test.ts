import assert from "node:assert/strict";
import { test } from "node:test";
import { applyFall, applyToFalls, Falls, type GivenUp, newFallsState } from "./falls.ts";

/** Two nodes of a rank each. */
function start() {
  const state = newFallsState({ nodes: 2, ranks: 2 });
  const falls = new Falls(state, (record) => applyToFalls(state, record));
  const fell = (node: number): GivenUp | null => {
    const givenUp = falls.judge(node);
    applyFall(state, { node, ranks: [node], passed: falls.unwritten });
    return givenUp;
  };
  /** One life of the node's rank: it comes so far, and falls. */
  const live = (node: number, calls: number): GivenUp | null => {
    falls.passed(node, calls);
    falls.caughtUp(node);
    return fell(node);
  };
  return { falls, fell, live };
}

test("rule 10: a node whose ranks die at the same call is started three times, not more", () => {
  const { live } = start();
  for (let life = 0; life < 3; life++) assert.equal(live(1, 100), null, `life ${life}`);
  assert.deepEqual(live(1, 100), { rule: "same-call", falls: 4 });
});

test("rule 10: a call more in each life, and it goes on for ever", () => {
  const { live } = start();
  for (let life = 0; life < 1000; life++) assert.equal(live(1, 100 + life), null, `life ${life}`);
});

test("rule 10: what some other rank gets done counts for everybody", () => {
  const { falls, live } = start();
  for (let life = 0; life < 1000; life++) {
    assert.equal(live(1, 100), null, `life ${life}`);
    falls.passed(0, life);
  }
});

test("rule 10: who is killed where others hold it up does not die at the same call", () => {
  const { falls, fell, live } = start();
  falls.passed(0, 10);
  fell(0);
  for (let life = 0; life < 10; life++) assert.equal(live(1, 100), null, `life ${life}`);
});

test("rule 10: a node that never catches up has more patience, but not for ever", () => {
  const { falls, fell } = start();
  falls.passed(1, 100);
  for (let life = 0; life < 10; life++) assert.equal(fell(1), null, `life ${life}`);
  assert.deepEqual(fell(1), { rule: "no-progress", falls: 11 });
});

test("rule 10: who is seen at its furthest call has caught up, whether it says so or not", () => {
  const { falls, fell } = start();
  for (let life = 0; life < 3; life++) {
    falls.passed(1, 99);
    falls.passed(1, 100);
    assert.equal(fell(1), null, `life ${life}`);
  }
  falls.passed(1, 100);
  assert.deepEqual(fell(1), { rule: "same-call", falls: 4 });
});

test("rule 10: a checkpoint from further on is progress of a set that replays; one more of the same place is not", () => {
  const { falls, fell } = start();
  falls.passed(1, 100);
  for (let life = 0; life < 100; life++) {
    assert.equal(fell(1), null, `life ${life}`);
    falls.committed(1, 1 + life);
  }
  for (let life = 0; life < 10; life++) {
    assert.equal(fell(1), null, `life ${life}`);
    falls.committed(1, 100);
    // Of a set that waits for this one.
    falls.committed(0, 0);
  }
  assert.deepEqual(fell(1), { rule: "no-progress", falls: 11 });
});

test("rule 10: kills of a fault plan are not held against a node", () => {
  const { falls, live } = start();
  for (let life = 0; life < 50; life++) {
    falls.excused(1);
    assert.equal(live(1, 100), null, `life ${life}`);
  }
});
