/** What a decision log promises, word by word; whole worlds are the simulator's (sim/replication/leader.test.ts). */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { DecisionLog } from "./decision-log.ts";

/** Three replicas, all alive. */
const logs = (): DecisionLog[] =>
  [0, 1, 2].map((replica) => new DecisionLog({ replica, replicas: 3, living: 0b111, aheadMax: 4 }));

/** Carries words of these replicas to those, until nobody says anything; `says`: those that have come to know more say so. */
function carry(all: readonly DecisionLog[], from: readonly number[], to: readonly number[], says = true): void {
  for (let isQuiet = false; !isQuiet; ) {
    isQuiet = true;
    for (const sender of from) {
      if (says && all[sender]!.hasWords) all[sender]!.sayHeld();
      for (const { to: receiver, word } of all[sender]!.outbox.splice(0)) {
        isQuiet = false;
        if (to.includes(receiver)) all[receiver]!.take(sender, word);
      }
    }
  }
}

test("R8 a decision is stable when all living replicas hold it, and each knows that by itself", () => {
  const all = logs();
  all[0]!.append([4, 1]);
  equal(all[0]!.stable, 0);
  carry(all, [0], [1]);
  deepEqual(all[1]!.news, [[4, 1]]);
  carry(all, [1], [0, 2]);
  equal(all[0]!.stable, 0, "replica 2 lacks it");
  all[0]!.died(2);
  equal(all[0]!.stable, 1);
  all[1]!.died(2);
  equal(all[1]!.stable, 1);
});

test("R8 a new leader asks first: what anybody was told stays decided, and late words of the dead are dropped", () => {
  const all = logs();
  all[0]!.append([4, 1]);
  const late = all[0]!.outbox.filter(({ to }) => to === 1).map(({ word }) => word);
  carry(all, [0], [2]);
  for (const survivor of [1, 2]) all[survivor]!.died(0);
  equal(all[1]!.leads, false, "it has not been answered");
  carry(all, [1, 2], [1, 2]);
  equal(all[1]!.leads, true);
  deepEqual(all[1]!.news, [[4, 1]]);
  for (const word of late) all[1]!.take(0, word);
  equal(all[1]!.known, 1);
  all[1]!.append([4, 2]);
  carry(all, [1, 2], [1, 2]);
  equal(all[2]!.known, 2);
  equal(all[2]!.stable, 2);
});

test("R8 a leader waits for programs that are far behind", () => {
  const all = logs();
  for (let i = 0; i < 4; i++) all[0]!.append([4, i]);
  carry(all, [0, 1, 2], [0, 1, 2]);
  equal(all[0]!.isAhead, true);
  for (const follower of [1, 2]) all[follower]!.passed += 3;
  carry(all, [0, 1, 2], [0, 1, 2]);
  equal(all[0]!.isAhead, false);
});
