import { deepEqual } from "node:assert/strict";
import { mock, test } from "node:test";
import { optimiseInTime } from "./optimise-in-time.ts";

test("X9 V8 optimises the hottest after a second, as usual after four, and for long after eight", (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const set: string[] = [];
  optimiseInTime((purpose) => set.push(purpose));
  mock.timers.tick(999);
  deepEqual(set, []);
  mock.timers.tick(1);
  deepEqual(set, ["optimise the hottest"]);
  mock.timers.tick(3000);
  deepEqual(set, ["optimise the hottest", "optimise from now on"]);
  mock.timers.tick(3999);
  deepEqual(set.length, 2);
  mock.timers.tick(1);
  deepEqual(set, ["optimise the hottest", "optimise from now on", "optimise for long"]);
});
