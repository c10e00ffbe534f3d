import { deepEqual, equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Script } from "node:vm";
import { cacheFileOf, keepCodeCache, readCodeCache } from "./code-cache.ts";
import { setFlagsFor, unsetFlagsFor } from "./flags.ts";
import { FlagsBefore } from "./flags-before.ts";

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

  it("one that cannot be made leaves nothing", () => {
    const other = cacheFileOf(join(folder, "unmade.cjs"));
    keepCodeCache(other, "source", () => undefined);
    deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("unmade")),
      [],
    );
  });

  it("one that was made after flags were set is taken by a V8 without them", () => {
    const source = "(function () { return 6 * 7; })";
    const flagsHere = process.execArgv.filter((flag) => !flag.startsWith("--test"));
    /** Does V8 reject it, in a process that has not compiled the source? */
    const isRejected = (bytes: Uint8Array): unknown => {
      const place = join(folder, "late");
      writeFileSync(place, bytes);
      const code = `const { Script } = require("node:vm");
        const script = new Script(${JSON.stringify(source)}, { cachedData: require("node:fs").readFileSync(${JSON.stringify(place)}) });
        console.log(JSON.stringify({ isRejected: script.cachedDataRejected, answer: script.runInThisContext()() }));`;
      const { stdout, stderr } = spawnSync(process.execPath, [...flagsHere, "-e", code], { encoding: "utf8" });
      equal(stderr, "");
      return JSON.parse(stdout);
    };
    const script = new Script(source);
    const before = new FlagsBefore();
    deepEqual(before.under(script.createCachedData()), Uint8Array.from(script.createCachedData()));
    setFlagsFor("run C programs");
    const late = script.createCachedData();
    const asBefore = before.under(late)!;
    const asNow = before.underPresent(asBefore);
    unsetFlagsFor("run C programs");
    deepEqual(isRejected(late), { isRejected: true, answer: 42 });
    deepEqual(isRejected(asBefore), { isRejected: false, answer: 42 });
    // And the other way round, for threads that start when flags are set.
    deepEqual(asNow, Uint8Array.from(late));
  });
});
