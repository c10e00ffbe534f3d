// The licences of packages whose code is inside dist/: their text must be shipped with the code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packageOf = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Names of the packages that these files (`inputs` of esbuild's metafiles) belong to. */
export function packagesOf(files) {
  const names = files.map((file) => packageOf.exec(file)?.[1]).filter((name) => name !== undefined);
  return [...new Set(names)].sort();
}

/** The text of THIRD-PARTY-LICENSES.txt. Fails for a package without a licence: it must not be bundled. */
export function licencesText(packages) {
  const head = "Packages whose code is part of this folder, and their licences.\n";
  return [head, ...packages.map(partOf)].join(`\n${"=".repeat(80)}\n\n`);
}

function partOf(name) {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length === 0) throw new Error(`Cannot bundle ${name}: it comes without the text of its licence`);
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
