/** docs/requirements.md says what must work, row by row; tests are named after its rows. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

type State = "built" | "partly" | "planned";

function rowsOf(page: string): Map<string, State> {
  const rows = page.matchAll(/^\| ([A-Z]\d+) \|.*\| (built|partly|planned) \|$/gm);
  return new Map([...rows].map(([, row, state]) => [row as string, state as State]));
}

/** The rows that a test file names at the beginning of a test's name: `"L5 a set falls"`, `"M1, M2 …"`. */
function rowsNamedIn(text: string): string[] {
  return [...text.matchAll(/["'`]((?:[MRLUDVX]\d{1,2}(?:, | and |[ –-](?=[MRLUDVX]\d))?)+)(?=[ :])/g)].flatMap(
    ([, names]) => names?.match(/[MRLUDVX]\d{1,2}/g) ?? [],
  );
}

const testFiles = ["src", "test"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(folder, path)),
);
const rows = rowsOf(readFileSync("docs/requirements.md", "utf8"));
const named = testFiles.map((path) => ({ path, rows: rowsNamedIn(readFileSync(path, "utf8")) }));

test("every row has a state", () => {
  const written = readFileSync("docs/requirements.md", "utf8").match(/^\| [A-Z]\d+ \|/gm) ?? [];
  assert.equal(rows.size, written.length);
  assert.ok(rows.size > 60);
});

test("tests name rows that are in docs/requirements.md", () => {
  const unknown = named.flatMap(({ path, rows: names }) =>
    names.filter((name) => !rows.has(name)).map((name) => `${path} names ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test("a row that is built, in whole or in part, has a test; one that is planned has none", () => {
  const tested = new Set(named.flatMap(({ rows: names }) => names));
  const wrong = [...rows].filter(([row, state]) => (state === "planned") === tested.has(row));
  assert.deepEqual(wrong, []);
});
