/** Opens a workshop with the tools and folders of this machine. */

import { distrust } from "../trust/folder.ts";
import { Cache, cacheFolder } from "./cache.ts";
import { CannotCompile, idleMsDefault, ServerClient, trainAfterMsDefault } from "./client.ts";
import { binaryenVersion, clangVersion, findInstallation, type Installation } from "./installation.ts";
import { serverPlace } from "./server-place.ts";
import type { Terminal, Workshop } from "./workshop.ts";

export interface WorkshopOptions {
  readonly cwd?: string | undefined;
  readonly terminal?: Terminal;
  readonly installation?: Installation;
  readonly signal?: AbortSignal | undefined;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Fails with `CannotCompile` where the cache may be another user's: its entries are run as programs. `BANYAN_CC_IDLE_MS`
 * shortens the life of a server that this call starts, and `BANYAN_CC_TRAIN_AFTER_MS` is the time without work after which it makes machine
 * code (`never`: it does not); `BANYAN_CC_FOR_LONG=1` says that it will compile dozens of programs. For tests.
 */
export function openWorkshop(options: WorkshopOptions = {}): Workshop & { readonly tools: ServerClient } {
  const { cwd = process.cwd(), terminal = { colours: false }, signal, environment = process.env } = options;
  const { installation = findInstallation() } = options;
  const folder = `${cacheFolder(environment)}/cc`;
  const wrong = distrust(folder);
  if (wrong !== undefined) {
    throw new CannotCompile(`Cannot use the cache: ${wrong}; let BANYAN_CACHE name a folder of your own`);
  }
  const tools = new ServerClient({
    place: serverPlace(folder, installation.identity),
    server: installation.server,
    packages: { "@yowasp/clang": clangVersion, binaryen: binaryenVersion },
    cacheFolder: folder,
    idleMs: Number(environment["BANYAN_CC_IDLE_MS"] ?? idleMsDefault),
    isForLong: environment["BANYAN_CC_FOR_LONG"] === "1",
    trainAfterMs: Number(environment["BANYAN_CC_TRAIN_AFTER_MS"] ?? trainAfterMsDefault),
  });
  return { cwd, installation, cache: new Cache(folder, { shipped: installation.shipped }), tools, terminal, signal };
}
