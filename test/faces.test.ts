/**
 * The two faces of MPI do with the engine what `Operations` offers and nothing else (src/core/binding/operations.ts): a layer that
 * stands in for it sees everything that a program starts, looks at, completes, cancels and waits for.
 */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { codeOf, lineOf, sourceFiles } from "./source-files.ts";

/** Files of the faces that are no face: how a world hosts a program, and how images are taken of one. */
const notFaces = new Set(["abi/waiting/coroutine-host.ts", "abi/process-state.ts"]);

/** What starts, moves or ends operations of a process past `Operations`. */
const past =
  /\bengine\b|\brecords\b|\.collectives\b|\bprocess\.(start\w*|progress|revocations|agreements|choices|failures|freeCommunicator|isUsing|disconnect)\b|\bhost\.(wait|waitUntil|look|receiveNow)\b|\bR_[A-Z]+\b/g;

/** `file:line: text` of every place in a face that goes past the interface. */
function offendersIn(path: string, text: string): string[] {
  if (!/^(abi|mpi)\//.test(path) || notFaces.has(path)) return [];
  const code = codeOf(text);
  return [...code.matchAll(past)].map(({ 0: found, index }) => `src/${path}:${lineOf(code, index)}: ${found}`);
}

describe("a program reaches its process by Operations alone", () => {
  it("no file of a face starts, tests, completes, cancels or probes past it", () => {
    equal(
      sourceFiles()
        .flatMap(({ path, text }) => offendersIn(path, text))
        .join("\n"),
      "",
    );
  });

  it("an offending line is found", () => {
    const text = "const { engine } = program;\n// engine\nthis.host.process.startSend(comm);\nhost.wait(record);\n";
    deepEqual(offendersIn("abi/calls/x.ts", text), [
      "src/abi/calls/x.ts:1: engine",
      "src/abi/calls/x.ts:3: process.startSend",
      "src/abi/calls/x.ts:4: host.wait",
    ]);
    deepEqual(offendersIn("core/process/x.ts", text), []);
  });
});
