import assert from "node:assert/strict";
import { test } from "node:test";
import { element } from "./element.ts";
import {
  elementsWithin,
  forEachRun,
  joinSignatures,
  onlyElement,
  repeatSignature,
  signatureOf,
  signatureText,
} from "./signature.ts";

const int = element("INT", "integer", "int32");
const double = element("DOUBLE", "floating", "float64");

test("M5 §5.1 equal neighbours are one run, equal parts one repeat", () => {
  const both = joinSignatures([signatureOf(int), signatureOf(double)]);
  assert.equal(
    signatureText(joinSignatures([signatureOf(int), signatureOf(int, 2), signatureOf(double)])),
    "INT×3 DOUBLE",
  );
  assert.equal(signatureText(joinSignatures([both, both, repeatSignature(both, 3), both])), "(INT DOUBLE)×6");
  assert.equal(signatureText(repeatSignature(repeatSignature(both, 2), 5)), "(INT DOUBLE)×10");
});

test("M5 §5.1 runs come in packing order", () => {
  const runs: string[] = [];
  const both = joinSignatures([signatureOf(int, 2), signatureOf(double)]);
  forEachRun(repeatSignature(both, 2), 1, (item, count) => runs.push(`${item.name} ${count}`));
  assert.deepEqual(runs, ["INT 2", "DOUBLE 1", "INT 2", "DOUBLE 1"]);
});

test("M5 §5.1 what everything is made of, and how much of it there is", () => {
  const both = joinSignatures([signatureOf(int), signatureOf(double)]);
  assert.equal(onlyElement(signatureOf(int, 7)), int);
  assert.equal(onlyElement(repeatSignature(both, 2)), undefined);
  assert.deepEqual(
    [0, 4, 12, 16, 24].map((bytes) => elementsWithin(repeatSignature(both, 2), bytes)),
    [0, 1, 2, 3, 4],
  );
  assert.equal(elementsWithin(both, 5), undefined);
});
