/**
 * `sched_yield` from plain JavaScript: WASI has it, and Node's own WASI calls the real one. 0.36 µs when nobody else wants
 * the core, a context switch otherwise. This is what makes more ranks than cores fast: a woken sleeper costs 5 µs and
 * more, one that yields about 1. Node warns once that WASI is experimental; nodes run with
 * --disable-warning=ExperimentalWarning.
 */
import { WASI } from "node:wasi";

// (module (memory (export "memory") 1)): WASI calls want an instance with a memory, they do not use it.
const empty = "0061736d010000000503010001070a01066d656d6f72790200";

export function newYield(): () => void {
  const wasi = new WASI({ version: "preview1", args: [], env: {}, preopens: {} });
  wasi.initialize(new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(empty, "hex"))));
  const { sched_yield: yieldNow } = wasi.wasiImport;
  return yieldNow as () => void;
}
