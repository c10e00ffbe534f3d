/**
 * Where the installed package keeps what the bench needs. The build copies programs and C sources beside the bundle, so
 * they are found wherever the package lies.
 */
import { join } from "node:path";

/** The committed launcher: what `npx banyan` starts. */
export function launcherPath(): string {
  return join(__dirname, "../bin/banyan.js");
}

/** A program of ours, `src/lab/programs/<name>.ts`. */
export function programPath(name: string): string {
  return join(__dirname, "lab/programs", `${name}.ts`);
}

/** The same for the peers, `src/lab/peers/<name>.c`. */
export function sourcePath(name: string): string {
  return join(__dirname, "lab/peers", `${name}.c`);
}
