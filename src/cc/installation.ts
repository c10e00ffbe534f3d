/** Where our own files are, and which versions they are: what a compile depends on besides the user's sources. */
import { statSync } from "node:fs";
import { join } from "node:path";

/** Exactly what package.json asks for; a test says so. */
export const clangVersion = "22.0.0-git20542-10";
export const binaryenVersion = "132.0.0";
/** The contract between programs and the runtime, docs/adr/0005. */
export const contractVersion = 1;
/** Raised when the same request would now give another result, so that kept results are made anew. */
const recipe = 2;

export interface Installation {
  /** Has mpi.h. */
  readonly include: string;
  /** Has the sources of the support library. */
  readonly support: string;
  /** Has it compiled, if the build was able to. */
  readonly shipped: string;
  readonly server: string;
  /** Everything that decides what a tool makes of its inputs. */
  readonly toolchain: string;
  /** Everything that client and server must agree about. */
  readonly identity: readonly string[];
}

/** `dist` is where the build has put us. */
export function findInstallation(dist: string = __dirname): Installation {
  const server = join(dist, "cc-server.cjs");
  const { mtimeMs, size } = statSync(server);
  const toolchain = `clang ${clangVersion} binaryen ${binaryenVersion} contract ${contractVersion} recipe ${recipe}`;
  return {
    include: join(dist, "../include"),
    support: join(dist, "cc/support"),
    shipped: join(dist, "cc/shipped"),
    server,
    toolchain,
    identity: [__BANYAN_VERSION__, toolchain, process.version, server, `${mtimeMs} ${size}`],
  };
}
