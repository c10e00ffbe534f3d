// Lets TypeScript import a WebAssembly text file: `import bytes from "./ring.wat"` gives the assembled module as bytes.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import wabtInit from "wabt";

const features = {
  threads: true,
  bulk_memory: true,
  simd: true,
  mutable_globals: true,
  sign_extension: true,
  multi_memory: true,
};
let wabt;

export async function assemble(path) {
  wabt ??= await wabtInit();
  const module = wabt.parseWat(basename(path), await readFile(path, "utf8"), features);
  try {
    module.validate(features);
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

export const watPlugin = {
  name: "wat",
  setup(build) {
    build.onLoad({ filter: /\.wat$/ }, async ({ path }) => ({ contents: await assemble(path), loader: "binary" }));
  },
};
