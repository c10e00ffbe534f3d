import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "./spawned-program.ts";

const module = Buffer.from("\0asm");

test("M6 §11.8.2 where the program of a command is", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "other"));
  const write = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const program = write("main.c", "");
  const [worker, both, far] = [write("worker.c", ""), write("both.wasm", module), write("other/far.wasm", module)];
  write("both.c", "");
  // Built by another compiler: a file that we cannot run stands in nobody's way.
  write("worker", "\x7fELF");
  const find = (command: string, path = "") => {
    const found = findProgram(command, { program, path });
    return found.kind === "found" ? found.program : found.why;
  };
  assert.equal(find(program), program);
  assert.equal(find("worker"), worker);
  assert.equal(find("worker.c"), worker);
  assert.equal(find("both"), both);
  assert.match(find("far"), /^there is no far, far\.wasm or far\.c here or beside the program$/);
  assert.equal(find("far", `/nowhere:${join(folder, "other")}`), far);
  assert.equal(find(far), far);
  assert.match(find("gone.c"), /^there is no gone\.c here/);
  write("text", "hello");
  assert.match(find("text"), /text: programs end in/);
});
