/** Puts a workshop together from what this machine has. */
import { Cache, cacheFolder } from "./cache.ts";
import { idleMsDefault, ServerClient } from "./client.ts";
import { findInstallation, type Installation } from "./installation.ts";
import { serverPlace } from "./server-place.ts";
import type { Terminal, Workshop } from "./workshop.ts";

export interface WorkshopOptions {
  readonly cwd?: string | undefined;
  readonly terminal?: Terminal;
  readonly installation?: Installation;
  readonly signal?: AbortSignal | undefined;
  readonly environment?: NodeJS.ProcessEnv;
}

/** `BANYAN_CC_IDLE_MS` shortens the life of a server that this call starts; for tests. */
export function openWorkshop(options: WorkshopOptions = {}): Workshop & { readonly tools: ServerClient } {
  const { cwd = process.cwd(), terminal = { colours: false }, signal, environment = process.env } = options;
  const { installation = findInstallation() } = options;
  const folder = `${cacheFolder(environment)}/cc`;
  const tools = new ServerClient({
    place: serverPlace(folder, installation.identity),
    server: installation.server,
    cacheFolder: folder,
    idleMs: Number(environment["BANYAN_CC_IDLE_MS"] ?? idleMsDefault),
  });
  return { cwd, installation, cache: new Cache(folder, { shipped: installation.shipped }), tools, terminal, signal };
}
