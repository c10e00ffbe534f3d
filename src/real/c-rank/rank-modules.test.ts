/** A module that is missing in the list is compiled by every node of every run, and nobody notices. */
import { deepEqual } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";

const root = "src";
const folders = ["abi", "real/c-rank", "real/data-plane", "real/transport"];

/** Compiled before V8's flags are set (node.wat is in the list as `callsAnew`), by few ranks, or not by every Node. */
const exceptions = ["copy.wat", "message-hash.wat", "node.wat", "two-memories.wat"];

test("X9 machine code of all that ranks in C compile is kept", () => {
  const modulesIn = (file: string): string[] =>
    [...readFileSync(join(root, file), "utf8").matchAll(/from "(.*\.wat)"/g)].map(([, name = ""]) => basename(name));
  const sources = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(folder, name))
      .filter((name) => /(?<!\.test)\.ts$/.test(name)),
  );
  const list = "real/c-rank/rank-modules.ts";
  const compiled = new Set(sources.filter((name) => name !== list).flatMap(modulesIn));
  deepEqual([...modulesIn(list), ...exceptions].sort(), [...compiled].sort());
});
