/** Text that every rank has in its memory. */
import { equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

for (const name of ["rank", "c-rank"]) {
  it(`§3 V8 takes one byte for each letter of ${name}.cjs, and its lines have numbers that say something`, () => {
    const text = readFileSync(`dist/${name}.cjs`, "utf8");
    equal(/[^\0-\xff]/u.exec(text)?.[0], undefined);
    ok(text.split("\n").length > 1000);
  });
}
