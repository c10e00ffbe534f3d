/** The places and versions of Banyan's own files, on which a compile depends besides the user's sources. */
import { statSync } from "node:fs";
import { join } from "node:path";

/** Exactly the versions in package.json; a test compares them. */
export const clangVersion = "22.0.0-git20542-10";
export const binaryenVersion = "132.0.0";
/** The contract between programs and the runtime, docs/adr/0005. */
export const contractVersion = 2;
/** Raised when the same request would now give another result, so that kept results are not used any more. */
const recipe = 5;

export interface Installation {
  /** The folder of mpi.h. */
  readonly include: string;
  /** The folder of the support library's sources. */
  readonly support: string;
  /** The folder of the compiled support library, if the build was able to compile it. */
  readonly shipped: string;
  readonly server: string;
  /** Everything that determines the output of a tool besides its inputs. */
  readonly toolchain: string;
  /** Everything that must be equal in client and server. */
  readonly identity: readonly string[];
}

/** `dist` is the folder of the build. */
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
