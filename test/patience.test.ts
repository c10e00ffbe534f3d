import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { afterQuiet, patientMs, quietNow, slowness, timeLimit } from "./patience.ts";

test("quiet time passes more slowly the more threads want to run, and never faster than time", async () => {
  assert.deepEqual([slowness(0, 2), slowness(2, 2), slowness(40, 2)], [1, 1, 20]);
  const [quietMs, wallMs] = [quietNow(), performance.now()];
  await new Promise<void>((done) => afterQuiet(100, done));
  const [quiet, wall] = [quietNow() - quietMs, performance.now() - wallMs];
  assert(quiet >= 100 && wall >= quiet, `${quiet} ms of quiet time in ${wall} ms`);
});

test("what is taken back does not happen", async () => {
  const happened: string[] = [];
  afterQuiet(10, () => happened.push("taken back"))();
  await new Promise<void>((done) => afterQuiet(100, done));
  assert.deepEqual(happened, []);
});

test("a limit that is fixed has time to spare", () => {
  assert(patientMs(1000) >= 5000);
  assert(timeLimit(1000).timeout >= 5000);
});

/** Tests, and what only tests use. */
const testFiles = ["src", "test"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith(".test.ts") || /^test\/[^/]*\.ts$|\/testing\/.*\.ts$/.test(path)),
);

test("no test has a limit of its own in seconds of this machine", () => {
  const offenders = testFiles.filter((file) =>
    /^(?!.*patientMs).*\btimeout: *(?!number)[\w.]/m.test(readFileSync(file, "utf8")),
  );
  assert.deepEqual(offenders, []);
});

test("no test asks for less than some time of this machine", () => {
  const bound = /\b(?:performance|Date)\.now\(\) - \w+ <|\bassert\S*\(\s*ms <=? \d/m;
  const offenders = testFiles.filter((file) => bound.test(readFileSync(file, "utf8")));
  assert.deepEqual(offenders, []);
});
