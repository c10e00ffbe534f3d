/** docs/api.md names every option of `launch` and every event of a job. Row M7. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync("docs/api.md", "utf8");
const section = page.slice(page.indexOf("## Starting jobs from a program"), page.indexOf("## Limits"));
const firstCells = [...section.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \|/gm)].flatMap(
  ([, cell]) => cell!.match(/[\w-]+/g) ?? [],
);

test("M7 docs: the table of options has all that launch takes", () => {
  const source = readFileSync("src/real/job/launch.ts", "utf8");
  const options = source.slice(source.indexOf("export interface LaunchOptions"), source.indexOf("const loopback"));
  const names = [...options.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name!);
  assert(names.length > 25);
  assert.deepEqual(
    names.filter((name) => !firstCells.includes(name)),
    [],
  );
});

test("M7 docs: the table of events has all that there are", () => {
  const source = readFileSync("src/real/job/report/job-event.ts", "utf8");
  const kinds = [...source.matchAll(/^ {2}readonly kind: "([\w-]+)"/gm)].map(([, kind]) => kind!);
  assert(kinds.length > 10);
  assert.deepEqual(
    kinds.filter((kind) => !firstCells.includes(kind)),
    [],
  );
});
