import assert from "node:assert/strict";
import { test } from "node:test";
import { element } from "./element.ts";
import {
  bytesOfFirst,
  elementsWithin,
  emptySignature,
  forEachRun,
  forEachTotal,
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

test("M5 §5.1 questions about a type take as long as its description, not as its counts", () => {
  const both = joinSignatures([signatureOf(int, 2), signatureOf(double)]);
  const many = repeatSignature(both, 2 ** 45);
  const totals: string[] = [];
  forEachTotal(joinSignatures([many, signatureOf(int)]), (item, count) => totals.push(`${item.name} ${count}`));
  assert.deepEqual(totals, [`INT ${2 ** 46}`, `DOUBLE ${2 ** 45}`, "INT 1"]);
  const elements = 3 * 2 ** 44 + 2;
  const bytes = 16 * 2 ** 44 + 8;
  assert.equal(bytesOfFirst(many, elements), bytes);
  assert.equal(elementsWithin(many, bytes), elements);
  for (let first = 0; first <= 6; first++) {
    assert.equal(elementsWithin(repeatSignature(both, 2), bytesOfFirst(repeatSignature(both, 2), first)), first);
  }
  forEachRun(emptySignature, 2 ** 53, () => assert.fail("there is nothing"));
});
