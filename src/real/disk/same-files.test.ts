import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { offerProof, seesSameFiles } from "./same-files.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("X8: only who reads the secret where it was written, on the same machine, sees the same files", () => {
  const proof = offerProof(folder);
  assert(proof !== null);
  assert.equal(seesSameFiles(proof), true);
  assert.equal(seesSameFiles({ ...proof, machine: `${proof.machine}0` }), false, "another mount namespace");
  assert.equal(seesSameFiles({ ...proof, secret: `${proof.secret}0` }), false, "another job's folder of that name");
  writeFileSync(proof.file, "what a folder of that name holds elsewhere");
  assert.equal(seesSameFiles(proof), false);
  rmSync(proof.file);
  assert.equal(seesSameFiles(proof), false);
  assert.equal(seesSameFiles(null), false);
});

test("X8: a folder that cannot be written to offers no proof", () => {
  assert.equal(offerProof(join(folder, "not", "there")), null);
});
