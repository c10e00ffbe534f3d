import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Script } from "node:vm";
import type { RankCompiled } from "../messages/rank-messages.ts";
import { LateCache } from "../rank/late-cache.ts";
import { keepCache, loadRankCode } from "./rank-code.ts";

/** Two programs call different functions of it. */
const source =
  "const calls = { a: () => [1, 2, 3].map((x) => x * 2), b: () => [4, 5].filter((x) => x > 4) }; globalThis.calls = calls;";

describe("X9 ADR 88: the first run of each program adds to the cache of a rank's code", () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-rank-code-"));
  after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "c-rank.cjs"), source);
  const load = () => loadRankCode("c-rank", "none", folder);
  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

  /** What rank 0 makes at the end of a program that calls those functions, if it makes anything. */
  function run(program: string, called: readonly ("a" | "b")[]): Omit<RankCompiled, "kind"> | undefined {
    const code = load();
    const script = new Script(code.source, { filename: code.file, cachedData: new Uint8Array(code.cache) });
    const late = LateCache.for({ rank: 0, code }, () => script.createCachedData());
    script.runInThisContext()();
    const { calls } = globalThis as unknown as { calls: Record<"a" | "b", () => void> };
    for (const each of called) calls[each]();
    const made = late!.make(bytesOf(program));
    if (made !== undefined) keepCache(code, made);
    return made;
  }

  it("one that has run before adds nothing, another one does, and nothing is lost", () => {
    equal(load().isKept, false);
    ok(run("first", ["a"]));
    equal(load().isKept, true);
    const { byteLength } = load().cache;
    equal(run("first", ["a"]), undefined);
    ok(run("second", ["b"]));
    ok(load().cache.byteLength > byteLength, "it has the functions of both");
    equal(run("second", ["a", "b"]), undefined);
    equal(run("first", ["a", "b"]), undefined);
    equal(load().programs.length, 2);
  });

  it("a program without a name needs no more than there is", () => {
    equal(LateCache.for({ rank: 0, code: load() }, () => bytesOf("never made"))!.make(null), undefined);
  });

  it("what has less than there was does not take its place", () => {
    const before = load();
    keepCache(before, { cache: Uint8Array.of(1, 2, 3), program: "ab".repeat(8) });
    const then = load();
    deepEqual(new Uint8Array(then.cache), new Uint8Array(before.cache));
    deepEqual(then.programs, [...before.programs, "ab".repeat(8)]);
  });

  it("as many programs as a byte can count are never remembered: the oldest are forgotten", () => {
    for (let i = 0; i < 70; i++)
      keepCache(load(), { cache: Uint8Array.of(), program: i.toString(16).padStart(16, "0") });
    const { programs } = load();
    equal(programs.length, 64);
    equal(programs.at(-1), "0000000000000045");
  });

  it("other ranks, and code that must not be kept, make none", () => {
    const code = load();
    equal(
      LateCache.for({ rank: 1, code }, () => bytesOf("")),
      null,
    );
    equal(
      LateCache.for({ rank: 0, code: { ...code, cacheFile: "" } }, () => bytesOf("")),
      null,
    );
  });
});
