/**
 * Clang's WebAssembly, compiled once for all threads of the server. V8 compiles a function when it is first called and keeps
 * the code with the module, so a thread that comes later finds most of clang ready (0.3 s instead of 1). The package offers
 * no way to hand it a module; it asks for it by `WebAssembly.compileStreaming`, and that is answered here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** By length in bytes: all that the package says about the module it wants. */
export type ClangModules = ReadonlyMap<number, WebAssembly.Module>;

/** Node has it; its types leave it to browsers. */
interface StreamingEngine {
  compileStreaming(source: Response | Promise<Response>): Promise<WebAssembly.Module>;
}

/** For the server's main thread. */
export async function compileClangModules(): Promise<ClangModules> {
  const folder = dirname(createRequire(__filename).resolve("@yowasp/clang"));
  const modules = readdirSync(folder)
    .filter((name) => name.endsWith(".wasm"))
    .map(async (name) => {
      const bytes = readFileSync(join(folder, name));
      return [bytes.length, await WebAssembly.compile(bytes)] as const;
    });
  return new Map(await Promise.all(modules));
}

/** For a thread, before it loads the package: a module that we do not know is compiled as ever. */
export function provideClangModules(modules: ClangModules): void {
  const engine = WebAssembly as unknown as StreamingEngine;
  const compile = engine.compileStreaming;
  engine.compileStreaming = async (source) => {
    const response = await source;
    return modules.get(Number(response.headers.get("content-length"))) ?? compile(response);
  };
}
