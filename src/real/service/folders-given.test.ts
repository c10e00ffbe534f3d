import assert from "node:assert/strict";
import { test } from "node:test";
import { foldersFrom } from "./folders-given.ts";

const given = [
  { name: ".", path: "/home/me" },
  { name: "/home/me", path: "/home/me" },
];

test("M6 §11.8.2 wdir: another current folder, inside those that the program is given", () => {
  assert.equal(foldersFrom("", given), given);
  assert.deepEqual(foldersFrom("/home/me/run", given), [{ name: ".", path: "/home/me/run" }, given[1]]);
  assert.deepEqual(foldersFrom("/home/me", given), given);
  for (const outside of ["/home", "/home/mean", "/"]) assert.equal(typeof foldersFrom(outside, given), "string");
});
