import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentGiven } from "./environment-given.ts";

const ours = { HOME: "/home/me", TOKEN: "secret", GONE: undefined };

test("X8 a sandbox has the variables that are named; others have ours and those", () => {
  assert.equal(environmentGiven([], false, ours), undefined);
  assert.deepEqual(environmentGiven(["A=1"], false, ours), { HOME: "/home/me", TOKEN: "secret", A: "1" });
  assert.deepEqual(environmentGiven([], true, ours), {});
  assert.deepEqual(environmentGiven(["A=b=c", "HOME", "B="], true, ours), { A: "b=c", HOME: "/home/me", B: "" });
});

test("X8 a variable that says nothing is refused", () => {
  for (const [text, reason] of [
    ["", /say --env NAME=value/],
    ["=x", /say --env NAME=value/],
    ["GONE", /it is not set here/],
  ] as const) {
    assert.throws(() => environmentGiven([text], true, ours), reason);
  }
});
