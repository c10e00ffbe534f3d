/**
 * Paths in the installed package that the bench needs. The build copies programs and C sources beside the bundle, so they are
 * found wherever the package lies.
 */
import { join } from "node:path";

/** The committed launcher, which `npx banyan` starts. */
export function launcherPath(): string {
  return join(__dirname, "../bin/banyan.js");
}

/** A program of Banyan's, `src/lab/programs/<name>.ts`, or `.c`. */
export function programPath(name: string, ending: "ts" | "c" = "ts"): string {
  return join(__dirname, "lab/programs", `${name}.${ending}`);
}

/** One of the examples, `examples/<name>.c`, or `.ts`. */
export function examplePath(name: string, ending: "ts" | "c" = "c"): string {
  return join(__dirname, "../examples", `${name}.${ending}`);
}

/** One of the kernels, `examples/kernels/<name>.c`. */
export function kernelPath(name: string): string {
  return join(__dirname, "../examples/kernels", `${name}.c`);
}

/** The twin for the peers, `src/lab/peers/<name>.c`. */
export function sourcePath(name: string): string {
  return join(__dirname, "lab/peers", `${name}.c`);
}
