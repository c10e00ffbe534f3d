import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { Cache, cacheFolder, cachePlace, keyOf } from "./cache.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-cache-"));
after(() => rmSync(root, { recursive: true, force: true }));

const stranger = 12345;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can make files of another user" };
const equalCode = (status: number | null): void => assert.equal(status, 0);

const bytes = (text: string): Uint8Array => Buffer.from(text);
const entry = (text: string) => ({ output: bytes(text), stderr: bytes("warned"), dependencies: undefined });

function pathOf(cache: Cache, key: string): string {
  return join(cache.folder, "entries", key.slice(0, 2), key.slice(2));
}

describe("M6 the cache of compiled things", () => {
  it("gives back what was put in, and nothing for another key", () => {
    const cache = new Cache(join(root, "plain"));
    const key = keyOf(["a"]);
    assert.equal(cache.get(key), undefined);
    cache.put(key, entry("object"));
    const got = cache.get(key)!;
    assert.equal(Buffer.from(got.output).toString(), "object");
    assert.equal(Buffer.from(got.stderr).toString(), "warned");
    assert.equal(cache.get(keyOf(["b"])), undefined);
  });

  it("an entry that can be neither read nor removed counts as absent", () => {
    const cache = new Cache(join(root, "stubborn"));
    cache.put(keyOf(["a"]), entry("object"));
    assert.equal(cache.get(`ab${"c".repeat(300)}`), undefined);
  });

  it("keys tell parts apart", () => {
    const keys = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""]].map(keyOf);
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(keyOf([bytes("x")]), keyOf(["x"]));
  });

  it("an entry with any byte changed, cut off or empty counts as absent and is removed", () => {
    const cache = new Cache(join(root, "corrupt"));
    const key = keyOf(["a"]);
    cache.put(key, entry("object"));
    const path = pathOf(cache, key);
    const whole = readFileSync(path);
    const flipped = [...whole.keys()].map((at) => whole.map((byte, index) => (index === at ? byte ^ 1 : byte)));
    for (const broken of [...flipped, whole.subarray(0, -1), whole.subarray(0, 20), Buffer.alloc(0)]) {
      writeFileSync(path, broken);
      assert.equal(cache.get(key), undefined);
      assert.deepEqual(readdirSync(join(cache.folder, "entries", key.slice(0, 2))), []);
    }
  });

  it("a program's file has the name of its contents and is mended when it was changed", () => {
    const cache = new Cache(join(root, "modules"));
    const path = cache.module(bytes("module"));
    assert.match(path, /modules\/[0-9a-f]{64}\.wasm$/);
    writeFileSync(path, "other");
    assert.equal(cache.module(bytes("module")), path);
    assert.equal(readFileSync(path, "utf8"), "module");
  });

  it("an entry that another user could have made or changed counts as absent, and is made anew", asRoot, () => {
    const cache = new Cache(join(root, "foreign"));
    const key = keyOf(["a"]);
    const path = pathOf(cache, key);
    const foreign: Record<string, () => void> = {
      "another user's file": () => chownSync(path, stranger, stranger),
      "a file that others may write": () => chmodSync(path, 0o666),
      "another user's folder": () => chownSync(dirname(path), stranger, stranger),
      "a folder that others may write": () => chmodSync(dirname(path), 0o777),
      "another user's folder above": () => chownSync(join(cache.folder, "entries"), stranger, stranger),
      "a link": () => {
        renameSync(path, join(root, "elsewhere"));
        symlinkSync(join(root, "elsewhere"), path);
      },
      "a fifo": () => {
        rmSync(path);
        equalCode(spawnSync("mkfifo", [path]).status);
      },
    };
    for (const [what, make] of Object.entries(foreign)) {
      rmSync(join(cache.folder), { recursive: true, force: true });
      cache.put(key, entry("object"));
      assert.notEqual(cache.get(key), undefined);
      make();
      assert.equal(cache.get(key), undefined, what);
      assert.equal(existsSync(path), false, what);
    }
  });

  it("a program's file that another user owns is not run: he could change it afterwards", asRoot, () => {
    const cache = new Cache(join(root, "foreign-module"));
    const path = cache.module(bytes("module"));
    chownSync(path, stranger, stranger);
    assert.equal(cache.module(bytes("module")), path);
    assert.deepEqual([statSync(path).uid, statSync(path).mode & 0o777], [process.geteuid?.(), 0o600]);
    chownSync(dirname(path), stranger, stranger);
    assert.throws(() => cache.module(bytes("module")), /modules can be written by other users; .* BANYAN_CACHE/);
  });

  it("an entry whose checksum is right and whose contents are none counts as absent", () => {
    const cache = new Cache(join(root, "null"));
    const key = keyOf(["a"]);
    for (const value of [null, 7, {}, { output: "text", stderr: bytes("") }]) {
      cache.put(key, value as never);
      assert.equal(cache.get(key), undefined, JSON.stringify(value));
    }
  });

  it("a sweep removes what was used least recently, until the rest fits", () => {
    const cache = new Cache(join(root, "sweep"), { bytesMax: 3000 });
    const keys = ["a", "b", "c", "d"].map((name) => keyOf([name]));
    for (const [at, key] of keys.entries()) {
      cache.put(key, entry("x".repeat(800)));
      const used = new Date(Date.now() - (10 - at) * 3_600_000);
      utimesSync(pathOf(cache, key), used, used);
    }
    // Used just now, so it is not the oldest any more.
    assert.notEqual(cache.get(keys[0]!), undefined);
    cache.sweep();
    assert.deepEqual(
      keys.map((key) => cache.get(key) !== undefined),
      [true, false, true, true],
    );
  });

  it("what came with us is found, and never written to", () => {
    const shipped = new Cache(join(root, "shipped"));
    shipped.put(keyOf(["a"]), entry("ours"));
    const cache = new Cache(join(root, "own"), { shipped: shipped.folder });
    assert.equal(Buffer.from(cache.get(keyOf(["a"]))!.output).toString(), "ours");
    cache.put(keyOf(["b"]), entry("theirs"));
    assert.equal(shipped.get(keyOf(["b"])), undefined);
  });

  it("where it is", () => {
    assert.equal(cacheFolder({ BANYAN_CACHE: "/x" }), "/x");
    assert.equal(cacheFolder({ BANYAN_CACHE: "here" }), join(process.cwd(), "here"));
    assert.equal(cacheFolder({ BANYAN_CACHE: "", XDG_CACHE_HOME: "/y" }), "/y/banyan");
    assert.match(cacheFolder({}), /\/\.cache\/banyan$/);
  });

  it("is a temporary folder where there is no home that can be written, and says so", () => {
    const before = process.env["HOME"];
    const home = join(root, "a file");
    writeFileSync(home, "");
    process.env["HOME"] = home;
    try {
      const { folder, note } = cachePlace({});
      assert.match(folder, /\/banyan-cache-\d+$/);
      assert.equal(
        note,
        `${home}/.cache/banyan cannot be written: what is compiled is kept in ${folder}; BANYAN_CACHE may name another folder`,
      );
    } finally {
      if (before === undefined) delete process.env["HOME"];
      else process.env["HOME"] = before;
    }
  });
});
