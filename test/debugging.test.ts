/** `banyan run --debug`: a debugger that speaks to Node's inspector sees the sources of a C program, stops in them and goes on. Row M10. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { sourceLinesOf } from "../src/abi/crash/source-lines.ts";
import { banyan, folderOf, program, Run, until } from "./harness.ts";
import { attachToProcess, attachToThread } from "./inspector.ts";

const patient = { timeoutMs: 240_000 };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Where the code of a line begins, in the bytes of a module. */
function offsetOf(wasm: Buffer, line: number): number {
  const lines = sourceLinesOf(new WebAssembly.Module(wasm));
  const place = new RegExp(`crashes\\.c:${line}:`);
  const offset = wasm.findIndex((_byte, at) => place.test(lines?.at(at) ?? ""));
  assert(offset > 0, `line ${line} has code`);
  return offset;
}

interface ParsedScript {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL?: string;
}

interface Paused {
  readonly callFrames: readonly { readonly functionName: string }[];
}

test("M10: a debugger stops before a C program begins, and at a line of it", async () => {
  program("debugging/folder", "");
  const path = folderOf("debugging/crashes.wasm");
  const made = await banyan(["cc", "-g", resolve("test/programs/c/crashes.c"), "-o", path], patient);
  assert.equal(made.code, 0, made.stderr);
  const port = await freePort();
  const run = new Run(["run", "--debug", `${port}`, path, "divide"], { stdin: "", ...patient });
  await until(() => run.stderr.includes(`ws://127.0.0.1:${port}/`), "the node says where it waits");
  const { session, end } = await attachToThread(port);
  const scripts: ParsedScript[] = [];
  session.on("Debugger.scriptParsed", (script: ParsedScript) => scripts.push(script));
  await session.call("Debugger.enable");
  const beginning = session.next("Debugger.paused");
  await session.call("Runtime.runIfWaitingForDebugger");
  await beginning;
  const script = scripts.find(
    ({ url, sourceMapURL }) => url.startsWith("wasm://") && /^data:/.test(sourceMapURL ?? ""),
  );
  assert(script !== undefined, "the program's module is there, with its source map");
  const map = JSON.parse(Buffer.from(script.sourceMapURL!.split(",")[1]!, "base64").toString());
  assert.ok(
    (map.sources as string[]).some((source) => source.endsWith("test/programs/c/crashes.c")),
    map.sources,
  );
  assert.equal(map.sourceRoot, `${pathToFileURL(process.cwd()).href}/`);
  const columnNumber = offsetOf(readFileSync(path), 12);
  await session.call("Debugger.setBreakpoint", {
    location: { scriptId: script.scriptId, lineNumber: 0, columnNumber },
  });
  const stopped = session.next("Debugger.paused");
  await session.call("Debugger.resume");
  const { callFrames } = (await stopped) as unknown as Paused;
  assert.match(callFrames[0]?.functionName ?? "", /divide$/);
  assert.match(callFrames[1]?.functionName ?? "", /main/);
  await session.call("Debugger.resume");
  end();
  const { code, stderr } = await run.ended;
  assert.equal(code, 136, stderr);
});

test("M10: with a debugger that sees no threads the program begins all the same", async () => {
  const path = program("debugging/hello.ts", 'import { mpi } from "banyan"; console.log("rank", mpi.world.rank);');
  const port = await freePort();
  const run = new Run(["run", `--debug=${port}`, path], { stdin: "", ...patient });
  await until(() => run.stderr.includes(`ws://127.0.0.1:${port}/`), "the node says where it waits");
  const end = await attachToProcess(port);
  await run.printed("rank 0");
  end();
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
});
