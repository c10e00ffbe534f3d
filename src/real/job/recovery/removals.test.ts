import assert from "node:assert/strict";
import { test } from "node:test";
import { Removals } from "./removals.ts";

function busyFor(times: number): { asked: string[]; removals: Removals } {
  const asked: string[] = [];
  const removals = new Removals((folder) => {
    asked.push(folder);
    if (asked.length <= times) throw Object.assign(new Error("directory not empty"), { code: "ENOTEMPTY" });
  });
  return { asked, removals };
}

test("L4: a folder into which somebody still writes is removed a little later", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { asked, removals } = busyFor(2);
  removals.remove("set-1/7");
  assert.equal(asked.length, 1);
  for (let i = 0; i < 10; i++) t.mock.timers.tick(200);
  assert.deepEqual(asked, ["set-1/7", "set-1/7", "set-1/7"]);
});

test("L4: a folder that cannot be removed is given up, and after the end nothing is tried again", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = busyFor(1000);
  never.removals.remove("folder");
  for (let i = 0; i < 200; i++) t.mock.timers.tick(200);
  assert.equal(never.asked.length, 50);
  const ended = busyFor(1000);
  ended.removals.remove("folder");
  ended.removals.end();
  t.mock.timers.tick(10_000);
  assert.equal(ended.asked.length, 1);
});
