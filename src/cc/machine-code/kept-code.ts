/**
 * The tools' machine code in the cache. V8 compiles clang anew in each life of the server, by its baseline compiler alone, because to optimise
 * it takes longer than a life; kept code is optimised and costs nothing but its loading. Who makes it: `training.ts`.
 *
 * The code belongs to one Node, one kind of processor and one version of the tools, which are in the entry's key. An entry without
 * code says that none can be made here.
 */
import { flagsFor } from "../../v8/flags.ts";
import { canKeepWasmCode, codeMachine, moduleWithCode } from "../../v8/wasm-code.ts";
import { type Cache, keyOf } from "../cache.ts";
import { binaryenVersion, clangVersion } from "../installation.ts";

/** Raised when code of another kind should be made. */
const recipe = 1;

type KeptTool = "clang" | "binaryen";

export class KeptCode {
  readonly #cache: Cache;
  /** An entry was found: it need not be read again. */
  #isFound = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** The module with its code, if there is some. */
  module(tool: KeptTool, bytes: Uint8Array): WebAssembly.Module | undefined {
    const code = canKeepWasmCode() ? this.#cache.get(keyFor(tool))?.output : undefined;
    this.#isFound ||= code !== undefined;
    return code === undefined || code.length === 0 ? undefined : moduleWithCode(code, bytes);
  }

  /** Should code be made? Not where it is there, nor where V8 cannot, or could not the last time. */
  get isMissing(): boolean {
    return !this.#isFound && canKeepWasmCode() && this.#cache.get(keyFor("clang")) === undefined;
  }

  put(tool: KeptTool, code: Uint8Array): void {
    this.#cache.put(keyFor(tool), { output: code, stderr: new Uint8Array() });
  }

  giveUp(): void {
    this.put("clang", new Uint8Array());
  }
}

function keyFor(tool: KeptTool): string {
  return keyOf([
    `machine code of ${tool} ${recipe}`,
    `${clangVersion} ${binaryenVersion}`,
    codeMachine(),
    ...flagsFor("run the compiler"),
  ]);
}
