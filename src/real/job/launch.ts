/**
 * `launch`: starts a job from any Node program.
 *
 * ```ts
 * const job = launch("solver.ts", { ranks: 8 });
 * for await (const event of job) if (event.kind === "line") console.log(event.rank, event.text);
 * const { code, result } = await job.done;
 * ```
 */

import { randomBytes, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, constants, tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { playersOf } from "../../core/base/players.ts";
import { describeSystemError } from "../../core/base/system-error.ts";
import { checkPlan } from "../../core/fault/check.ts";
import { layerDeaths, seedOf } from "../../core/fault/layer-deaths.ts";
import { messageFlips } from "../../core/fault/message-flips.ts";
import { parsePlan } from "../../core/fault/parse.ts";
import type { FaultPlan } from "../../core/fault/plan.ts";
import { printEntry } from "../../core/fault/print.ts";
import type { CheckpointPlan, ProtocolDefinition } from "../../core/ft/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import { type ProtocolLaunchOptions, protocolDefault } from "../../core/ft/registry.ts";
import { membersBySet } from "../../core/ft/sets.ts";
import { nodeMapOf } from "../../core/process/node-map.ts";
import { packingFor } from "../../core/service/packing.ts";
import { type Placement, placedWithSpares } from "../../core/service/placement.ts";
import { placedApart, ranksTogether } from "../../core/service/replica-placement.ts";
import { removeFolder } from "../disk/remove-folder.ts";
import type { Folder } from "../messages/program-place.ts";
import type { Arrangement } from "../part-hosts/arrangement.ts";
import { arrangementOf } from "../protocol-parts/arrangements.ts";
import { TraceFile } from "../trace/trace-merge.ts";
import { memoryMbMax, spareMb } from "../transport/layout.ts";
import { checkOptions, checkProgram, hostRefusal } from "./check-options.ts";
import { moduleOf, prepareJobFolder, programsIn, readJob } from "./folder/job-folder.ts";
import { readResumable } from "./folder/read-resumable.ts";
import { Job } from "./job.ts";
import type { JobOptions } from "./job-options.ts";
import { folderLedAway, foldersGiven } from "./programs/folders-given.ts";
import { isModule, languageOf } from "./programs/program-compile.ts";
import { joinPrograms } from "./programs/several-programs.ts";
import { isWithoutCapture } from "./programs/without-capture.ts";
import { protocolGiven } from "./protocol-given.ts";
import type { MoveOrder } from "./recovery/job-moves.ts";
import type { JobEvent, WhereaboutsEvent } from "./report/job-event.ts";
import type { JobProgress, JobResult } from "./report/job-report.ts";

/** One of several programs of a job. */
export interface ProgramOfRanks {
  readonly program: string;
  readonly args?: readonly string[] | undefined;
  /** How many ranks run it; 1 unless given. */
  readonly ranks?: number | undefined;
}

export interface LaunchOptions extends ProtocolLaunchOptions {
  /** How many ranks; 1 unless given. */
  readonly ranks?: number | undefined;
  /** How many node processes to spread them over, in blocks; 1 unless given. */
  readonly nodes?: number | undefined;
  /** What the program finds behind its name in `process.argv`. */
  readonly args?: readonly string[] | undefined;
  /**
   * Programs of the ranks behind those of the first program, in this order (MPMD): all ranks are one world. Either all programs are in
   * C and C++, or all are in TypeScript and JavaScript.
   */
  readonly others?: readonly ProgramOfRanks[] | undefined;
  /** The fault-tolerance protocol, by name; no fault tolerance unless given. */
  readonly protocol?: string | undefined;
  /** Where facts about programs are kept from one job to the next (`sets: "traffic"`); nowhere unless given. */
  readonly cacheFolder?: string | undefined;
  /** What shall go wrong, and when: a fault plan (docs/faults.md). */
  readonly faults?: string | undefined;
  /** Leaves nodes alive that are taken for dead because of their silence, to see that they do no harm. */
  readonly keepSuspects?: boolean | undefined;
  /** Size of each rank's JavaScript heap; Node's own choice unless given. */
  readonly heapMb?: number | undefined;
  /** Shared memory of each node, for messages and `mpi.alloc`; 1024 unless given. Pages that are not touched cost nothing. */
  readonly memoryMb?: number | undefined;
  /** Folders that a program in C may use; the current one unless given. */
  readonly folders?: readonly string[] | undefined;
  /** What a program in C finds in its environment, beside PWD; that of this process unless given. One in TypeScript finds it as well. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Node i listens for the others on this port + i; ports that are free unless given. */
  readonly port?: number | undefined;
  /** The address of this machine on which the job waits for its nodes; the loopback interface's unless given. */
  readonly host?: string | undefined;
  /**
   * A command that runs the command behind it, and starts every node: `["ip", "netns", "exec", "one"]`. Standard input must reach
   * the node. It finds in its environment, as BANYAN_NODE_START, which of the job's processes it starts, from 1.
   */
  readonly nodeCommand?: readonly string[] | undefined;
  /**
   * Lets processes join the job as nodes while it waits or runs (`banyan node`), at `host`. They are free until a node is lost. Under
   * protocols that start the lost again.
   */
  readonly join?: JoinGiven | undefined;
  /** Nodes are sent all files of the job, and send theirs, even where they see the files of this process: to see that it works. */
  readonly sendFiles?: boolean | undefined;
  /**
   * Node i waits for a debugger at this port of the loopback interface + i, and its ranks stop before the first line of the program: Chrome's
   * DevTools, VS Code, whatever speaks to Node's inspector. Every rank has a thread then, and silent nodes are waited for.
   */
  readonly debugPort?: number | undefined;
  /** The job ends after this long, with code 124. */
  readonly timeoutMs?: number | undefined;
  /** Nodes give a sign of life this often; 100 unless given. */
  readonly heartbeatMs?: number | undefined;
  /** A node that has been silent for this long, and not seen at work by the system, is dead; 750 unless given. */
  readonly patienceMs?: number | undefined;
  /**
   * Packs so many ranks of a C program into each thread, where they take turns. Unless given: 1 where every rank has a core, and as many
   * as give each core a thread otherwise.
   */
  readonly ranksPerThread?: number | undefined;
  /** Freezes the job this long after all ranks have begun: images of them are written to `jobFolder`. Programs in C only. */
  readonly freezeAtMs?: number | undefined;
  /**
   * For everything of the job that outlives the call: its program, its journal, images of checkpoints, the frozen job
   * (docs/job-folder.md). Empty, or not there yet. A temporary folder that is removed unless given.
   */
  readonly jobFolder?: string | undefined;
  /** Writes a trace in the Chrome format to this file. */
  readonly trace?: string | undefined;
  /** Standard input of rank 0; empty unless given. */
  readonly stdin?: Readable | undefined;
  /** Where lines go instead of becoming events. */
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
  /** Puts the rank in front of each line written to `stdout` and `stderr`. */
  readonly label?: boolean | undefined;
  /** Writes what each rank prints to files there too: `1/rank.0/stdout`, `1/rank.0/stderr` and so on, as Open MPI does. */
  readonly outputFolder?: string | undefined;
}

/** Somebody looks at a program that stands still: a day. */
const debuggedPatienceMs = 86_400_000;

/** Nodes of one machine: no other machine can reach them. */
const loopback = "127.0.0.1";

/** How processes may join a job as nodes. */
interface JoinGiven {
  /** Where the job listens for them; a port that is free unless given. */
  readonly port?: number | undefined;
  /** The job starts no nodes of its own, and waits until enough have joined. False unless given. */
  readonly only?: boolean | undefined;
  /** Where the secret is written that they must know; in a temporary folder unless given. Removed with the job. */
  readonly secretFile?: string | undefined;
}

/** Nothing was started; the message says why, in one line. */
export class CannotLaunch extends Error {
  override readonly name = "CannotLaunch";
  /** For a command: 2 when it was called wrongly, 1 when the world is in the way. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A running job. Iterating over it gives its events, and is not necessary. */
export interface RunningJob extends AsyncIterable<JobEvent> {
  readonly ranks: number;
  readonly nodes: number;
  /** The name of its protocol. */
  readonly protocol: string;
  /** Never rejects: a job that fails has a code that is not 0. */
  readonly done: Promise<JobResult>;
  /** Ends the job in order, as a signal would; a second time at once. */
  kill(signal?: NodeJS.Signals): void;
  /** Freezes it now, to its `jobFolder`. */
  freeze(): void;
  /** Where the protocol takes checkpoints: of all sets, now. Does nothing otherwise, nor where a program takes its own. */
  checkpoint(): void;
  /** That node's ranks shall go on elsewhere, and the node goes (docs/cloning.md). Returns the obstacle; empty: it does. */
  drain(node: number): string;
  /** The same for a rank too, and onto a chosen node. */
  move(order: MoveOrder): string;
  readonly progress: JobProgress;
  /** Where its ranks are. Takes a second at most. */
  whereabouts(): Promise<WhereaboutsEvent>;
  /** Has the job tell that as an event. */
  tellWhereabouts(): void;
}

/** Throws `CannotLaunch` when the options make no sense, or a file cannot be written; then nothing was started. */
export function launch(program: string, options: LaunchOptions = {}): RunningJob {
  if (program === "") throw new CannotLaunch('Cannot run "": it names no program', 2);
  const folders = foldersGiven(options.folders ?? ["."]);
  if (typeof folders === "string") throw new CannotLaunch(folders, 2);
  return start(resolve(program), folders, options);
}

/** Goes on with a job that was frozen; what it is, its folder says. Throws `CannotLaunch`. */
export function thaw(folder: string, options: ThawOptions = {}): RunningJob {
  const job = readJob(folder);
  if (typeof job === "string") throw new CannotLaunch(job, 1);
  const { args, ranks, nodes, nodeMap, memoryMb, folders, program } = job;
  const led = folderLedAway(folders);
  if (led !== undefined) {
    const why = `there is a link in the path of ${led} now, a folder that its program was given`;
    throw new CannotLaunch(`Cannot thaw ${folder}: ${why}; put the folder itself there`, 1);
  }
  const { protocol, protocolOptions } = job;
  const thawed = {
    ...options,
    ...protocolOptions,
    protocol,
    args,
    ranks,
    memoryMb,
    nodes: options.nodes ?? nodes,
    environment: job.environment ?? undefined,
  };
  return start(resolve(moduleOf(folder)), folders, thawed, {
    thawFrom: resolve(folder),
    displayName: program,
    nodeMap,
  });
}

/** Where the lines of a resumed job go, and what it reads. */
export interface ResumeOptions
  extends Pick<LaunchOptions, "stdin" | "stdout" | "stderr" | "timeoutMs" | "nodeCommand" | "host" | "join"> {
  /** `stdin` begins at the beginning of the job's input, and not behind what was given already. False unless given. */
  readonly repeatsInput?: boolean | undefined;
}

/** Goes on with a job of which every process was killed; what it is, its folder says. Throws `CannotLaunch`. */
export function resume(folder: string, options: ResumeOptions = {}): RunningJob {
  const read = readResumable(resolve(folder));
  if (typeof read === "string") throw new CannotLaunch(read.replace(resolve(folder), folder), 1);
  const { job, predecessor } = read;
  const led = folderLedAway(job.folders);
  if (led !== undefined) {
    const why = `there is a link in the path of ${led} now, a folder that its program was given`;
    throw new CannotLaunch(`Cannot resume ${folder}: ${why}; put the folder itself there`, 1);
  }
  const given = protocolGiven(job.protocol, job.protocolOptions);
  if (typeof given === "string") throw new CannotLaunch(`Cannot resume ${folder}: ${given}`, 1);
  const plan = job.faults === "" ? null : parsePlan(job.faults);
  if (typeof plan === "string") throw new CannotLaunch(`Cannot resume ${folder}: ${plan}`, 1);
  const unreachable = options.join === undefined ? undefined : hostRefusal(options.host ?? loopback);
  if (unreachable !== undefined) throw new CannotLaunch(unreachable, 2);
  removeLeft(job.folder);
  const temporary = createFolder();
  const { form, packages, nodeMap, faults: _, folder: __, format, version, checksum, language, ...kept } = job;
  const program = programsIn(resolve(folder))[form];
  const nodes = predecessor.state.dispatcher.nodes.length;
  const crowd = { ranks: job.ranks, nodes, faults: plan === null ? undefined : job.faults };
  const running = new Job({
    ...kept,
    ...given,
    program,
    displayName: job.program,
    folder: temporary,
    jobFolder: resolve(folder),
    join: joinWanted(options.join, temporary),
    faults: plan,
    // Ranks may have been moved since it began.
    placement: predecessor.state.dispatcher.placement,
    nodes,
    setOf: predecessor.state.dispatcher.setOf,
    nodeMap: nodeMapOf(nodeMap),
    replicas: null,
    checkpoints: given.protocol.checkpoints?.(given.protocolOptions) ?? noCheckpoints,
    port: 0,
    host: options.host ?? loopback,
    nodeCommand: options.nodeCommand ?? [],
    sendFiles: false,
    debugPort: 0,
    timeoutMs: options.timeoutMs ?? Number.POSITIVE_INFINITY,
    ranksPerThread: packingWanted(program, crowd, given.protocol),
    freezeAtMs: Number.POSITIVE_INFINITY,
    thawFrom: "",
    isMoved: false,
    wentBack: null,
    starts: startsOf(nodes),
    trace: undefined,
    stdin: options.stdin,
    stdout: options.stdout,
    stderr: options.stderr,
    resumed: { ...predecessor, form, packages, repeatsInput: options.repeatsInput ?? false },
  });
  return runningJob(running, running.done, { ranks: job.ranks, nodes: job.nodes, protocol: job.protocol });
}

const startsOf = (nodes: number): number[] => Array.from({ length: nodes }, (_, node) => node + 1);

/** The folder of a run that was killed with all its processes. */
function removeLeft(folder: string): void {
  if (!/^banyan-[A-Za-z0-9]{6}$/.test(basename(folder))) return;
  try {
    removeFolder(folder);
  } catch {
    // It is in nobody's way.
  }
}

export type ThawOptions = Omit<
  LaunchOptions,
  "args" | "ranks" | "memoryMb" | "folders" | "environment" | "protocol" | keyof ProtocolLaunchOptions
>;

interface Earlier {
  readonly thawFrom: string;
  readonly displayName: string;
  /** The nodes that the program sees, by rank. */
  readonly nodeMap: readonly number[];
}

/** A fault plan kills ranks one by one, and a trace shows how each waits: then every rank has a thread of its own. */
function packingWanted(path: string, options: LaunchOptions, { refusals }: ProtocolDefinition): number {
  const { ranks = 1, nodes = 1, faults, trace, debugPort, others = [] } = options;
  const isAlone = faults !== undefined || trace !== undefined || debugPort !== undefined;
  if (languageOf(path) !== "c" || refusals.sharedThreads !== null || isAlone) return 1;
  const packing = packingFor({ ranks, nodes, cores: availableParallelism() });
  const programs = [path, ...others.map(({ program }) => program)];
  return packing > 1 && !programs.every(canTakeTurns) ? 1 : packing;
}

/** Of a module that only looks like one without captures each rank has a thread, which is always right. A file that cannot be read is found out later. */
const canTakeTurns = (path: string): boolean => !isWithoutCapture(path) || !isModule(path);

function start(path: string, folders: readonly Folder[], options: LaunchOptions, earlier?: Earlier): RunningJob {
  const given = protocolGiven(options.protocol ?? protocolDefault.name, options);
  if (typeof given === "string") throw new CannotLaunch(given, 2);
  const others = (options.others ?? []).map(({ program, args = [], ranks = 1 }) => ({
    program: resolve(program),
    args,
    ranks,
  }));
  const ranks = others.reduce((sum, other) => sum + other.ranks, options.ranks ?? 1);
  const unlike = others.find(({ program }) => languageOf(program) !== languageOf(path));
  if (unlike !== undefined) {
    const names = `${basename(path)} and ${basename(unlike.program)}`;
    throw new CannotLaunch(`Cannot run ${names} together: either all programs are in C, or all are in TypeScript`, 2);
  }
  const replicas = replicasWanted(path, given, ranks, options.nodes ?? 1);
  const players = replicas === null ? null : playersOf(replicas);
  const complete = {
    program: path,
    displayName: earlier?.displayName,
    thawFrom: earlier?.thawFrom ?? "",
    ranksPerThread: options.ranksPerThread ?? packingWanted(path, { ...options, others, ranks }, given.protocol),
    debugPort: options.debugPort ?? 0,
    keepSuspects: options.keepSuspects ?? false,
    freezeAtMs: options.freezeAtMs ?? Number.POSITIVE_INFINITY,
    jobFolder: options.jobFolder === undefined ? "" : resolve(options.jobFolder),
    args: options.args ?? [],
    others,
    ranks: players?.length ?? ranks,
    replicas,
    nodes: options.nodes ?? 1,
    ...given,
    heapMb: options.heapMb ?? 0,
    memoryMb: options.memoryMb ?? 1024,
    folders,
    environment: options.environment ?? null,
    port: options.port ?? 0,
    host: options.host ?? loopback,
    join: joinWanted(options.join, ""),
    nodeCommand: options.nodeCommand ?? [],
    sendFiles: options.sendFiles ?? false,
    timeoutMs: options.timeoutMs ?? Number.POSITIVE_INFINITY,
    heartbeatMs: options.heartbeatMs ?? 100,
    patienceMs: options.patienceMs ?? patienceMsDefault(options),
    label: options.label ?? false,
    outputFolder: options.outputFolder === undefined ? "" : resolve(options.outputFolder),
    stdin: options.stdin,
    stdout: options.stdout,
    stderr: options.stderr,
  };
  const mistake = checkOptions(complete) ?? others.map(({ program }) => checkProgram(program)).find(Boolean);
  if (mistake !== undefined) throw new CannotLaunch(mistake, 2);
  const { protocol, protocolOptions } = complete;
  const sizeAndCache = { ...complete, cacheFolder: options.cacheFolder ?? "" };
  const arranged = protocol.deaths === "replaced" ? arrangementOf(protocol, protocolOptions, sizeAndCache) : null;
  if (typeof arranged === "string") throw new CannotLaunch(arranged, 2);
  const setOf = arranged?.setOf ?? null;
  const faults = options.faults === undefined ? null : planWanted(options.faults, setOf ?? [], complete);
  if (typeof faults === "string") throw new CannotLaunch(faults, 2);
  const obstacle = complete.jobFolder === "" ? undefined : prepareJobFolder(complete.jobFolder);
  if (obstacle !== undefined) throw new CannotLaunch(obstacle, 1);
  const folder = createFolder();
  const checkpoints = protocol.checkpoints?.(protocolOptions) ?? noCheckpoints;
  const trace = options.trace === undefined ? undefined : openTrace(options.trace, folder);
  const placement =
    arranged?.placement ?? (players === null ? placesWithSpares(complete) : placedApart(players, complete.nodes));
  // Replicas see the nodes of the first of them (rule 6).
  const places = replicas === null ? placement : placement.slice(0, ranks);
  const nodeMap = nodeMapOf([...(earlier?.nodeMap ?? []), ...places.slice(earlier?.nodeMap.length ?? 0)]);
  const programs = [{ program: path, args: complete.args, ranks: options.ranks ?? 1 }, ...others];
  const joined = others.length > 0 && languageOf(path) === "typescript";
  const run = joined ? { ...complete, program: joinPrograms(folder, programs), args: [], others: [] } : complete;
  const job = new Job({
    ...run,
    join: joinWanted(options.join, folder),
    isMoved: false,
    wentBack: null,
    starts: startsOf(complete.nodes),
    seed: randomBytes(4).readInt32LE(),
    beganMs: Date.now(),
    resumed: null,
    protocolOptions: withDeathsOf(complete, faults, placement),
    placement,
    nodeMap,
    setOf,
    checkpoints,
    faults,
    trace,
    folder,
  });
  if (dieTogether(complete, faults)) {
    const message = `ranks that share a thread (${complete.ranksPerThread} each) die together when the fault plan kills one`;
    job.events.push({ kind: "note", message });
  }
  const together = players === null ? [] : ranksTogether(players, placement);
  if (together.length > 0) {
    const message = `the replicas of ${together.length === 1 ? `rank ${together[0]}` : `${together.length} ranks`} share nodes, and may be lost together: use --nodes ${Math.max(...(replicas ?? []))} or more`;
    job.events.push({ kind: "note", message });
  }
  const done = arranged === null ? job.done : followed(job, arranged);
  return runningJob(job, done, { ranks, nodes: complete.nodes, protocol: protocol.name });
}

/** `folder`: for the secret, unless another place is given. */
function joinWanted(given: JoinGiven | undefined, folder: string): JobOptions["join"] {
  if (given === undefined) return null;
  const { port = 0, only = false, secretFile } = given;
  return { port, only, secretFile: secretFile === undefined ? join(folder, "secret") : resolve(secretFile) };
}

/** Of nodes on other machines nobody can see whether they are at work, or starved by their ranks. */
function patienceMsDefault({ debugPort, join: joining }: LaunchOptions): number {
  if (debugPort !== undefined) return debuggedPatienceMs;
  return joining === undefined ? 750 : 3000;
}

function runningJob(
  job: Job,
  done: Promise<JobResult>,
  facts: Pick<RunningJob, "ranks" | "nodes" | "protocol">,
): RunningJob {
  return {
    ...facts,
    done,
    kill: (signal = "SIGTERM") => job.interrupt(signal, constants.signals[signal]),
    freeze: () => job.freeze(),
    checkpoint: () => job.checkpoint(),
    drain: (node) => job.drain(node),
    move: (order) => job.move(order),
    get progress() {
      return job.progress;
    },
    whereabouts: () => job.whereabouts(),
    tellWhereabouts: () => void job.tellWhereabouts(),
    [Symbol.asyncIterator]: () => ({ next: () => job.events.next(), return: () => job.events.return() }),
  };
}

/** By rank: how many processes play it; null: one, under this protocol. */
function replicasWanted(
  path: string,
  { protocol, protocolOptions }: Pick<JobOptions, "protocol" | "protocolOptions">,
  ranks: number,
  nodes: number,
): readonly number[] | null {
  if (protocol.replicas === null || !Number.isInteger(ranks) || ranks < 1) return null;
  const facts = { program: relative("", path), language: languageOf(path), ranks, nodes };
  const mistake = protocol.check(protocolOptions, facts);
  if (mistake !== undefined) throw new CannotLaunch(mistake, 2);
  return protocol.replicas(protocolOptions, ranks);
}

/** A rank that ends by its own doing leaves the thread to its neighbours; a thread that is killed takes all of them along. */
function dieTogether(
  { ranksPerThread, protocol }: Pick<JobOptions, "ranksPerThread" | "protocol">,
  plan: FaultPlan | null,
): boolean {
  const kills = plan?.entries.flatMap((entry) =>
    entry.kind === "fault" && entry.fault.kind === "kill" ? [entry.fault.victim] : [],
  );
  const isOfRanks = kills?.some(({ kind, ...which }) => kind === "rank" || ("of" in which && which.of === "rank"));
  return ranksPerThread > 1 && protocol.deaths === "survived" && isOfRanks === true;
}

/** The values of the protocol's options, with the deaths and flips of the plan that its ranks carry out themselves. */
function withDeathsOf(
  { protocol, protocolOptions, ranks }: Pick<JobOptions, "protocol" | "protocolOptions" | "ranks">,
  plan: FaultPlan | null,
  placement: Placement,
): OptionValues {
  if (plan !== null && protocol.withPlannedFlips !== undefined)
    return protocol.withPlannedFlips(protocolOptions, messageFlips(plan, randomInt(2 ** 32)));
  if (plan === null || protocol.withPlannedDeaths === undefined) return protocolOptions;
  const deaths = layerDeaths(plan, { seed: randomInt(2 ** 32), placement: placement.slice(0, ranks) });
  return protocol.withPlannedDeaths(protocolOptions, { seed: seedOf(plan), deaths });
}

type PlannedJob = Omit<JobSize, "replicas"> & Pick<JobOptions, "program" | "protocol" | "replicas">;

/** The plan of that text, or the mistake in it. */
function planWanted(text: string, setOf: readonly number[], job: PlannedJob): FaultPlan | string {
  const plan = parsePlan(text);
  if (typeof plan === "string") return plan;
  const isLayered = job.protocol.withPlannedDeaths !== undefined;
  const { ranks, nodes } = job;
  const replicas = job.replicas ?? undefined;
  const flipsMessages = job.protocol.withPlannedFlips !== undefined;
  const sets = membersBySet(setOf).length;
  const mistake = checkPlan(plan, { ranks, nodes, sets, isLayered, replicas, flipsMessages });
  if (mistake !== undefined) return mistake;
  const ofMemory = plan.entries.find(
    (entry) => entry.kind === "fault" && entry.fault.kind === "flip" && entry.fault.message === null,
  );
  if (ofMemory !== undefined && languageOf(job.program) !== "c")
    return `Cannot use the fault plan: "${printEntry(ofMemory)}": only programs in C and C++ have memory of their own`;
  const ofCall = plan.entries.find((entry) => entry.kind === "fault" && entry.when.kind === "call");
  if (ofCall === undefined || languageOf(job.program) === "c") return plan;
  return `Cannot use the fault plan: "${printEntry(ofCall)}": calls are counted of programs in C and C++ only`;
}

const noCheckpoints: CheckpointPlan = { interval: { kind: "never" }, servers: 0 };

/**
 * Those whose processes may have to be started again cannot spawn others. Buffers of ranks in TypeScript are in the node's memory, which
 * grows by what spawned processes need as far as it can.
 */
function placesWithSpares({
  program,
  ranks,
  nodes,
  memoryMb,
}: JobSize & { program: string; memoryMb: number }): Placement {
  if (languageOf(program) === "c") return placedWithSpares(ranks, nodes);
  return placedWithSpares(ranks, nodes, Math.floor((memoryMbMax - memoryMb) / spareMb));
}

/** With the notes of the arrangement, before and after the job. */
async function followed(job: Job, { note, finished }: Arrangement): Promise<JobResult> {
  const say = (message: string): void => {
    if (message !== "") job.events.push({ kind: "note", message });
  };
  say(note);
  const result = await job.done;
  if (result.code === 0) say(finished(result.protocol));
  return result;
}

interface JobSize {
  readonly ranks: number;
  readonly nodes: number;
}

function createFolder(): string {
  const name = join(tmpdir(), "banyan-");
  try {
    return mkdtempSync(name);
  } catch (error) {
    const why = describeSystemError(error);
    throw new CannotLaunch(`Cannot make a folder ${name}…: ${why}; let TMPDIR name one that can be written to`, 1);
  }
}

function openTrace(path: string, folder: string): TraceFile {
  try {
    return new TraceFile(path);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw new CannotLaunch(`Cannot write the trace to ${path}: ${describeSystemError(error)}; name another file`, 1);
  }
}
