// Exports of src/ that no other file names: they need no `export`.
//   node scripts/unused-exports.mjs          lists them, file by file; the exit code says whether there are any
//   node scripts/unused-exports.mjs --fix    takes the word away; the compiler and the linter find what is used nowhere at all
// A name counts as used when any other file under src/, test/, scripts/ or examples/ has it as a word: nothing that is used is
// listed, and a common name may be missed.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(ts|mjs|js|cjs)$/.test(path))
    .map((path) => join(folder, path));
const texts = new Map(
  ["src", "test", "scripts", "examples"].flatMap(filesBelow).map((path) => [path, readFileSync(path, "utf8")]),
);
/** In how many files each word occurs. */
const files = new Map();
for (const text of texts.values()) {
  for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) files.set(word, (files.get(word) ?? 0) + 1);
}

const declared =
  /^export ((?:abstract |async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*))/gm;
// The package's interface, and entry points that are loaded by path.
const isFace = (path) => path === join("src", "index.ts") || path.startsWith(join("src", "mpi"));
let found = 0;
for (const [path, text] of texts) {
  if (!path.startsWith("src") || isFace(path)) continue;
  const unused = [...text.matchAll(declared)].filter(([, , name]) => files.get(name) === 1).map(([, , name]) => name);
  if (unused.length === 0) continue;
  found += unused.length;
  console.log(`${path}: ${unused.join(", ")}`);
  if (!process.argv.includes("--fix")) continue;
  const fixed = text.replace(declared, (whole, rest, name) => (unused.includes(name) ? rest : whole));
  writeFileSync(path, fixed);
}
console.log(`${found} exports that no other file names`);
process.exitCode = found > 0 && !process.argv.includes("--fix") ? 1 : 0;
