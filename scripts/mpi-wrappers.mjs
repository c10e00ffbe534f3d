// Derived from include/mpi.h, the only list of MPI functions: the wrappers in C that every program is linked with
// (docs/adr/0005-c-programs.md, Calls). Run from the root of the repository.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const headers = ["include/mpi.h", "include/mpi-ext.h"];
const support = "src/cc/support";

/** Every `BANYAN_DECLARE(int, MPI_Send, (const void *buf, …))` of a text, or those of another word. */
export function prototypesIn(text, word = "BANYAN_DECLARE") {
  const pattern = new RegExp(`^${word}\\((\\w+), (\\w+), \\(([^)]*)\\)\\)`, "gm");
  return [...text.matchAll(pattern)].map(([, result, name, list]) => {
    const parameters = list.split(",").map((parameter) => parameter.trim().replace(/\s+/g, " "));
    return { name, result, parameters: parameters[0] === "void" ? [] : parameters };
  });
}

/** The functions that are imports: those of the headers without the ones that src/cc/support/ defines by hand. */
export function importedFunctions() {
  const local = new Set(
    readdirSync(support)
      .filter((file) => file.endsWith(".c"))
      .flatMap((file) => prototypesIn(readFileSync(join(support, file), "utf8"), "BANYAN_DEFINE"))
      .map(({ name }) => name),
  );
  return declaredFunctions().filter(({ name }) => !local.has(name));
}

export function declaredFunctions() {
  return headers.flatMap((header) => prototypesIn(readFileSync(header, "utf8")));
}

const nameOf = (parameter) => parameter.match(/(\w+)(?:\[\w*\])*$/)[1];

/** WebAssembly's type of a parameter or a result: i for i32, l for i64, d for f64. */
function kindOf(type) {
  if (/[*[]/.test(type)) return "i";
  if (/\b(MPI_Count|MPI_Offset)\b/.test(type)) return "l";
  return type === "double" ? "d" : "i";
}

const fixed = (parameters) => parameters.filter((parameter) => parameter !== "...");

export function signatureOf({ result, parameters }) {
  return `${fixed(parameters).map(kindOf).join("")}>${kindOf(result)}`;
}

function wrapperOf({ name, result, parameters }) {
  // No standard defines the variable arguments of MPI_Pcontrol, so they are dropped.
  const known = fixed(parameters);
  const call = `import_${name}(${known.map(nameOf).join(", ")})`;
  return [
    `BANYAN_IMPORT("mpi", "${name}") ${result} import_${name}(${known.join(", ") || "void"});`,
    `BANYAN_DEFINE(${result}, ${name}, (${parameters.join(", ") || "void"})) {`,
    `    return ${result === "int" ? `banyan_answer(${call})` : call};`,
    "}",
    "",
  ].join("\n");
}

/** The wrappers, one C file. */
export function wrappersSource(functions) {
  return [
    "/* Made from include/mpi.h by scripts/mpi-wrappers.mjs. */",
    "#include <mpi.h>",
    "",
    '#include "banyan.h"',
    "",
    ...functions.map(wrapperOf),
  ].join("\n");
}

/** Leaves a file with the same text alone, so that nothing is rebuilt without need. */
function write(path, text) {
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch {}
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Writes mpi-calls.c into a folder. */
export function generate(folder) {
  const functions = importedFunctions();
  mkdirSync(folder, { recursive: true });
  write(join(folder, "mpi-calls.c"), wrappersSource(functions));
}
