import { equal, throws } from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { makeFolder } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-folder-"));
after(() => rmSync(root, { recursive: true, force: true }));

describe("X7 a folder is made with those above it", () => {
  it("with the mode that is given, and stays when it is there", () => {
    const deep = join(root, "a", "b", "c");
    makeFolder(deep, 0o700);
    makeFolder(deep, 0o755);
    for (const path of [deep, join(root, "a")]) equal(statSync(path).mode & 0o777, 0o700);
  });

  it("not where a file is in the way", () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    throws(() => makeFolder(file, 0o700), { code: "EEXIST" });
    throws(() => makeFolder(join(file, "below"), 0o700), { code: "ENOTDIR" });
  });

  it("not through a link that leads nowhere", () => {
    symlinkSync(join(root, "nothing"), join(root, "dangling"));
    throws(() => makeFolder(join(root, "dangling", "below"), 0o700), { code: "ENOENT" });
  });

  it("not in /proc, and that is known at once", { skip: !existsSync("/proc/self") }, () => {
    throws(() => makeFolder("/proc/banyan/a/b", 0o700), { code: "ENOENT" });
  });
});
