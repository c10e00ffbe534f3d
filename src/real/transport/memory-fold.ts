/** The kernels of fold.wat: on the boards of a node, and for long operands in any other shared memory. */
import type { Fold } from "../../core/comm/datatype/views.ts";
import foldBytes from "./fold.wat";

let module: WebAssembly.Module | undefined;

export function foldExports(memory: WebAssembly.Memory): WebAssembly.Instance["exports"] {
  module ??= new WebAssembly.Module(foldBytes);
  return new WebAssembly.Instance(module, { node: { memory } }).exports;
}

/** Made when it is first called: most programs reduce nothing long. */
export function foldIn(memory: WebAssembly.Memory): Fold {
  let fold: Fold | undefined;
  return (left, right, into, bytes, format, operation) => {
    fold ??= foldExports(memory)["foldInto"] as Fold;
    fold(left, right, into, bytes, format, operation);
  };
}
