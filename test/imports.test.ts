import { deepEqual, equal } from "node:assert/strict";
import { posix } from "node:path";
import { describe, it } from "node:test";
import { lineOf, sourceFiles } from "./source-files.ts";

/**
 * The table that docs/ARCHITECTURE.md speaks of: a folder imports itself and what its row lists; a name stands for all folders
 * below it. The longest row that fits a file counts.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  // The entry of the package: programs import the API from it, and other programs the way to launch them.
  "index.ts": ["core", "mpi", "real/service", "real/logging"],
  "core/base": [],
  "core/wire": ["core/base"],
  "core/request": ["core/base"],
  "core/p2p": ["core/request", "core/wire", "core/base"],
  "core/service-channel": ["core/base"],
  "core/ft": ["core/request", "core/service-channel", "core/wire", "core/base"],
  "core/comm": ["core/wire", "core/base"],
  "core/coll": ["core/request", "core/comm", "core/wire", "core/base"],
  "core/fault": ["core/base"],
  "core/service": ["core/ft", "core/wire", "core/fault", "core/base"],
  "core/process": ["core/p2p", "core/ft", "core/coll", "core/comm", "core/request", "core/wire", "core/base"],
  // What the two faces of MPI, mpi/ and abi/, have in common; they reach the engine by it alone.
  "core/binding": [
    "core/process",
    "core/p2p",
    "core/ft",
    "core/coll",
    "core/comm",
    "core/request",
    "core/wire",
    "core/base",
  ],
  // The flags of the engine, for whoever starts or is a process.
  v8: [],
  image: ["core/base"],
  wasi: ["core/base"],
  trust: [],
  mpi: ["core/binding", "core/process", "core/ft", "core/coll", "core/comm", "core/request", "core/base"],
  // The header says what the arguments of its functions are.
  abi: [
    "core/binding",
    "core/process",
    "core/ft",
    "core/coll",
    "core/comm",
    "core/request",
    "core/base",
    "core/service/ending.ts",
    "image",
    "wasi",
    "../include",
  ],
  real: ["core", "image", "trust", "v8"],
  "real/framing": ["core/base"],
  // It hosts programs.
  "real/node": ["core", "image", "trust", "real", "mpi", "abi", "wasi", "v8"],
  sim: ["core", "mpi", "abi", "image", "wasi"],
  // Its client waits for a server that starts as the dispatcher waits for a node.
  cc: ["core/base", "core/service/silence.ts", "real/process/process-work.ts", "real/framing", "trust", "v8"],
  lab: ["core", "real", "sim", "mpi", "v8"],
  cli: ["core", "image", "trust", "wasi", "mpi", "abi", "real", "sim", "cc", "lab", "v8"],
};

const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

function rowOf(path: string): string | undefined {
  return Object.keys(mayImport)
    .filter((folder) => isInside(path, folder))
    .sort((a, b) => b.length - a.length)[0];
}

interface Import {
  readonly line: number;
  readonly from: string;
}

function importsOf(text: string): Import[] {
  const found = text.matchAll(/^(?:import|export)\b[^;"=(]*?"([^"]+)"|\bimport\("([^"]+)"\)/gm);
  return [...found].map((match) => ({ line: lineOf(text, match.index), from: match[1] ?? match[2]! }));
}

/** `file:line: import` for everything that the table does not allow. */
function offendersIn(path: string, text: string): string[] {
  const row = rowOf(path);
  if (row === undefined) return [`src/${path}:1: no row of the table fits this file`];
  return importsOf(text).flatMap(({ line, from }) => {
    if (!from.startsWith(".")) return [];
    const target = posix.join(posix.dirname(path), from);
    if (target.includes("/testing/")) return [`src/${path}:${line}: import of ${target}, which is for tests alone`];
    const allowed = [row, ...mayImport[row]!].some((folder) => isInside(target, folder));
    return allowed
      ? []
      : [`src/${path}:${line}: import of ${target}, and ${row} may import ${mayImport[row]!.join(" ") || "nothing"}`];
  });
}

describe("imports follow the table of the architecture", () => {
  it("every file imports only what its folder may", () => {
    const offenders = sourceFiles().flatMap(({ path, text }) => offendersIn(path, text));
    equal(offenders.join("\n"), "");
  });

  it("an offending line is named", () => {
    const text =
      'import { a } from "../base/a.ts";\nimport {\n  b,\n} from "../ft/b.ts";\nexport * from "../../sim/c.ts";\n';
    deepEqual(offendersIn("core/p2p/x.ts", text), [
      "src/core/p2p/x.ts:2: import of core/ft/b.ts, and core/p2p may import core/request core/wire core/base",
      "src/core/p2p/x.ts:5: import of sim/c.ts, and core/p2p may import core/request core/wire core/base",
    ]);
    deepEqual(offendersIn("real/transport/x.ts", 'const { m } = await import("../../mpi/m.ts");'), [
      "src/real/transport/x.ts:1: import of mpi/m.ts, and real may import core image trust v8",
    ]);
    deepEqual(offendersIn("real/node/x.ts", 'import type { m } from "../../mpi/m.ts";'), []);
    deepEqual(offendersIn("core/wire/x.ts", 'import { t } from "./testing/t.ts";'), [
      "src/core/wire/x.ts:1: import of core/wire/testing/t.ts, which is for tests alone",
    ]);
  });
});
