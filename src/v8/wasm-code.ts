/**
 * The machine code that V8's optimising compiler made of a WebAssembly module, as bytes that another process can use: the same Node, the same
 * kind of processor, the same flags; V8 looks for that itself and refuses any other. Functions without optimised code are compiled there when
 * they are first called, as ever.
 *
 * Node has no function for it. V8 has two for its own tests, up to version 13; where they are missing nothing can be kept.
 */
import { cpus } from "node:os";
import { setFlagsFor, unsetFlagsFor } from "./flags.ts";

let isThere: boolean | undefined;

/** What code belongs to, besides the module and the flags. */
export function codeMachine(): string {
  const { version, versions, platform, arch } = process;
  return `${version} ${versions.v8} ${platform} ${arch} ${cpus()[0]?.model ?? ""}`;
}

export function canKeepWasmCode(): boolean {
  // Bytes that are not V8's are refused.
  isThere ??= intrinsic("%DeserializeWasmModule(a, b)", new ArrayBuffer(0), new Uint8Array(8)).kind === "returned";
  return isThere;
}

/**
 * Undefined where V8 cannot. At least one function of the module must have optimised code: V8 ends the process otherwise.
 */
export function wasmCodeOf(module: WebAssembly.Module): Uint8Array | undefined {
  const result = canKeepWasmCode() ? intrinsic("%SerializeWasmModule(a)", module) : undefined;
  return result?.kind === "returned" && result.value instanceof ArrayBuffer ? new Uint8Array(result.value) : undefined;
}

/**
 * The module with that code; undefined where V8 refuses it. `bytes` are the module's. Damaged code would be run: the caller has made
 * sure that it is whole, and nobody else's.
 */
export function moduleWithCode(code: Uint8Array, bytes: Uint8Array): WebAssembly.Module | undefined {
  if (!canKeepWasmCode()) return undefined;
  const own = code.buffer.slice(code.byteOffset, code.byteOffset + code.byteLength);
  const result = intrinsic("%DeserializeWasmModule(a, b)", own, bytes);
  return result.kind === "returned" && result.value instanceof WebAssembly.Module ? result.value : undefined;
}

type Outcome = { readonly kind: "returned"; readonly value: unknown } | { readonly kind: "missing" };

/** V8 reads such names only while a flag is set, which is set for no longer than that. */
function intrinsic(text: string, ...args: readonly unknown[]): Outcome {
  setFlagsFor("call intrinsics");
  try {
    return { kind: "returned", value: new Function("a", "b", `return ${text}`)(...args) };
  } catch {
    return { kind: "missing" };
  } finally {
    unsetFlagsFor("call intrinsics");
  }
}
