/**
 * Run by the build: compiles the support library into `dist/cc/shipped`, where every `banyan cc` finds it. Clang runs in this
 * process; files that are compiled already are left alone.
 */
import { setFlagsFor } from "../v8/flags.ts";
import { Cache } from "./cache.ts";
import { Clang } from "./clang.ts";
import type { Tools } from "./client.ts";
import { findInstallation } from "./installation.ts";
import type { Reply, ToolRequest } from "./requests.ts";
import { supportLibrary } from "./support-library.ts";

/** Room for some older libraries; the least recently used go first. */
const bytesMax = 4 << 20;

class LocalTools implements Tools {
  #clang: Promise<Clang> | undefined;

  async run(request: ToolRequest): Promise<Reply> {
    if (request.kind !== "compile") return { kind: "broken", message: `Cannot ${request.kind} here` };
    this.#clang ??= Clang.load();
    return (await this.#clang).compile(request);
  }
}

async function main(): Promise<void> {
  setFlagsFor("run the compiler");
  const installation = findInstallation();
  const cache = new Cache(installation.shipped, { bytesMax, isForAll: true });
  await supportLibrary({ cwd: "/", installation, cache, tools: new LocalTools(), terminal: { colours: false } });
  cache.sweep();
}

void main();
