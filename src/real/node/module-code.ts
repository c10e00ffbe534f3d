/** The machine code that V8 made of some modules, as one entry of a cache: there for all of them, or for none. */
import { type Cache, keyOf } from "../../cc/cache.ts";
import { codeMachine, moduleWithCode, wasmCodeOf } from "../../v8/wasm-code.ts";

export class ModuleCode {
  readonly #cache: Cache;
  readonly #key: string;
  readonly #modules: readonly Uint8Array[];
  /** As it was found; undefined: it was not. */
  readonly #found: Uint8Array | undefined;
  /** V8 knows modules of one process by their bytes: while these live, threads that compile the same bytes are given their code. */
  #compiled: readonly WebAssembly.Module[] = [];
  #isMissing = false;

  /** `what` tells entries of one kind, and of one recipe, from all others. `flags`: those under which V8 makes the code. */
  constructor(cache: Cache, what: string, modules: readonly Uint8Array[], flags: readonly string[]) {
    this.#cache = cache;
    this.#modules = modules;
    this.#key = keyOf([what, codeMachine(), flags.join(" "), ...modules]);
    this.#found = cache.get(this.#key)?.output;
  }

  /** V8's flags are set. False: it has to make the code. */
  load(): boolean {
    const codes = this.#found === undefined ? [] : partsOf(this.#found);
    const compiled = this.#modules.map((bytes, i) => codes[i] && moduleWithCode(codes[i], bytes));
    this.#compiled = compiled.filter((module) => module !== undefined);
    this.#isMissing = this.#compiled.length < compiled.length;
    return !this.#isMissing;
  }

  /** Makes what was missing, once. What no thread has compiled is compiled here: V8's flags make it optimise all of it, or it has nothing to write down. */
  keep(): void {
    if (!this.#isMissing) return;
    this.#isMissing = false;
    // Another node of this machine may have been first; what V8 has refused is replaced.
    if (this.#found === undefined && this.#cache.get(this.#key) !== undefined) return;
    this.#compiled = this.#modules.map((bytes) => new WebAssembly.Module(bytes));
    const codes = this.#compiled.map((module) => wasmCodeOf(module));
    if (codes.every((code) => code !== undefined))
      this.#cache.put(this.#key, { output: joined(codes), stderr: new Uint8Array() });
  }
}

const lengthBytes = 4;

/** Each behind its length. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const lengthOf = ({ length }: Uint8Array): Uint8Array => new Uint8Array(Uint32Array.of(length).buffer);
  return Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
}

function partsOf(bytes: Uint8Array): Uint8Array[] {
  const { buffer, byteOffset, length } = bytes;
  const view = new DataView(buffer, byteOffset, length);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < length; ) {
    const from = at + lengthBytes;
    at = from + view.getUint32(at, true);
    parts.push(bytes.subarray(from, at));
  }
  return parts;
}
