/**
 * One job: the host of the dispatcher's core. Has its parts put together (job-parts.ts), has the program bundled while the nodes
 * start, and cleans up. Decides nothing itself.
 */
import { basename, extname } from "node:path";
import { secondsText, timesText } from "../../core/base/amounts.ts";
import { describeSystemError } from "../../core/base/system-error.ts";
import { printPlan } from "../../core/fault/print.ts";
import type { ProtocolReport } from "../../core/ft/definition.ts";
import type { InputPiece } from "../../core/service/input-pieces.ts";
import type { JobOutcome, Reason } from "../../core/service/outcome.ts";
import { WayBack } from "../../core/service/way-back.ts";
import type { WorldCheckpoint } from "../../core/service/world-checkpoints.ts";
import { deferred } from "../machine/deferred.ts";
import type { RunProgram } from "../messages/node-messages.ts";
import { cNodeMemoryMb } from "../transport/layout.ts";
import { areLinksAlike } from "../transport/tcp/link-sizes.ts";
import { freezingRefusal } from "./check-options.ts";
import { otherModuleOf, removeMoved, setMovedAside } from "./folder/job-folder.ts";
import { JobProcesses } from "./folder/job-processes.ts";
import { type ResumableJob, writeRun } from "./folder/resumable-job.ts";
import { isResumable, type JobOptions } from "./job-options.ts";
import { createParts, type JobParts } from "./job-parts.ts";
import { bundleProgram } from "./programs/program-bundle.ts";
import { compileAsBundle, languageOf, sourceExtensions } from "./programs/program-compile.ts";
import { JobMoves, type MoveOrder } from "./recovery/job-moves.ts";
import type { Relocation } from "./recovery/job-relocation.ts";
import { worldFolderIn } from "./recovery/job-world-checkpoints.ts";
import type { WhereaboutsEvent } from "./report/job-event.ts";
import type { JobEventQueue } from "./report/job-event-queue.ts";
import type { JobProgress, JobResult } from "./report/job-report.ts";
import { startWorld } from "./start-world.ts";

/** A user who interrupts a job does not want to wait for a reader that does not read. */
const outputAfterInterruptMsMax = 1_000;

const everyReplicaWrites =
  "programs in TypeScript read and write files in every replica: what they append is there once for each; print what must be there once";

/** A job that is being moved is frozen so much later. */
const freezeAgainMs = 50;
/**
 * The start of a process takes a tenth of a second from the processors, when a program needs them most: its code is cold, and two ranks that talk to each other stand
 * still together (messages kept by their senders, 2 ranks on two nodes and 2 cores, 8 bytes, the second to the tenth message: 0.4 ms each instead of 1.2 to 2.5; a short program ends 30 ms sooner). Who is lost sooner waits that tenth.
 */
const sparesAfterMs = 2_000;
/** Services are lost seldom, and nobody waits for one for longer than that tenth: beside the other, on two cores, it would take 0.1 s more from a program of three (ADR 85). */
const serviceSparesAfterMs = 10_000;

export class Job {
  /** Both are others when the job has been moved. */
  #options: JobOptions;
  #parts: JobParts;
  /** How the program is loaded; null: it is not there yet. */
  #run: Pick<RunProgram, "form" | "packages"> | null = null;
  /** From the end of its processes until all ranks have begun in others; null: they are where they were. */
  #relocated: Relocation | null = null;
  /** The same for a job of which no process plays some rank any more: the checkpoint that it goes back to. */
  #goesBackTo: WorldCheckpoint | null = null;
  readonly #wayBack = new WayBack();
  /** How often it has. */
  #backs = 0;
  #lostMs = 0;
  /** It was to be interrupted meanwhile. */
  #interruption: { readonly signal: string; readonly signalNumber: number } | null = null;
  /** How long all ranks stood still for each move. */
  readonly #stoodMs: number[] = [];
  readonly #result = deferred<JobResult>();
  readonly #ticking: NodeJS.Timeout;
  #tickedMs = performance.now();
  #hasBegun = false;
  /** Until processes come up that will take the place of lost ones. */
  #sparing: readonly NodeJS.Timeout[] = [];
  /** Null: nobody goes on with the job. */
  readonly #processes: JobProcesses | null;
  /** Where the ranks were when the job was interrupted, or its time was over. */
  #lastLook: Promise<void> = Promise.resolve();
  /** What stays in the job's folder; null while the job is not over. */
  #leftBehind: "all" | "frozen" | "nothing" | null = null;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#parts = this.#createParts(null);
    this.#processes = isResumable(options) ? new JobProcesses(options.jobFolder) : null;
    const { nodes, volunteers } = this.#parts;
    volunteers?.begin();
    if (options.resumed !== null) this.#resume();
    else if (volunteers === null) nodes.startAll();
    // The nodes' messages are read between the timer and the tick: a late judgement must not be one by old news.
    this.#ticking = setInterval(() => setImmediate(() => this.#tick()), options.heartbeatMs);
    void this.#bundle();
  }

  #createParts(before: JobParts | null): JobParts {
    const turns = {
      allBegan: () => this.#allBegan(),
      decided: (outcome: JobOutcome) => this.#decided(outcome),
      ended: (outcome: JobOutcome) => void this.#ended(outcome),
      lost: (message: string) => this.#lost(message),
      outputClosed: () => this.#parts.core.outputClosed(performance.now()),
      sendInput: (piece: InputPiece) => {
        const node = this.#options.placement[piece.rank]!;
        this.#parts.nodes.send(node, { kind: "input", ...piece });
      },
    };
    return createParts(this.#options, turns, before);
  }

  get done(): Promise<JobResult> {
    return this.#result.promise;
  }

  get events(): JobEventQueue {
    return this.#parts.report.events;
  }

  /** As a signal to the job: the first time it ends in order, then at once. */
  interrupt(signal: string, signalNumber: number): void {
    const { core, output } = this.#parts;
    if ((this.#relocated !== null || this.#goesBackTo !== null) && core.outcome !== undefined) {
      this.#interruption = { signal, signalNumber };
      return;
    }
    if (core.outcome !== undefined) output.giveUp();
    core.interrupted(signal, signalNumber, performance.now());
  }

  /** Checkpoints of all sets, now. */
  checkpoint(): void {
    const { core, recovery, worlds } = this.#parts;
    if (languageOf(this.#options.program) !== "c" || core.outcome !== undefined) return;
    recovery?.takeAll();
    worlds?.take();
  }

  /** The ranks of a node shall be elsewhere, and the node shall go. Returns the obstacle; empty: it does. */
  drain(node: number): string {
    return this.move({ moved: { kind: "node", node }, onto: null });
  }

  /** The same, for a rank too. */
  move(order: MoveOrder): string {
    const { ranks, replicas, placement, setOf, join } = this.#options;
    return new JobMoves(
      {
        nodes: this.#parts.core.state.nodes.length,
        ranks: replicas?.length ?? ranks,
        placement,
        setOf,
        // Programs in TypeScript are captured where they want it, and go on at once.
        canSplit: languageOf(this.#options.program) === "c",
        isJoined: join !== null,
        areLinksAlike: (after) => areLinksAlike([placement, after], (processes) => this.#nodeBytes(processes)),
      },
      this.#parts,
    ).move(order);
  }

  /** Size of a node's memory, with so many processes. */
  #nodeBytes(processes: number): number {
    const { program, memoryMb } = this.#options;
    return (languageOf(program) === "c" ? cNodeMemoryMb(processes) : memoryMb) * 2 ** 20;
  }

  /** Every rank stops at its next MPI call; when all have, images of them are written and the job ends. */
  freeze(): void {
    const refusal = freezingRefusal(this.#options);
    if (refusal !== undefined) throw new Error(`Cannot freeze the job: ${refusal}`);
    const { core, freezing, relocation } = this.#parts;
    const isMoving = this.#relocated !== null || (relocation?.underWay ?? null) !== null;
    if (isMoving) setTimeout(() => this.freeze(), freezeAgainMs).unref();
    else if (core.outcome === undefined) freezing.begin();
  }

  /** The job goes on: all its processes are gone, and all that had come of it is on the disk. */
  #resume(): void {
    const { core, nodes, recovery, output, report } = this.#parts;
    const torn = this.#options.resumed?.torn ?? [];
    report.note("the job goes on from its folder");
    if (torn.length > 0) {
      report.note(`the last record of ${torn.join(" and of ")} was torn, and is left out: nothing followed from it`);
    }
    output.resume();
    recovery?.takeOver();
    core.resume(performance.now());
    // Nobody waits for a node whose ranks had been moved.
    for (const [node, { gone }] of core.state.nodes.entries()) if (gone) nodes.abandon(node);
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#processes?.look();
    this.#parts.core.tick(nowMs);
    // As the core does: silence while this process was absent does not count.
    const stepMs = Math.min(nowMs - this.#tickedMs, 2 * this.#options.heartbeatMs);
    this.#parts.protocolPart?.tick(nowMs, stepMs);
    this.#parts.volunteers?.tick(stepMs);
    this.#parts.worlds?.tick(nowMs);
    this.#tickedMs = nowMs;
  }

  async #bundle(): Promise<void> {
    const { program } = this.#options;
    const { folders, report, core } = this.#parts;
    const { resumed } = this.#options;
    if (resumed !== null) {
      this.#runs(resumed);
      return;
    }
    const compile = languageOf(program) === "c" ? compileAsBundle : bundleProgram;
    if (sourceExtensions.includes(extname(program))) report.compiling(basename(program));
    const outcome = await compile({ program, bundle: folders.bundle });
    const other = outcome.kind === "ready" ? await this.#compileOthers() : undefined;
    if (outcome.kind === "ready" && other === undefined) this.#writeRun(outcome);
    // A job that was over sooner than its bundle has had its folder made again.
    if (this.#leftBehind !== null) this.#clearFolders(this.#leftBehind);
    report.compiled(outcome.said);
    if (other !== undefined) core.unusable(other, performance.now());
    else if (outcome.kind === "ready") {
      if (outcome.usesFs === true && this.#options.replicas !== null) report.note(everyReplicaWrites);
      this.#runs(outcome);
    } else core.unusable(`Cannot run ${basename(program)}: ${outcome.why}`, performance.now());
  }

  #runs({ form, packages }: Pick<RunProgram, "form" | "packages">): void {
    this.#run = { form, packages };
    this.#parts.nodes.run(this.#run);
  }

  /** From now on the job can be resumed, if it is of that kind. */
  #writeRun({ form, packages }: Pick<RunProgram, "form" | "packages">): void {
    const { jobFolder } = this.#options;
    if (!isResumable(this.#options) || this.#leftBehind !== null) return;
    try {
      writeRun(jobFolder, resumableJobOf(this.#options, { form, packages }));
    } catch (error) {
      this.#parts.report.note(
        `Cannot write ${jobFolder}/run.json: ${describeSystemError(error)}; the job could not be resumed`,
      );
    }
  }

  /** The programs behind the first; the obstacle, if there is one. */
  async #compileOthers(): Promise<string | undefined> {
    const { folders, report } = this.#parts;
    for (const [index, { program }] of this.#options.others.entries()) {
      if (sourceExtensions.includes(extname(program))) report.compiling(basename(program));
      const outcome = await compileAsBundle({ program, bundle: { wasm: otherModuleOf(folders.lasting, index) } });
      report.compiled(outcome.said);
      if (outcome.kind !== "ready") return `Cannot run ${basename(program)}: ${outcome.why}`;
    }
    return undefined;
  }

  #allBegan(): void {
    const { ranks: processes, replicas, nodes: nodeCount, freezeAtMs } = this.#options;
    const ranks = replicas?.length ?? processes;
    const { report, journal, nodes, recovery, clones, worlds, relocation, protocolPart, faults } = this.#parts;
    relocation?.allBegan();
    worlds?.allBegan();
    journal.begun();
    if (this.#hasBegun) {
      if (this.#goesBackTo === null) this.#moved();
      else this.#isBack(this.#goesBackTo);
      return;
    }
    report.started({ ranks, nodes: nodeCount }, nodes.pids);
    this.#hasBegun = true;
    recovery?.allBegan();
    clones?.allBegan();
    protocolPart?.allBegan();
    this.#sparing = [
      setTimeout(() => recovery !== null && nodes.prepareSpare(), sparesAfterMs),
      setTimeout(() => protocolPart?.prepareSpare?.(), serviceSparesAfterMs),
    ];
    faults?.begin();
    if (freezeAtMs !== Number.POSITIVE_INFINITY) setTimeout(() => this.freeze(), freezeAtMs).unref();
  }

  get progress(): JobProgress {
    const { listener, input } = this.#parts;
    return { messages: listener.packets, asksForInput: input.isWanted };
  }

  /** Where the ranks are. */
  async whereabouts(): Promise<WhereaboutsEvent> {
    const { whereabouts, report } = this.#parts;
    return report.whereabouts(await whereabouts.look());
  }

  /** The same as an event. */
  async tellWhereabouts(): Promise<void> {
    this.events.push(await this.whereabouts());
  }

  #decided({ reason, code, afterMs }: JobOutcome): void {
    const { output, report, whereabouts, volunteers, relocation } = this.#parts;
    if (reason.kind === "frozen" && code === 0) this.#relocated = relocation?.underWay ?? null;
    for (const timer of this.#sparing) clearTimeout(timer);
    whereabouts.end();
    volunteers?.end();
    if (reason.kind === "output-closed") output.giveUp();
    if (reason.kind === "interrupted") output.giveUpIn(outputAfterInterruptMsMax);
    this.#goesBackTo = this.#checkpointFor(reason);
    if (this.#goesBackTo === null) report.failed(reason, afterMs);
    else {
      this.#lostMs = performance.now();
      const { number, takenMs } = this.#goesBackTo;
      report.goesBack(reason, afterMs, { number, ageMs: this.#lostMs - takenMs });
    }
    // Nodes hear of this before they are told to end.
    if (reason.kind === "interrupted" || reason.kind === "timeout") this.#lastLook = this.tellWhereabouts();
  }

  async #ended(outcome: JobOutcome): Promise<void> {
    const { report, recovery, clones, protocolPart, listener } = this.#parts;
    const obstacle = await this.#goOn();
    if (obstacle === "") return;
    clearInterval(this.#ticking);
    if (obstacle !== null) this.#lost(obstacle);
    const code = (await this.#endParts(outcome)) || (obstacle === null ? 0 : 1);
    this.#leftBehind = this.#leftBy(outcome, code);
    this.#clearFolders(this.#leftBehind);
    const afterMs = report.elapsedMs;
    report.ended(code);
    const protocol = {
      ranks: listener.reports,
      ...this.#countEnds(),
      job: protocolPart?.report,
      clones: clones?.report,
      moves: clones?.moves,
    };
    const summary = [
      ...this.#options.protocol.summary(protocol),
      ...movesText(this.#stoodMs),
      ...backsText(this.#backs),
    ];
    const { reason } = outcome;
    const { result } = listener;
    this.#result.resolve({ code, result, reason, afterMs, recovery: recovery?.report ?? null, protocol, summary });
  }

  /** Where the job goes on when nobody plays some rank any more, or replicas differ; null: it does not. */
  #checkpointFor(reason: Reason): WorldCheckpoint | null {
    const { worlds, report } = this.#parts;
    const { to, why } = this.#wayBack.choose(reason, worlds?.latest ?? null);
    if (why !== "") report.note(why);
    if (to !== null) worlds?.forgetAfter(to);
    return to;
  }

  /** All its processes are gone. Returns the obstacle to going on in others; empty: it does; null: it is over. */
  async #goOn(): Promise<string | null> {
    if (this.#relocated === null && this.#goesBackTo === null) return null;
    const { nodes, services, protocolPart, freezing, journal, folders, faults } = this.#parts;
    faults?.end();
    services.links?.end();
    await protocolPart?.end();
    await nodes.endOthers();
    await services.checkpointServers.end();
    freezing.end();
    journal.close();
    const { lasting } = folders;
    try {
      this.#options = this.#optionsAfter(lasting);
    } catch (error) {
      return `Cannot go on elsewhere: ${describeSystemError(error)}; check the disk of ${lasting} and start the job again`;
    }
    this.#parts = this.#createParts(this.#parts);
    if (this.#goesBackTo === null) this.#parts.nodes.startAll();
    else startWorld(this.#options, this.#parts);
    if (this.#run !== null) this.#parts.nodes.run(this.#run);
    if (this.#interruption !== null) this.interrupt(this.#interruption.signal, this.#interruption.signalNumber);
    return "";
  }

  /** Images of its ranks are in that folder. Throws the system's errors. */
  #optionsAfter(folder: string): JobOptions {
    const wentBack = this.#goesBackTo;
    if (wentBack !== null) {
      const thawFrom = worldFolderIn(folder, wentBack.number);
      return { ...this.#options, thawFrom, isMoved: true, wentBack };
    }
    const thawFrom = setMovedAside(folder, this.#options.ranks);
    return { ...this.#options, ...this.#relocated!.places, thawFrom, isMoved: true };
  }

  /** Its ranks have begun again, with one replica of each. */
  #isBack({ number, world }: WorldCheckpoint): void {
    const { report, faults } = this.#parts;
    this.#goesBackTo = null;
    this.#backs++;
    const stoodMs = performance.now() - this.#lostMs;
    const isOfAll = this.#options.checkpoints.isOfAll === true;
    const who = isOfAll ? "all replicas go on" : `replica ${world} of every rank goes on`;
    report.note(`${who} from checkpoint ${number}, ${secondsText(stoodMs)} after the ${isOfAll ? "stop" : "loss"}`);
    faults?.begin();
  }

  /** Its ranks have begun again, in other places. */
  #moved(): void {
    const { report, nodes, folders } = this.#parts;
    const { orderedMs, ranks, node, emptied } = this.#relocated!;
    this.#relocated = null;
    removeMoved(folders.lasting);
    const stoodMs = performance.now() - orderedMs;
    this.#stoodMs.push(stoodMs);
    report.moved({ ranks, node, emptied, stoodMs, pids: nodes.pids });
  }

  #countEnds(): Pick<ProtocolReport, "dead" | "finished"> {
    const { core, clones } = this.#parts;
    const { state } = core;
    const dead = this.#options.protocol.deaths === "replaced" ? 0 : state.deaths.length - (clones?.missed ?? 0);
    return { dead, finished: state.ranks.filter((rank) => rank.state === "finished" || rank.state === "done").length };
  }

  /** Returns the code of the job: that of the outcome, unless something is lost that the job was to leave behind. */
  async #endParts({ code }: JobOutcome): Promise<number> {
    const { faults, services, recovery, protocolPart, nodes, freezing, input, output, trace, journal } = this.#parts;
    await this.#lastLook;
    faults?.end();
    services.links?.end();
    recovery?.end();
    await protocolPart?.end();
    await nodes.endOthers();
    await services.checkpointServers.end();
    freezing.end();
    input.close();
    await output.end();
    const problem = await trace.write(this.#options.placement.length);
    if (problem !== "") this.#lost(problem);
    const isUnfinalized = code === 0 && this.#checkFinalized();
    journal.close();
    return code || (problem !== "" || output.isLost || isUnfinalized ? 1 : 0);
  }

  /** All have finished, and some without MPI_Finalize: MPI's standard wants it, and other MPIs end such a job with an error. */
  #checkFinalized(): boolean {
    const { unfinalized, report } = this.#parts;
    if (unfinalized.size === 0) return false;
    const ranks = report.names.listed([...unfinalized].sort((a, b) => a - b));
    const message = `${ranks} ended without MPI_Finalize; call it before the program ends`;
    report.failed({ kind: "unfinalized", message }, report.elapsedMs);
    return true;
  }

  #leftBy({ reason }: JobOutcome, code: number): "all" | "frozen" | "nothing" {
    if (reason.kind === "frozen" && code === 0) return "frozen";
    // What a job before this run has done is worth more than tidiness.
    const isNew = !this.#hasBegun && this.#options.resumed === null;
    return code === 0 || isNew ? "nothing" : "all";
  }

  /** Something that the job was to leave behind is lost, perhaps when its ranks have finished. */
  #lost(message: string): void {
    const { core, report } = this.#parts;
    if (core.outcome === undefined) core.unusable(message, performance.now());
    else report.failed({ kind: "unusable", message }, report.elapsedMs);
  }

  #clearFolders(left: "all" | "frozen" | "nothing"): void {
    const obstacle = this.#parts.folders.clear(left);
    if (obstacle !== "") this.#parts.report.note(obstacle);
  }
}

function movesText(stoodMs: readonly number[]): string[] {
  if (stoodMs.length === 0) return [];
  const longest = secondsText(Math.max(...stoodMs));
  return [
    `moved ${timesText(stoodMs.length)}, all ranks stood still for ${stoodMs.length > 1 ? "at most " : ""}${longest}`,
  ];
}

const backsText = (backs: number): string[] => (backs === 0 ? [] : [`went back to a checkpoint ${timesText(backs)}`]);

/** The record of the job in its folder, for whoever goes on with it. */
function resumableJobOf(
  options: JobOptions,
  bundle: Pick<ResumableJob, "form" | "packages">,
): Omit<ResumableJob, "format" | "version" | "checksum"> {
  const { ranks, nodes, placement, nodeMap, setOf, memoryMb, heapMb, folders, environment, args, others } = options;
  const { protocol, protocolOptions, faults, keepSuspects, heartbeatMs, patienceMs, label, outputFolder } = options;
  const { seed, beganMs, folder, program, displayName } = options;
  return {
    program: displayName ?? program,
    language: languageOf(program),
    ...bundle,
    args,
    others,
    ranks,
    nodes,
    placement,
    nodeMap,
    setOf: setOf ?? [],
    memoryMb,
    heapMb,
    folders,
    environment,
    protocol: protocol.name,
    protocolOptions,
    faults: faults === null ? "" : printPlan(faults),
    keepSuspects,
    heartbeatMs,
    patienceMs,
    label,
    outputFolder,
    seed,
    beganMs,
    folder,
  };
}
