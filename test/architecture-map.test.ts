import { deepEqual } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

/** Folders whose own folders the map shows; of all others it shows the name alone. */
const shown = ["", "core", "real", "sim"];

/** The folders below src/ that the map must show, by name: all but those for tests. */
function foldersOf(source: string): string[] {
  const found = shown.flatMap((folder) => readdirSync(join(source, folder), { withFileTypes: true }));
  const names = found.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return [...new Set(names)].filter((name) => name !== "testing").sort();
}

/** The names that the drawing under "Bird's-eye view" writes with a slash behind them. */
function foldersOnMap(page: string): string[] {
  const drawing = /## Bird's-eye view\s+```\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  return [...new Set([...drawing.matchAll(/([a-z0-9][a-z0-9-]*)\//g)].map(([, name]) => name!))].sort();
}

describe("the map in docs/ARCHITECTURE.md", () => {
  it("shows every folder, and no other", () => {
    deepEqual(foldersOnMap(readFileSync("docs/ARCHITECTURE.md", "utf8")), foldersOf("src"));
  });

  it("is read from the drawing alone", () => {
    deepEqual(foldersOnMap("a/\n## Bird's-eye view\n\n```\n│ core/  pure │ real/ │\n│   p2p/ │\n```\nb/"), [
      "core",
      "p2p",
      "real",
    ]);
  });
});
