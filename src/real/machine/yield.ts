/**
 * `sched_yield` from plain JavaScript: WASI has it, and Node's own WASI calls the real one. 0.36 µs when no other thread wants
 * the core, a context switch otherwise. With more ranks than cores this is the key to speed: waking a sleeper costs 5 µs and
 * more, a yield about 1. Node warns once that WASI is experimental; nodes run with --disable-warning=ExperimentalWarning.
 */
import { WASI } from "node:wasi";

// (module (memory (export "memory") 1)): WASI calls need an instance with a memory, without using it.
const empty = "0061736d010000000503010001070a01066d656d6f72790200";

let made: (() => void) | undefined;

/** One for each thread: whoever waits in it may have the same. */
export function newYield(): () => void {
  made ??= makeYield();
  return made;
}

function makeYield(): () => void {
  const wasi = new WASI({ version: "preview1", args: [], env: {}, preopens: {} });
  wasi.initialize(new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(empty, "hex"))));
  const { sched_yield: yieldNow } = wasi.wasiImport;
  return yieldNow as () => void;
}
