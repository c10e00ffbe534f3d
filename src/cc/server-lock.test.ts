import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isLockHeld, ServerLock } from "./server-lock.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-lock-"));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const newPath = (): string => join(root, `${count++}.lock`);

/** The number of a process that has ended. */
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;

describe("M6 one compile server for a socket", () => {
  it("one process has the lock until it gives it back", () => {
    const path = newPath();
    const lock = ServerLock.take(path)!;
    assert.equal(isLockHeld(path), true);
    assert.equal(ServerLock.take(path), undefined);
    assert.equal(lock.renew(), true);
    lock.release();
    assert.equal(existsSync(path), false);
    assert.notEqual(ServerLock.take(path), undefined);
  });

  it("the lock of a process that is gone is taken over", () => {
    const path = newPath();
    writeFileSync(path, `${deadPid} word\n`);
    assert.equal(isLockHeld(path), false);
    assert.notEqual(ServerLock.take(path), undefined);
    assert.equal(isLockHeld(path), true);
  });

  it("so is one whose process lives but has not renewed it: the number is somebody else's by now", () => {
    const path = newPath();
    writeFileSync(path, `${process.pid} word\n`);
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(path, longAgo, longAgo);
    assert.notEqual(ServerLock.take(path), undefined);
  });

  it("a holder that lost its lock notices, and does not remove the other's", () => {
    const path = newPath();
    const lock = ServerLock.take(path)!;
    rmSync(path);
    assert.equal(lock.renew(), false);
    const other = ServerLock.take(path)!;
    assert.equal(lock.renew(), false);
    lock.release();
    assert.equal(other.renew(), true);
  });

  it("nothing is left beside it", () => {
    const path = newPath();
    writeFileSync(path, "nonsense");
    ServerLock.take(path);
    const left = readdirSync(root).filter((name) => !name.endsWith(".lock"));
    assert.deepEqual(left, []);
  });
});
