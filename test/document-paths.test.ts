/** Documents name files and folders that exist, and link to pages that exist. */
import { deepEqual } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** Files of the sources, of the tests and of the packages that go with them. */
const files = ["src", "test", "include", "scripts", "examples"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);

/** A path may be said from the root, from src/, or as its last parts: `p2p/engine.ts`. */
const exists = (path: string): boolean =>
  existsSync(path) || existsSync(join("src", path)) || files.some((file) => file.endsWith(`/${path}`));

/** Files with a folder in front, and folders of src/: both in backquotes. */
const named = /`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|wat|h))`|`((?:src|core|real|sim|abi|mpi)\/[a-z0-9/-]+)`/g;
const links = /\]\(([^)#:]+)(?:#[^)]*)?\)/g;

function missingIn(page: string, text: string): string[] {
  const line = (at: number): number => text.slice(0, at).split("\n").length;
  const paths = [...text.matchAll(named)]
    .filter(([, file, folder]) => !(file ?? folder)!.startsWith("../") && !exists((file ?? folder)!))
    .map(({ 1: file, 2: folder, index }) => `${page}:${line(index)}: ${file ?? folder}`);
  const pagesGone = [...text.matchAll(links)]
    .filter(([, target]) => !existsSync(join(dirname(page), target!)))
    .map(({ 1: target, index }) => `${page}:${line(index)}: ${target}`);
  return [...paths, ...pagesGone];
}

describe("documents", () => {
  it("name no file, folder or page that does not exist", () => {
    deepEqual(
      pages.flatMap((page) => missingIn(page, readFileSync(page, "utf8"))),
      [],
    );
  });

  it("a path that does not exist is found, with its line", () => {
    const text =
      "`core/p2p/engine.ts` and `p2p/engine.ts`\n`core/p2p/nowhere.ts`, `core/nowhere`, [page](gone.md), [web](https://a.b)";
    deepEqual(missingIn("docs/x.md", text), [
      "docs/x.md:2: core/p2p/nowhere.ts",
      "docs/x.md:2: core/nowhere",
      "docs/x.md:2: gone.md",
    ]);
  });
});
