import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { binaryenVersion, clangVersion } from "./installation.ts";

it("M6 the versions that results are kept under are those that are installed", () => {
  const { optionalDependencies: packages } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.equal(clangVersion, packages["@yowasp/clang"]);
  assert.equal(binaryenVersion, packages["binaryen"]);
});
