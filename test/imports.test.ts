import { deepEqual, equal } from "node:assert/strict";
import { posix } from "node:path";
import { describe, it } from "node:test";
import { lineOf, type SourceFile, sourceFiles } from "./source-files.ts";

/**
 * The table that docs/ARCHITECTURE.md speaks of: a folder imports itself and what its row lists; a name stands for all folders
 * below it. The longest row that fits a file counts.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  // The entry of the package: programs import the API from it, and other programs the way to launch them.
  "index.ts": ["core", "mpi", "real/job"],
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
  // Stands between a face and what is below it, so it knows both sides of that interface.
  "core/fault-layer": [
    "core/binding",
    "core/process",
    "core/p2p",
    "core/coll",
    "core/comm",
    "core/request",
    "core/fault",
    "core/base",
  ],
  // The flags of the engine, for whoever starts or is a process.
  v8: [],
  image: ["core/base"],
  wasi: ["core/base"],
  trust: ["core/base"],
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
    "core/p2p/light-requests.ts",
    "core/service/ending.ts",
    "image",
    "wasi",
    "../include",
  ],
  // Threads, sockets and disks, from the bottom up.
  "real/machine": [],
  "real/disk": [],
  "real/framing": ["core/base"],
  "real/trace": ["real/machine", "core/p2p"],
  "real/image": ["real/machine/thread-options.ts", "image", "core/base"],
  "real/transport/sockets": ["real/machine", "core/request", "core/base"],
  "real/transport/handshake": ["real/transport/sockets"],
  "real/transport/tcp": [
    "real/transport/handshake",
    "real/transport/sockets",
    "core/service",
    "core/request",
    "core/wire",
    "core/base",
  ],
  "real/transport": ["real/machine", "core/coll", "core/comm", "core/request", "core/wire", "core/base"],
  "real/slow-links": [],
  // Memories of processes, from node to node while their programs run.
  "real/cloning": [
    "real/transport",
    "real/machine/memory-shortage.ts",
    "real/machine/thread-options.ts",
    "real/machine/thread-priority.ts",
    "image",
    "v8",
    "core/request/memory-marks.ts",
    "core/base",
  ],
  // Calls of C programs that need no engine.
  "real/data-plane": ["real/transport", "real/machine", "core/p2p", "core/coll", "core/comm", "core/base"],
  "real/process": [
    "real/messages",
    "real/data-plane",
    "real/transport",
    "real/trace",
    "real/machine",
    "core/process",
    "core/binding",
    "core/coll",
    "core/p2p",
    "core/ft",
    "core/comm",
    "core/service",
    "core/request",
    "core/wire",
    "core/base",
  ],
  // What crosses between dispatcher, node and rank.
  "real/messages": [
    "real/transport",
    "real/image",
    "real/disk",
    "real/cloning",
    "core/process",
    "core/ft",
    "core/request/memory-marks.ts",
    "core/service",
    "core/base",
  ],
  "real/output": [
    "real/messages",
    "real/process",
    "real/machine",
    "core/ft/protocol.ts",
    "core/service/line-numbers.ts",
    "core/service/line-places.ts",
    "core/base",
  ],
  "real/control-link": [
    "real/cloning",
    "real/framing",
    "real/messages",
    "real/transport",
    "real/disk",
    "core/process",
    "core/ft",
    "core/service",
    "core/base",
  ],
  "real/file-service": ["real/framing", "real/image", "real/transport", "image", "core/base"],
  "real/service-channel": ["real/transport", "real/machine", "real/disk", "core/service-channel", "core/base"],
  "real/checkpoint-server": ["real/file-service", "real/image", "real/transport", "core/base"],
  // The parts of protocols that need the machine: their interfaces, the protocols, the lists of them.
  "real/part-hosts": [
    "real/process",
    "real/data-plane/plane-recorder.ts",
    "real/transport",
    "core/binding",
    "core/ft",
    "core/fault",
    "core/service",
    "core/base",
  ],
  "real/logging": [
    "trust",
    "real/part-hosts",
    "real/data-plane/plane-recorder.ts",
    "real/messages",
    "real/process",
    "real/service-channel",
    "real/transport",
    "real/machine",
    "core/service-channel/word-log.ts",
    "core/ft",
    "core/fault",
    "core/service",
    "core/base",
  ],
  "real/replication": ["real/part-hosts", "core/ft", "core/base"],
  "real/channel-memory": [
    "real/disk",
    "real/part-hosts",
    "real/messages",
    "real/process",
    "real/service-channel",
    "real/transport",
    "real/machine",
    "core/ft",
    "core/fault",
    "core/service",
    "core/base",
  ],
  "real/fault-layer": ["real/part-hosts", "core/fault-layer", "core/binding", "core/ft"],
  "real/protocol-parts": [
    "real/logging",
    "real/channel-memory",
    "real/replication",
    "real/fault-layer",
    "real/part-hosts",
    "core/ft",
    "core/service",
  ],
  // They host programs, and nothing else knows the API.
  "real/rank": [
    "real/data-plane/plane-recorder.ts",
    "real/part-hosts",
    "real/protocol-parts",
    "real/output",
    "real/messages",
    "real/process",
    "real/transport",
    "real/image",
    "real/machine",
    "mpi",
    "v8",
    "image",
    "core/process",
    "core/ft",
    "core/service",
    "core/base",
  ],
  "real/c-rank": [
    "real/cloning",
    "real/part-hosts",
    "real/rank",
    "real/output",
    "real/messages",
    "real/data-plane",
    "real/process",
    "real/transport",
    "real/image",
    "real/disk",
    "real/machine",
    "abi",
    "wasi",
    "image",
    "core/request/memory-marks.ts",
    "core/ft/awaited-choices.ts",
    "core/ft/performed-choices.ts",
    "core/process",
    "core/service",
    "core/base",
  ],
  "real/node": [
    "real/rank/error-report.ts",
    // Which modules there are: their machine code is kept, too.
    "real/c-rank/rank-modules.ts",
    "real/protocol-parts",
    "real/part-hosts",
    "real/control-link",
    "real/cloning",
    "real/file-service",
    "real/output",
    "real/messages",
    "real/transport",
    "real/image",
    "real/disk",
    "real/machine",
    "image",
    // Machine code of programs is kept where the compiler keeps programs.
    "cc/cache.ts",
    "trust",
    "v8",
    "core/process",
    "core/request/memory-marks.ts",
    "core/service",
    "core/fault",
    "core/base",
  ],
  // The dispatcher.
  "real/job/report": ["real/messages", "core/ft", "core/service", "core/base"],
  "real/job/programs": ["real/messages", "real/disk", "core/base"],
  "real/job/folder": [
    // What ranks print is written down where it is put together.
    "real/output",
    "real/disk",
    "real/messages",
    "real/file-service",
    "real/image",
    "image",
    "trust",
    "core/ft",
    "core/service",
    "core/base",
  ],
  "real/job/nodes": [
    "real/control-link",
    "real/framing",
    "real/messages",
    "real/slow-links",
    "real/transport",
    "real/machine",
    "core/service",
    "v8",
  ],
  "real/job/clones": [
    "real/job/nodes",
    "real/job/report",
    "real/cloning",
    "real/file-service",
    "real/messages",
    "real/image",
    "real/transport",
    "core/ft",
    "core/service",
    "core/base",
  ],
  "real/job/recovery": [
    "real/job/clones",
    "real/job/nodes",
    "real/job/folder",
    "real/job/report",
    "real/part-hosts",
    "real/checkpoint-server",
    "real/file-service",
    "real/messages",
    "real/image",
    "real/transport",
    "real/machine",
    "core/ft",
    "core/fault",
    "core/service",
    "core/base",
  ],
  "real/job": [
    "real/protocol-parts",
    "real/part-hosts",
    "real/file-service",
    "real/output",
    "real/messages",
    "real/slow-links",
    "real/trace",
    "real/transport",
    "real/image",
    "real/disk",
    "real/machine",
    "core/process",
    "core/ft",
    "core/fault",
    "core/service",
    "core/base",
  ],
  sim: ["core", "mpi", "abi", "image", "wasi"],
  // Its client waits for a server that starts as the dispatcher waits for a node.
  cc: ["core/base", "core/service/silence.ts", "real/machine/process-work.ts", "real/framing", "trust", "v8"],
  lab: ["core", "real/job", "real/image", "sim", "mpi", "v8"],
  cli: ["core", "image", "trust", "wasi", "mpi", "abi", "real/job", "real/c-rank", "sim", "cc", "lab", "v8"],
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

/** The rows that a row's files may import from, its own rooms among them. */
function rowsBelow(row: string): string[] {
  return Object.keys(mayImport).filter(
    (other) =>
      other !== row && [row, ...mayImport[row]!].some((name) => isInside(other, name) || rowOf(name) === other),
  );
}

/** One circle of a graph, its first node again at the end; empty: there is none. */
function circleIn(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (node: string): string[] => {
    if (done.has(node)) return [];
    const at = way.indexOf(node);
    if (at >= 0) return [...way.slice(at), node];
    way.push(node);
    for (const next of arrows.get(node) ?? []) {
      const circle = visit(next);
      if (circle.length > 0) return circle;
    }
    way.pop();
    done.add(node);
    return [];
  };
  for (const node of arrows.keys()) {
    const circle = visit(node);
    if (circle.length > 0) return circle;
  }
  return [];
}

/**
 * The one circle there is: a C program has objects and continuations, which are data of an image, so each of their methods is given the
 * program anew. These files name its type.
 */
const namesItsOwner: readonly string[] = [
  "abi/arguments/buffers.ts",
  "abi/collectives/collective-sides.ts",
  "abi/handles/objects.ts",
  "abi/waiting/callbacks.ts",
  "abi/waiting/suspension.ts",
];

/** Files and what they import, types too. */
function arrowsBetween(files: readonly SourceFile[]): Map<string, string[]> {
  return new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text)
        .filter(({ from }) => from.startsWith("."))
        .map(({ from }) => posix.join(posix.dirname(path), from)),
    ]),
  );
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
    deepEqual(offendersIn("real/machine/x.ts", 'const { m } = await import("../../mpi/m.ts");'), [
      "src/real/machine/x.ts:1: import of mpi/m.ts, and real/machine may import nothing",
    ]);
    deepEqual(offendersIn("real/rank/x.ts", 'import type { m } from "../../mpi/m.ts";'), []);
    deepEqual(offendersIn("core/wire/x.ts", 'import { t } from "./testing/t.ts";'), [
      "src/core/wire/x.ts:1: import of core/wire/testing/t.ts, which is for tests alone",
    ]);
  });

  it("the rows have no circle", () => {
    const rows = new Map(Object.keys(mayImport).map((row) => [row, rowsBelow(row)]));
    deepEqual(circleIn(rows), []);
  });

  it("every row has a folder or a file", () => {
    const paths = sourceFiles().map(({ path }) => path);
    const names = Object.entries(mayImport).flatMap(([row, others]) => [row, ...others]);
    deepEqual(
      names.filter((name) => !name.startsWith("../") && !paths.some((path) => isInside(path, name))),
      [],
    );
  });

  it("no file imports itself by way of others, not for types either", () => {
    const arrows = arrowsBetween(sourceFiles());
    const isExcepted = (from: string, to: string): boolean => to === "abi/program.ts" && namesItsOwner.includes(from);
    const judged = [...arrows].map(([from, to]) => [from, to.filter((other) => !isExcepted(from, other))] as const);
    deepEqual(circleIn(new Map(judged)), []);
  });

  it("a circle is found and named", () => {
    const file = (path: string, ...imports: string[]): SourceFile => ({
      path,
      text: imports.map((from) => `import type { x } from "${from}";\n`).join(""),
    });
    const files = [file("a/a.ts", "../b/b.ts"), file("b/b.ts", "./c.ts"), file("b/c.ts", "./b.ts")];
    deepEqual(circleIn(arrowsBetween(files)), ["b/b.ts", "b/c.ts", "b/b.ts"]);
    deepEqual(circleIn(arrowsBetween(files.slice(0, 2))), []);
  });
});
