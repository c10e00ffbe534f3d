/**
 * Clang's WebAssembly, compiled once for all threads of the server. V8 compiles a function at its first call and keeps the code
 * with the module, so a later thread finds most of clang ready (0.3 s instead of 1). The package cannot be given a module; it
 * calls `WebAssembly.compileStreaming`, which is replaced here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { assert } from "../core/base/assert.ts";

/** Modules below are a few functions between clang and its system. */
const largeBytes = 2 ** 20;

/** By length in bytes: the package tells nothing else about the module it needs. */
export type ClangModules = ReadonlyMap<number, WebAssembly.Module>;

/** Node has this function, but its types leave it to browsers. */
interface StreamingEngine {
  compileStreaming(source: Response | Promise<Response>): Promise<WebAssembly.Module>;
}

/** Called in the server's main thread. `kept` gives the large module, if its machine code was kept. */
export async function compileClangModules(
  kept: (bytes: Uint8Array) => WebAssembly.Module | undefined = () => undefined,
): Promise<ClangModules> {
  const folder = dirname(createRequire(__filename).resolve("@yowasp/clang"));
  const modules = readdirSync(folder)
    .filter((name) => name.endsWith(".wasm"))
    .map(async (name) => {
      const bytes = readFileSync(join(folder, name));
      const module = bytes.length >= largeBytes ? kept(bytes) : undefined;
      return [bytes.length, module ?? (await WebAssembly.compile(bytes))] as const;
    });
  return new Map(await Promise.all(modules));
}

/** Clang itself; the others are a few functions between it and its system. */
export function largestOf(modules: ClangModules): WebAssembly.Module {
  const found = modules.get(Math.max(...modules.keys()));
  assert(found !== undefined, "clang has no modules");
  return found;
}

/** Called in a thread before it loads the package: an unknown module is compiled as usual. */
export function provideClangModules(modules: ClangModules): void {
  const engine = WebAssembly as unknown as StreamingEngine;
  const compile = engine.compileStreaming;
  engine.compileStreaming = async (source) => {
    const response = await source;
    return modules.get(Number(response.headers.get("content-length"))) ?? compile(response);
  };
}
