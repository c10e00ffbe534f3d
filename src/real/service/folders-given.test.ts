import assert from "node:assert/strict";
import { test } from "node:test";
import { foldersFrom } from "./folders-given.ts";

const given = [
  { name: ".", path: "/project" },
  { name: "/project", path: "/project" },
];

test("M6 §11.8.2 wdir: another current folder, inside those that the program is given", () => {
  assert.equal(foldersFrom("", given), given);
  assert.deepEqual(foldersFrom("/project/run", given), [{ name: ".", path: "/project/run" }, given[1]]);
  assert.deepEqual(foldersFrom("/project", given), given);
  for (const outside of ["/proj", "/projects", "/"]) assert.equal(typeof foldersFrom(outside, given), "string");
});
