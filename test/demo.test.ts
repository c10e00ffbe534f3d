/** What a newcomer sees first: `npm run demo`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { patientMs, timeLimit } from "./patience.ts";

test("the demo: a node is killed, and what is printed is that of the undisturbed run", timeLimit(240_000), async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/demo.mjs", "127", "4"], {
    timeout: patientMs(230_000),
  });
  assert.match(stdout, /kill node 2 at call 800/);
  assert.match(stdout, /the same, byte for byte/);
});
