/** Packages whose code is part of `dist` come with the text of their licences. */
import { deepEqual, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";

/** From the source maps: what the bundles were made of, whoever made the list. */
function bundledPackages(): string[] {
  const maps = readdirSync("dist").filter((name) => name.endsWith(".map"));
  const sources = maps.flatMap((name) => {
    const { sources: files } = JSON.parse(readFileSync(join("dist", name), "utf8")) as { sources: string[] };
    return files;
  });
  const names = sources.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

it("§3 every bundled package is listed with its version and the whole text of its licence", () => {
  const text = readFileSync("dist/THIRD-PARTY-LICENSES.txt", "utf8");
  const packages = bundledPackages();
  ok(packages.includes("commander") && packages.includes("lz4-wasm-nodejs"), `${packages}`);
  const listed = [...text.matchAll(/^={80}\n\n(\S+) (\S+) \(\S+\)$/gm)].map(([, name, version]) => [name, version]);
  const wanted = packages.map((name) => {
    const { version } = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8")) as {
      version: string;
    };
    return [name, version];
  });
  deepEqual(listed, wanted);
  for (const name of packages) {
    const files = readdirSync(join("node_modules", name)).filter((file) => /^licen[cs]e/i.test(file));
    ok(files.length > 0, name);
    for (const file of files) ok(text.includes(readFileSync(join("node_modules", name, file), "utf8").trim()), file);
  }
});

it("§3 what is published has that file in it", () => {
  const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };
  ok(files.includes("dist"));
});
