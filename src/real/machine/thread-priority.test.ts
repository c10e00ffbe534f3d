/** D2: threads that copy memories give way to programs. */
import { deepEqual, equal } from "node:assert/strict";
import { getPriority } from "node:os";
import { test } from "node:test";
import { ThreadPriority } from "./thread-priority.ts";

/** A thread with a priority that may be raised, or not. */
function threadOf(usual: number, mayRaise: boolean) {
  const set: number[] = [];
  let now = usual;
  return {
    set,
    priority: new ThreadPriority({
      get: () => now,
      set: (priority) => {
        if (priority < now && !mayRaise) throw new Error("EACCES");
        now = priority;
        set.push(priority);
      },
    }),
  };
}

test("D2 a thread that gives way takes its priority back where that is allowed", () => {
  const { set, priority } = threadOf(2, true);
  priority.takeBack();
  priority.giveWay();
  priority.takeBack();
  priority.takeBack();
  priority.giveWay();
  deepEqual(set, [3, 2, 21, 2, 21]);
});

test("D2 a thread that may not take it back gives less, once and for all", () => {
  const { set, priority } = threadOf(0, false);
  priority.giveWay();
  priority.takeBack();
  priority.giveWay();
  deepEqual(set, [1, 5, 5]);
});

test("D2 where threads have no priority of their own the process keeps its own", () => {
  const before = getPriority();
  const priority = new ThreadPriority(null);
  priority.giveWay();
  priority.takeBack();
  equal(getPriority(), before);
});
