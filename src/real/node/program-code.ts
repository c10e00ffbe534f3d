/**
 * The machine code of a program in C, kept from run to run beside what the compiler made of it (`cc/cache.ts`): V8 takes 0.1 s of processor time to
 * make it for the smallest program, in every node anew, and 1 ms to take it from a file.
 *
 * V8 knows modules of one process by their bytes: while this module lives, threads that compile the same bytes are given its code.
 */
import { readFileSync } from "node:fs";
import { Cache, cacheFolder, keyOf } from "../../cc/cache.ts";
import { distrust } from "../../trust/folder.ts";
import { canKeepWasmCode, codeMachine, moduleWithCode, wasmCodeOf } from "../../v8/wasm-code.ts";

/** Raised when code of another kind should be made. */
const recipe = 1;

export class ProgramCode {
  readonly #cache: Cache;
  #module: WebAssembly.Module | undefined;
  /** The program whose code is not kept yet. */
  #missing: { readonly key: string; readonly bytes: Uint8Array; readonly isRefused: boolean } | null = null;

  /** Null: code cannot be kept here, because this V8 cannot give it away or the folder may be another user's, whose code must not be run. */
  static open(environment: NodeJS.ProcessEnv): ProgramCode | null {
    const folder = `${cacheFolder(environment)}/cc`;
    return canKeepWasmCode() && distrust(folder) === undefined ? new ProgramCode(new Cache(folder)) : null;
  }

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** `flags`: those under which V8 makes its code, set by now. False: it has to make it. */
  load(file: string, flags: readonly string[]): boolean {
    const bytes = readOrNothing(file);
    if (bytes === undefined) return false;
    const key = keyOf([`machine code of a program ${recipe}`, codeMachine(), flags.join(" "), bytes]);
    const code = this.#cache.get(key)?.output;
    this.#module = code === undefined ? undefined : moduleWithCode(code, bytes);
    this.#missing = this.#module === undefined ? { key, bytes, isRefused: code !== undefined } : null;
    return this.#module !== undefined;
  }

  /** A thread has compiled it, whole. */
  keep(): void {
    if (this.#missing === null) return;
    const { key, bytes, isRefused } = this.#missing;
    this.#missing = null;
    // Another node of this machine may have been first.
    if (!isRefused && this.#cache.get(key) !== undefined) return;
    this.#module = new WebAssembly.Module(bytes);
    const output = wasmCodeOf(this.#module);
    if (output !== undefined) this.#cache.put(key, { output, stderr: new Uint8Array() });
  }
}

/** A program that is gone is missed by the rank that runs it, which says so. */
function readOrNothing(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
