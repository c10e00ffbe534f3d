import { deepEqual, equal } from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { cacheFileOf, keepCodeCache, readCodeCache } from "./code-cache.ts";

describe("X9 caches of code", () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-code-cache-"));
  after(() => rmSync(folder, { recursive: true }));
  const cache = Uint8Array.of(1, 2, 3);
  const file = cacheFileOf(join(folder, "some.cjs"));

  it("what is kept is read again", () => {
    keepCodeCache(file, "source", () => cache);
    deepEqual(readCodeCache(file, "source"), Buffer.from(cache));
  });

  it("none is another source's, or was made at another place", () => {
    equal(readCodeCache(file, "sourcf"), undefined);
    const elsewhere = cacheFileOf(join(folder, "other.cjs"));
    copyFileSync(file, elsewhere);
    equal(readCodeCache(elsewhere, "source"), undefined);
  });

  it("a damaged one is none, and so is one that is missing", () => {
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
    equal(readCodeCache(file, "source"), undefined);
    equal(readCodeCache(join(folder, "none"), "source"), undefined);
  });

  it("where nothing can be written nothing is made, and nothing is said", () => {
    let isMade = false;
    keepCodeCache(join(folder, "no", "folder"), "source", () => {
      isMade = true;
      return cache;
    });
    equal(isMade, false);
  });
});
