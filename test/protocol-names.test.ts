/** A protocol is a folder, a line and a page: nobody else names it. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { protocols } from "../src/core/ft/registry.ts";
import { lineOf, sourceFiles } from "./source-files.ts";

/** May a file name that protocol? */
function isItsOwn(path: string, name: string): boolean {
  // The registry, and the tables of what needs the machine, or the simulator.
  if (path === "core/ft/registry.ts" || /^(real\/protocol-parts|sim\/protocol-worlds)\//.test(path)) return true;
  // Its tests and its benchmarks.
  if (path.endsWith(".test.ts") || path.startsWith("lab/") || path === "cli/bench.ts") return true;
  return path.split("/").includes(name);
}

/** `file:line` of every place that names a protocol and may not. */
function offendersIn(path: string, text: string, name: string): string[] {
  if (isItsOwn(path, name)) return [];
  return [...text.matchAll(wordOf(name))].map(({ index }) => `src/${path}:${lineOf(text, index)}: ${name}`);
}

/**
 * The name as a word, or as a part of a longer name (`LoggingProtocol`, `loggingRank`, `LOGGING_BYTES`), not as letters inside another
 * word. The baseline's name is an ordinary word: of it only comparisons with the name count.
 */
function wordOf(name: string): RegExp {
  if (name === "none") return /protocol\b[^\n]*[!=]== "none"|protocol: "none"/gi;
  // In capital letters it is the name of the MPI Forum's proposal, whose functions programs may call under every protocol.
  if (name === "ulfm") return /(?<![a-zA-Z])ulfm(?![a-z])|Ulfm(?![a-z])/g;
  // The flag, which people are told, and the folder of the layer itself are called so too.
  if (name === "fault-layer") return /"fault-layer"|protocol fault-layer/g;
  const capital = name[0]!.toUpperCase() + name.slice(1);
  return new RegExp(`(?<![a-zA-Z])${name}(?![a-z])|${capital}(?![a-z])|\\b${name.toUpperCase()}(?![A-Z])`, "g");
}

describe("a protocol is named in its folders and in the registry, and nowhere else", () => {
  it("no other source file names one", () => {
    const offenders = sourceFiles().flatMap(({ path, text }) =>
      protocols.flatMap(({ name }) => offendersIn(path, text, name)),
    );
    equal(offenders.join("\n"), "");
  });

  it("an offending line is found", () => {
    const text = 'import { LoggingProtocol } from "../ft/logging/x.ts";\n\nif (protocol.name === "none") return;\n';
    deepEqual(offendersIn("core/process/x.ts", text, "logging"), [
      "src/core/process/x.ts:1: logging",
      "src/core/process/x.ts:1: logging",
    ]);
    deepEqual(offendersIn("core/process/x.ts", text, "none"), ["src/core/process/x.ts:3: none"]);
    deepEqual(
      offendersIn("core/process/x.ts", 'const loggingRank = LOGGING_BYTES; // or "logging"', "logging").length,
      3,
    );
    // Letters of another word are no name.
    deepEqual(offendersIn("core/process/x.ts", "relogging, loggings: translate later", "logging"), []);
    deepEqual(offendersIn("core/process/x.ts", "relogging, loggings: translate later", "late"), []);
    deepEqual(offendersIn("real/logging/x.ts", text, "logging"), []);
  });

  it("every protocol has its folder", () => {
    const paths = sourceFiles().map(({ path }) => path);
    for (const { name } of protocols) ok(paths.includes(`core/ft/${name}/definition.ts`), name);
  });
});
