/** Checks the options of a job before anything is started: a mistake is one line. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { extname, relative } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import { isWhole } from "../../core/ft/option.ts";
import { resumableNames } from "../../core/ft/protocol-named.ts";
import { openFilesMax } from "../machine/open-files.ts";
import { layoutOf, memoryMbMax, producersMax } from "../transport/layout.ts";
import type { JobOptions } from "./job-options.ts";
import { isModule, isNative, languageOf, sourceExtensions, typescriptExtensions } from "./programs/program-compile.ts";

/** More threads than any machine has use for; above it the number is a slip. */
const ranksMax = 4096;

/** Measured: 32 for one node, 64 for eight. */
const openFilesOfJob = 32;
const openFilesOfNode = 4;

const typescriptCannotFreeze = "only programs in C and C++ can be";

/** Why a job cannot be frozen while it runs, the end of a sentence; undefined: it can. */
export function freezingRefusal(options: Options): string | undefined {
  if (options.jobFolder === "") return "it was launched without a jobFolder";
  if (options.others.length > 0) return "it runs several programs";
  return captureRefusal(options);
}

/** Why there can be no images of all ranks at once, likewise. */
export function captureRefusal({ protocol, program }: Options): string | undefined {
  return protocol.refusals.freezing ?? (languageOf(program) === "c" ? undefined : typescriptCannotFreeze);
}

/** Options as they are checked, before anything is made for the job. */
export type Options = Omit<
  JobOptions,
  | "trace"
  | "folder"
  | "placement"
  | "nodeMap"
  | "setOf"
  | "faults"
  | "checkpoints"
  | "seed"
  | "beganMs"
  | "resumed"
  | "isMoved"
  | "wentBack"
  | "starts"
>;

export function checkOptions(options: Options): string | undefined {
  const { ranks, replicas, nodes, heapMb, memoryMb, port, debugPort, timeoutMs, heartbeatMs, patienceMs } = options;
  if (!isWhole(ranks, 1, ranksMax)) return `Cannot start ${ranks} ranks: a job has 1 to ${ranksMax}`;
  if (!isWhole(nodes, 1, ranks)) {
    const what = replicas === null ? "rank" : "replica";
    return `Cannot use ${nodes} nodes for ${ranks} ${what}${ranks === 1 ? "" : "s"}: give 1 to ${ranks}, each node holds a ${what}`;
  }
  if (heapMb !== 0 && !isWhole(heapMb, 4, 1 << 20))
    return `Cannot give each rank a heap of ${heapMb} MB: give a whole number from 4`;
  if (!isWhole(memoryMb, 16, memoryMbMax))
    return `Cannot give each node ${memoryMb} MB of shared memory: give a whole number from 16 to ${memoryMbMax}`;
  const shortage = checkMemory(Math.ceil(ranks / nodes), options);
  if (shortage !== undefined) return shortage;
  if (port !== 0 && !(isWhole(port, 1, 65535) && port + nodes <= 65536))
    return `Cannot listen on ports ${port} to ${port + nodes - 1}: give a whole number, so that all are from 1 to 65535`;
  if (debugPort !== 0 && !(isWhole(debugPort, 1, 65535) && debugPort + nodes <= 65536))
    return `Cannot wait for debuggers on ports ${debugPort} to ${debugPort + nodes - 1}: give a whole number, so that all are from 1 to 65535`;
  if (!(timeoutMs > 0)) return `Cannot end the job after ${timeoutMs / 1000} s: give a time above 0`;
  if (!isWhole(heartbeatMs, 1, 60_000))
    return `Cannot beat every ${heartbeatMs} ms: give a whole number from 1 to 60000`;
  if (!(patienceMs >= 2 * heartbeatMs))
    return `Cannot wait ${patienceMs} ms for a heartbeat every ${heartbeatMs} ms: give at least twice as long`;
  const joining = checkJoining(options);
  if (joining !== undefined) return joining;
  const tooFew = checkOpenFiles(nodes);
  if (tooFew !== undefined) return tooFew;
  return checkProgram(options.program) ?? checkPacking(options) ?? checkFreezing(options) ?? checkProtocol(options);
}

function checkJoining({ join, host, protocol, debugPort }: Options): string | undefined {
  if (join === null) return undefined;
  if (protocol.deaths !== "replaced") {
    const names = resumableNames.map((name) => `--protocol ${name}`).join(" or ");
    return `Cannot let nodes join under --protocol ${protocol.name}: ranks that it loses do not begin again elsewhere; use ${names}`;
  }
  if (debugPort !== 0 && join.only)
    return "Cannot debug a job whose nodes join: they run elsewhere; leave --join-only away";
  if (!isWhole(join.port, 0, 65535)) return `Cannot listen on port ${join.port}: give a whole number from 1 to 65535`;
  return hostRefusal(host);
}

/** Why nodes cannot join there; undefined: they can. */
export function hostRefusal(host: string): string | undefined {
  if (host !== "0.0.0.0" && host !== "::") return undefined;
  return `Cannot listen on ${host}: nodes are told that address; give the one by which they reach this machine`;
}

/** Far below usual limits, and enough to start and to say what is wrong: where files run out later, calls of the program fail. */
function checkOpenFiles(nodes: number, max = openFilesMax()): string | undefined {
  const wanted = openFilesOfJob + openFilesOfNode * nodes;
  if (max === undefined || max >= wanted) return undefined;
  const what = `a job of ${nodes} ${nodes === 1 ? "node" : "nodes"} with at most ${max} open files`;
  return `Cannot start ${what}: give it at least ${wanted}, with ulimit -n`;
}

function checkPacking({ program, ranksPerThread }: Options): string | undefined {
  if (!isWhole(ranksPerThread, 1, ranksMax))
    return `Cannot put ${ranksPerThread} ranks into a thread: give a whole number from 1`;
  if (ranksPerThread === 1 || languageOf(program) === "c") return undefined;
  return `Cannot put ${ranksPerThread} ranks of ${relative("", program)} into a thread: only programs in C and C++ can take turns`;
}

function checkProtocol({
  program,
  protocol,
  protocolOptions: values,
  freezeAtMs,
  ranksPerThread,
  ranks: processes,
  replicas,
  nodes,
}: Options) {
  const ranks = replicas?.length ?? processes;
  const { name, refusals } = protocol;
  if (freezeAtMs !== Number.POSITIVE_INFINITY && refusals.freezing !== null)
    return `Cannot freeze a job under --protocol ${name}: ${refusals.freezing}`;
  if (ranksPerThread > 1 && refusals.sharedThreads !== null)
    return `Cannot put several ranks into a thread under --protocol ${name}: ${refusals.sharedThreads}`;
  return protocol.check(values, { program: relative("", program), language: languageOf(program), ranks, nodes });
}

function checkFreezing({ program, others, freezeAtMs, jobFolder }: Options): string | undefined {
  if (freezeAtMs === Number.POSITIVE_INFINITY) return undefined;
  if (others.length > 0) return "Cannot freeze the job: it runs several programs";
  if (!(freezeAtMs >= 0)) return `Cannot freeze the job after ${freezeAtMs / 1000} s: give a time from 0`;
  if (jobFolder === "") return "Cannot freeze the job: say where to with --job-dir";
  return languageOf(program) === "c" ? undefined : `Cannot freeze ${relative("", program)}: ${typescriptCannotFreeze}`;
}

/** Of a program in C the memory that is given is each rank's own, and the node's is as large as it must be. */
function checkMemory(ranksOfNode: number, { program, memoryMb }: Options): string | undefined {
  if (ranksOfNode > producersMax)
    return `Cannot put ${ranksOfNode} ranks on a node: it holds up to ${producersMax}; use more --nodes`;
  if (languageOf(program) === "c") return undefined;
  try {
    layoutOf({ processes: ranksOfNode, memoryBytes: memoryMb << 20 });
    return undefined;
  } catch {
    return `Cannot put ${ranksOfNode} ranks into ${memoryMb} MB of shared memory: give more with --memory, or use more --nodes`;
  }
}

/** A name with its line breaks and other control characters as JSON has them: a message is one line. */
function oneLine(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

/** Why the file cannot be a program; undefined: it can. */
export function checkProgram(path: string): string | undefined {
  const name = oneLine(relative("", path) || path);
  if (!existsSync(path)) return `Cannot run ${name}: there is no such file`;
  if (!statSync(path).isFile()) return `Cannot run ${name}: it is not a file`;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    return `Cannot run ${name}: ${describeSystemError(error)}`;
  }
  const extensions = [...typescriptExtensions, ...sourceExtensions];
  if (extensions.includes(extname(path)) || isModule(path)) return undefined;
  if (isNative(path))
    return `Cannot run ${name}: it is a native program, and ranks run WebAssembly; compile it with banyan cc instead of mpicc or gcc`;
  return `Cannot run ${name}: programs end in ${extensions.join(", ")}, or are WebAssembly modules`;
}
