/** What is wrong with a job's options, in one line, before anything is started. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { extname, relative } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import { protocols } from "../../core/ft/registry.ts";
import { layoutOf, producersMax } from "../transport/layout.ts";
import type { JobOptions } from "./job-options.ts";
import { isModule, languageOf, sourceExtensions, typescriptExtensions } from "./program-compile.ts";

/** More threads than any machine has use for; above it the number is a slip. */
const ranksMax = 4096;

/** Options as they are checked, before anything is made for the job. */
export type Options = Omit<JobOptions, "trace" | "folder" | "nodeOf" | "setOf" | "faults">;

export function checkOptions(options: Options): string | undefined {
  const { ranks, nodes, protocol, heapMb, memoryMb, port, timeoutMs, heartbeatMs, patienceMs } = options;
  if (!isWhole(ranks, 1, ranksMax)) return `Cannot start ${ranks} ranks: a job has 1 to ${ranksMax}`;
  if (!isWhole(nodes, 1, ranks))
    return `Cannot use ${nodes} nodes for ${ranks} ${ranks === 1 ? "rank" : "ranks"}: give 1 to ${ranks}, each node holds a rank`;
  if (!Object.hasOwn(protocols, protocol))
    return `Cannot use protocol "${protocol}": there is ${Object.keys(protocols).join(", ")}`;
  if (heapMb !== 0 && !isWhole(heapMb, 4, 1 << 20))
    return `Cannot give each rank a heap of ${heapMb} MB: give a whole number from 4`;
  if (!isWhole(memoryMb, 16, 2047))
    return `Cannot give each node ${memoryMb} MB of shared memory: give a whole number from 16 to 2047`;
  const shortage = checkMemory(Math.ceil(ranks / nodes), memoryMb);
  if (shortage !== undefined) return shortage;
  if (port !== 0 && !(isWhole(port, 1, 65535) && port + nodes <= 65536))
    return `Cannot listen on ports ${port} to ${port + nodes - 1}: give a whole number, so that all are from 1 to 65535`;
  if (!(timeoutMs > 0)) return `Cannot end the job after ${timeoutMs / 1000} s: give a time above 0`;
  if (!isWhole(heartbeatMs, 1, 60_000))
    return `Cannot beat every ${heartbeatMs} ms: give a whole number from 1 to 60000`;
  if (!(patienceMs >= 2 * heartbeatMs))
    return `Cannot wait ${patienceMs} ms for a heartbeat every ${heartbeatMs} ms: give at least twice as long`;
  return checkProgram(options.program) ?? checkPacking(options) ?? checkFreezing(options) ?? checkLogging(options);
}

function checkPacking({ program, ranksPerThread }: Options): string | undefined {
  if (!isWhole(ranksPerThread, 1, ranksMax))
    return `Cannot put ${ranksPerThread} ranks into a thread: give a whole number from 1`;
  if (ranksPerThread === 1 || languageOf(program) === "c") return undefined;
  return `Cannot put ${ranksPerThread} ranks of ${relative("", program)} into a thread: only programs in C and C++ can take turns`;
}

function checkLogging({
  program,
  protocol,
  checkpointInterval: interval,
  checkpointServers,
  logMemoryMb,
  jobFolder,
  ranksPerThread,
}: Options): string | undefined {
  const takesCheckpoints = interval.kind !== "never";
  if (protocol !== "logging") {
    if (logMemoryMb !== 0) return "Cannot bound the memory of payload logs: only --protocol logging has any";
    if (checkpointServers !== 0) return "Cannot use checkpoint servers: only --protocol logging takes checkpoints";
    return takesCheckpoints ? "Cannot take checkpoints: only --protocol logging does" : undefined;
  }
  if (!isWhole(checkpointServers, 0, 64))
    return `Cannot start ${checkpointServers} checkpoint servers: give a whole number up to 64`;
  if (logMemoryMb !== 0 && !isWhole(logMemoryMb, 1, 2047))
    return `Cannot give each payload log ${logMemoryMb} MB: give a whole number from 1 to 2047`;
  if (jobFolder !== "") return "Cannot freeze a job under --protocol logging: it takes checkpoints instead";
  if (ranksPerThread > 1) return "Cannot put several ranks into a thread under --protocol logging";
  if (!takesCheckpoints) return undefined;
  if (interval.kind === "fixed" && !(interval.everyMs >= 10))
    return `Cannot take a checkpoint every ${interval.everyMs} ms: give at least 10 ms`;
  if (interval.kind === "best" && interval.meanTimeBetweenFailuresMs === 0)
    return "Cannot expect failures all the time: give a time above 0 with --mtbf";
  if (languageOf(program) === "c") return undefined;
  return `Cannot take checkpoints of ${relative("", program)}: only programs in C and C++ can be captured`;
}

function checkFreezing({ program, freezeAtMs, jobFolder }: Options): string | undefined {
  const isWanted = freezeAtMs !== Number.POSITIVE_INFINITY;
  if (!isWanted && jobFolder === "") return undefined;
  if (!(freezeAtMs >= 0)) return `Cannot freeze the job after ${freezeAtMs / 1000} s: give a time from 0`;
  if (jobFolder === "") return "Cannot freeze the job: say where to with --job-dir";
  if (languageOf(program) === "c") return undefined;
  return `Cannot freeze ${relative("", program)}: only programs in C and C++ can be`;
}

function checkMemory(ranksOfNode: number, memoryMb: number): string | undefined {
  if (ranksOfNode > producersMax)
    return `Cannot put ${ranksOfNode} ranks on a node: it holds up to ${producersMax}; use more --nodes`;
  try {
    layoutOf({ processes: ranksOfNode, memoryBytes: memoryMb << 20 });
    return undefined;
  } catch {
    return `Cannot put ${ranksOfNode} ranks into ${memoryMb} MB of shared memory: give more with --memory, or use more --nodes`;
  }
}

/** Why the file cannot be a program; undefined: it can. */
export function checkProgram(path: string): string | undefined {
  const name = relative("", path) || path;
  if (!existsSync(path)) return `Cannot run ${name}: there is no such file`;
  if (!statSync(path).isFile()) return `Cannot run ${name}: it is not a file`;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    return `Cannot run ${name}: ${describeSystemError(error)}`;
  }
  const extensions = [...typescriptExtensions, ...sourceExtensions];
  if (extensions.includes(extname(path)) || isModule(path)) return undefined;
  return `Cannot run ${name}: programs end in ${extensions.join(", ")}, or are WebAssembly modules`;
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
