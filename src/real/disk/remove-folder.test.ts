import { equal, throws } from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "./remove-folder.ts";

const failing = (code: string): Error => Object.assign(new Error(code), { code });

test("V1 a folder that somebody writes to while it is removed is removed all the same", () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-remove-"));
  let calls = 0;
  removeFolder(folder, (path) => {
    calls++;
    if (calls < 3) {
      // As if a process that is ending had been faster.
      writeFileSync(join(path, `${calls}`), "");
      throw failing("ENOTEMPTY");
    }
    rmSync(path, { recursive: true });
  });
  equal(calls, 3);
  equal(existsSync(folder), false);
});

test("V1 what else is wrong with it is said at once, and there is an end of trying", () => {
  let calls = 0;
  const always = (code: string) => () => {
    calls++;
    throw failing(code);
  };
  throws(() => removeFolder("nowhere", always("EACCES")), /EACCES/);
  equal(calls, 1);
  throws(() => removeFolder("nowhere", always("ENOTEMPTY")), /ENOTEMPTY/);
});
