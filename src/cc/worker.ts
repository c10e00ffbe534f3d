/** A thread of the compile server: one job at a time, its tools loaded when the first job needs them. */
import { parentPort, workerData } from "node:worker_threads";
import { assert, unreachable } from "../core/base/assert.ts";
import { Cache } from "./cache.ts";
import { Clang } from "./clang.ts";
import { type ClangModules, provideClangModules } from "./clang-modules.ts";
import { Instrumenter } from "./instrument.ts";
import { KeptCode } from "./machine-code/kept-code.ts";
import type { Reply, ToolJob } from "./requests.ts";

/** A tool to load, for a job that will come. */
export interface WarmUp {
  readonly kind: "warm-up";
  readonly tool: Tool;
}
export interface ToolWorkerData {
  readonly modules: ClangModules;
  readonly cacheFolder: string;
}
export type Tool = "clang" | "binaryen";

let clang: Promise<Clang> | undefined;
let instrumenter: Promise<Instrumenter> | undefined;

async function perform(job: ToolJob): Promise<Reply> {
  switch (job.kind) {
    case "compile":
      return (await loadClang()).compile(job);
    case "link":
      return (await loadClang()).link(job);
    case "ask":
      return (await loadClang()).ask(job);
    case "instrument":
      return (await loadInstrumenter()).instrument(job);
    default:
      return unreachable(job);
  }
}

function loadClang(): Promise<Clang> {
  clang ??= Clang.load();
  return clang;
}

function loadInstrumenter(): Promise<Instrumenter> {
  instrumenter ??= Instrumenter.load((bytes) => kept.module("binaryen", bytes));
  return instrumenter;
}

const port = parentPort;
assert(port !== null, "the worker of the compile server is not a worker");
const { modules, cacheFolder } = workerData as ToolWorkerData;
const kept = new KeptCode(new Cache(cacheFolder));
provideClangModules(modules);
port.on("message", async (job: ToolJob | WarmUp) => {
  if (job.kind === "warm-up") {
    await (job.tool === "clang" ? loadClang() : loadInstrumenter());
    return;
  }
  // An exception of a tool ends this thread: its memory is in an unknown state. The server tells the client.
  port.postMessage(await perform(job));
});
