/** X7: the secret of a job in a file, for nodes that join. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readSecretFile, writeSecretFile } from "./secret-file.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-secret-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const secretOf = (id: string) => ({ id, secret: Uint8Array.from(randomBytes(32)) });

test("V9: a secret is read as it was written, and nobody but its owner can read the file", () => {
  const path = join(folder, "secret");
  for (const id of ["one job", "the next one, in the same place"]) {
    const secret = secretOf(id);
    assert.equal(writeSecretFile(path, secret), "");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readSecretFile(path), secret);
  }
});

test("X7: another file is not written over, and where there is no folder there is a line", () => {
  const path = join(folder, "notes.txt");
  writeFileSync(path, "notes");
  assert.match(writeSecretFile(path, secretOf("a job")), /^there is such a file already/);
  assert.match(writeSecretFile(join(folder, "none", "secret"), secretOf("a job")), /folder does not exist/);
});

test("X7: a file that others can read, or that is no secret file, is of no use", () => {
  const path = join(folder, "copy");
  assert.equal(readSecretFile(path), "there is no such file");
  assert.equal(writeSecretFile(path, secretOf("a job")), "");
  chmodSync(path, 0o640);
  assert.match(String(readSecretFile(path)), /^other users can read or change it; chmod 600 /);
  const others = ["", "{}", "[]", '{"job":"a","secret":"AAAA"}', '{"job":1,"secret":""}', "x".repeat(5000)];
  for (const text of others) {
    writeFileSync(join(folder, "other"), text, { mode: 0o600 });
    assert.match(String(readSecretFile(join(folder, "other"))), /^it is not the secret file of a job/, text);
  }
});
