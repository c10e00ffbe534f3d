import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "./spawned-program.ts";

const module = Buffer.from("\0asm");

test("M6 §11.8.2 where the program of a command is", (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-test-")));
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
    const beside = [{ name: folder, path: folder }];
    const found = findProgram(command, { program, path, given: [], beside });
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
  symlinkSync("/etc", join(folder, "out"));
  for (const outside of ["/etc/hosts", "/etc/hosts.c", join(folder, "out/hosts"), "../main.c"]) {
    assert.match(find(outside), /is in none of the folders that the program is given; give it with --dir$/, outside);
  }
  assert.match(find(join(folder, "other")), /it is not a file/);
  assert.match(find("text"), /text: programs end in/);
});
