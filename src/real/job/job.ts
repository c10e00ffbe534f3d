/**
 * One job: the host of the dispatcher's core. Puts its parts together, has the program bundled while the nodes start, and
 * cleans up. Decides nothing itself.
 */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { assert } from "../../core/base/assert.ts";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { FaultPlan, Service } from "../../core/fault/plan.ts";
import { Dispatcher } from "../../core/service/dispatcher.ts";
import type { DispatcherRecord } from "../../core/service/dispatcher-state.ts";
import type { Death, Outcome } from "../../core/service/outcome.ts";
import { patiencesOf } from "../../core/service/patiences.ts";
import { type Placement, placementOf, ranksOfNode } from "../../core/service/placement.ts";
import { offerProof } from "../disk/same-files.ts";
import { FileHost } from "../file-service/host.ts";
import { verifyImages } from "../image/verify-images.ts";
import type { RankRestart } from "../messages/lives.ts";
import type { ProgramPlace } from "../messages/program-place.ts";
import type { JobPartHostPorts } from "../part-hosts/job-part-host.ts";
import { jobParts } from "../protocol-parts/job-parts.ts";
import { SlowLinks } from "../slow-links/slow-links.ts";
import { freezingRefusal } from "./check-options.ts";
import { filePlaces } from "./folder/file-places.ts";
import { checkpointsIn, programsIn, removeEndedJob } from "./folder/job-folder.ts";
import { JournalFile } from "./folder/journal-file.ts";
import { InputSource } from "./input-source.ts";
import { JobFreezing } from "./job-freezing.ts";
import type { JobOptions } from "./job-options.ts";
import { JobOutput } from "./job-output.ts";
import { JobTrace } from "./job-trace.ts";
import { NodeListener } from "./node-listener.ts";
import { NodeSetups } from "./node-setup.ts";
import { JobNodes } from "./nodes/job-nodes.ts";
import { LocalStarter } from "./nodes/local-starter.ts";
import { folderOfProgram } from "./programs/folders-given.ts";
import { bundleProgram } from "./programs/program-bundle.ts";
import { compileProgram, languageOf } from "./programs/program-compile.ts";
import { CheckpointServers } from "./recovery/checkpoint-servers.ts";
import { JobFaults } from "./recovery/job-faults.ts";
import { JobRecovery } from "./recovery/job-recovery.ts";
import type { JobEventQueue } from "./report/job-event-queue.ts";
import { JobReport, type JobResult } from "./report/job-report.ts";
import { ProcessNames } from "./report/process-names.ts";
import { Spawning } from "./spawning.ts";

/** A rank that makes no MPI call for so long keeps the others of its set from nothing but their work: the checkpoint is given up. */
const checkpointPatienceMs = 10_000;
const endPatienceMs = 2_500;
/** Whoever interrupts a job does not want to wait for a reader that does not read. */
const outputAfterInterruptMsMax = 1_000;

export class Job {
  readonly done: Promise<JobResult>;
  readonly #options: JobOptions;
  /** Of every process that there can be: those that may be spawned too. */
  readonly #placement: Placement;
  /** For what is needed to go on with the job: the job's folder if it was given one, its temporary one otherwise. */
  readonly #lasting: string;
  readonly #bundlePlace: ProgramPlace["bundle"];
  readonly #names = new ProcessNames();
  readonly #report = new JobReport(this.#names);
  readonly #journal: JournalFile;
  /** Trouble with the journal, until there is a job that could miss it: one that cannot begin says why, in one line. */
  #unsaid: string | null = "";
  readonly #core: Dispatcher;
  readonly #setups: NodeSetups;
  /** For nodes that do not see the job's files. */
  readonly #files: FileHost;
  readonly #nodes: JobNodes;
  readonly #listener: NodeListener;
  readonly #output: JobOutput;
  readonly #input: InputSource;
  readonly #freezing: JobFreezing;
  readonly #spawning: Spawning;
  /** Where the dead are replaced; null otherwise. */
  readonly #recovery: JobRecovery | null;
  readonly #faults: JobFaults | null;
  readonly #checkpointServers: CheckpointServers;
  readonly #links: SlowLinks | null;
  readonly #trace: JobTrace;
  readonly #ticking: NodeJS.Timeout;
  #tickedMs = performance.now();
  #isOver = false;
  #hasBegun = false;
  /** What stays in the job's folder when it is over. */
  #leftBehind: "all" | "frozen" | "nothing" = "all";
  #finish!: (result: JobResult) => void;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#placement = options.placement;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#lasting = options.jobFolder === "" ? options.folder : options.jobFolder;
    this.#bundlePlace = programsIn(this.#lasting);
    this.#journal = new JournalFile(this.#lasting, (message) => this.#journalTrouble(message));
    this.#core = this.#createCore();
    this.#trace = new JobTrace(options.trace, options.folder);
    this.#setups = new NodeSetups(options, {
      placement: this.#placement,
      bundle: this.#bundlePlace,
      traceFolder: this.#trace.folder,
      sameFiles: options.sendFiles ? null : offerProof(options.folder),
    });
    this.#files = this.#createFiles();
    this.#links = this.#createLinks();
    this.#nodes = this.#createNodes();
    this.#output = this.#createOutput();
    this.#input = new InputSource({
      stream: options.stdin,
      keeps: options.setOf !== null,
      send: (piece) => this.#nodes.send(0, { kind: "input", ...piece }),
    });
    const servers = {
      ...{ job: this.#setups.secret, host: options.host, lasting: this.#lasting },
      servers: options.checkpoints.servers,
    };
    this.#checkpointServers = new CheckpointServers(servers, {
      listen: (addresses) => this.#nodes.sendAll({ kind: "checkpoint-servers", addresses }),
      note: (message) => this.#report.note(message),
    });
    this.#freezing = this.#createFreezing();
    this.#spawning = this.#createSpawning();
    this.#recovery = this.#createRecovery();
    this.#faults = this.#createFaults();
    this.#listener = this.#createListener();
    this.#nodes.startAll();
    // The nodes' messages are read between the timer and the tick: whoever judges late must not judge by old news.
    this.#ticking = setInterval(() => setImmediate(() => this.#tick()), options.heartbeatMs);
    void this.#bundle();
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#core.tick(nowMs);
    // As the core does: whoever could not be heard while we were absent is forgiven.
    this.#recovery?.tick(nowMs, Math.min(nowMs - this.#tickedMs, 2 * this.#options.heartbeatMs));
    this.#tickedMs = nowMs;
  }

  get events(): JobEventQueue {
    return this.#report.events;
  }

  /** As a signal to the job: the first time it ends in order, then at once. */
  interrupt(signal: string, signalNumber: number): void {
    if (this.#core.outcome !== undefined) this.#output.giveUp();
    this.#core.interrupted(signal, signalNumber, performance.now());
  }

  /** Checkpoints of all sets, now. */
  checkpoint(): void {
    if (languageOf(this.#options.program) === "c" && this.#core.outcome === undefined) this.#recovery?.takeAll();
  }

  /** Every rank stops at its next MPI call; when all have, images of them are written and the job ends. */
  freeze(): void {
    const refusal = freezingRefusal(this.#options);
    if (refusal !== undefined) throw new Error(`Cannot freeze the job: ${refusal}`);
    if (this.#core.outcome === undefined) this.#freezing.begin();
  }

  #createCore(): Dispatcher {
    const { ranks, nodes, heartbeatMs, timeoutMs, protocol, setOf, keepSuspects } = this.#options;
    const options = {
      ranks,
      placement: this.#placement,
      nodes,
      heartbeatMs,
      ...patiencesOf(this.#options.patienceMs),
      timeoutMs,
      endPatienceMs,
      deaths: protocol.deaths,
      setOf: setOf ?? undefined,
      keepSuspects,
      calendarMs: Date.now(),
    };
    const ports = {
      record: (record: DispatcherRecord) => this.#journal.append(record),
      tell: (death: Death) => this.#nodes.sendTrusted({ kind: "death", ...death }),
      restart: (node: number, ranks: readonly number[]) => {
        this.#nodes.abandon(node);
        this.#recovery?.nodeFallen(node, ranks);
      },
      restartRanks: (_: number, ranks: readonly number[]) => this.#recovery?.fallen(ranks),
      disown: (node: number) => this.#nodes.disown(node),
      decided: (outcome: Outcome) => this.#decided(outcome),
      survived: (reason: Outcome["reason"], afterMs: number) => {
        if (this.#recovery === null) this.#report.failed(reason, afterMs);
        else this.#report.replaced(reason, afterMs);
      },
      work: (node: number) => this.#nodes.processOf(node).work(),
      end: (node: number) => this.#nodes.send(node, { kind: "end" }),
      kill: (node: number) => void this.#nodes.processOf(node).kill(),
      ended: (outcome: Outcome) => void this.#ended(outcome),
    };
    return new Dispatcher(options, ports, this.#report.startMs);
  }

  #createFiles(): FileHost {
    const { folder, jobFolder, thawFrom, checkpoints } = this.#options;
    const checkpointFolder = checkpoints.servers === 0 ? checkpointsIn(this.#lasting) : "";
    const placeOf = filePlaces({
      ...{ program: this.#lasting, spawned: folder, traces: this.#trace.folder },
      ...{ checkpoints: checkpointFolder, freezeTo: jobFolder, thawFrom },
    });
    // Images are read back before they count: those of checkpoints by recovery, those of frozen jobs by a thaw.
    return new FileHost({ placeOf, verify: () => Promise.resolve("") });
  }

  #createNodes(): JobNodes {
    const { folder, nodes, host, nodeCommand } = this.#options;
    const starter = new LocalStarter({ folder, command: nodeCommand });
    return new JobNodes(
      { job: this.#setups.secret, host, starter, nodes, placement: this.#placement, links: this.#links },
      {
        setupOf: (node, restarts) =>
          this.#setups.of(node, {
            ...(this.#recovery?.setup(node, restarts) ?? { recovery: null, protocolPart: undefined }),
            watches: this.#faults?.watchesOf(ranksOfNode(this.#placement, node)) ?? [],
          }),
        started: (node) => {
          this.#recovery?.nodeStarted(node);
          this.#faults?.nodeStarted(node);
        },
        heard: (node) => this.#core.heard(node),
        said: (node, message) => this.#listener.said(node, message),
        printed: (node, stream, bytes, done) => {
          const chunk = { stream, number: 0, offset: 0, bytes, flush: false };
          this.#output.accept({ kind: "node", node }, chunk, done);
        },
        ended: (node, loss) => {
          this.#core.nodeEnded(node, loss, performance.now());
          this.#spawning.nodeEnded(node);
        },
        livesOf: (ranks) => this.#recovery?.livesOf(ranks) ?? [],
        unable: (why) => this.#core.unusable(`Cannot start nodes: ${why}`, performance.now()),
        wantsFiles: (guest) => void this.#files.serve(guest),
      },
    );
  }

  /** Null: no link is to be slow. */
  #createLinks(): SlowLinks | null {
    const { faults, nodes, host } = this.#options;
    if (faults === null || !delaysLinks(faults)) return null;
    return new SlowLinks(nodes, (why) => this.#core.unusable(`Cannot delay links: ${why}`, performance.now()), host);
  }

  #createOutput(): JobOutput {
    const { stdout, stderr, label, ranks } = this.#options;
    return new JobOutput(
      { stdout, stderr, label, ranks },
      {
        shortNameOf: (rank) => this.#names.shortNameOf(rank),
        line: (event, bytes, done) => this.events.push(event, bytes, done),
        closed: () => this.#core.outputClosed(performance.now()),
        lost: (message) => this.#lost(message),
      },
    );
  }

  #createFreezing(): JobFreezing {
    const { jobFolder, program, displayName, args, ranks, nodes, nodeMap, memoryMb, folders, environment } =
      this.#options;
    const job = {
      ...{ program: displayName ?? program, args, ranks, nodes, memoryMb, folders, environment },
      // Those that may be spawned have not been.
      nodeMap: nodeMap.slice(0, ranks),
      ...{ protocol: this.#options.protocol.name, protocolOptions: this.#options.protocolOptions },
    };
    return new JobFreezing(
      { jobFolder, job },
      {
        hasSpawned: () => this.#names.worlds > 0,
        toNodes: (message) => this.#nodes.sendAll(message),
        note: (message) => this.#report.note(message),
      },
    );
  }

  #createSpawning(): Spawning {
    const { folder, program, displayName, folders } = this.#options;
    const module = this.#bundlePlace.wasm;
    const beside = folderOfProgram(displayName ?? program, displayName !== undefined);
    const options = { folder, program: displayName ?? program, module, placement: this.#placement, folders, beside };
    return new Spawning(options, {
      dispatcher: this.#core,
      isFreezing: () => this.#freezing.isUnderWay,
      send: (node, message) => this.#nodes.send(node, message),
      joined: (children) => this.#names.addWorld(children),
      compiled: (text) => this.#report.compiled(text),
    });
  }

  #createRecovery(): JobRecovery | null {
    const { setOf, checkpoints, program, host, nodes, memoryMb, patienceMs, protocol } = this.#options;
    if (setOf === null) return null;
    const createPart = jobParts[protocol.name];
    assert(createPart !== undefined, `protocol ${protocol.name} starts the lost again, and has no part for the job`);
    const partSetup = {
      ...{ options: this.#options.protocolOptions, setOf, nodes, memoryMb, host, language: languageOf(program) },
      job: this.#setups.secret,
      patience: patiencesOf(patienceMs),
    };
    const options = {
      ...{ setOf, placement: this.#placement, checkpointInterval: checkpoints.interval, checkpointPatienceMs },
      folder: checkpointsIn(this.#lasting),
      servers: checkpoints.servers,
      checkpointServers: () => this.#checkpointServers.addresses,
      createPart: (ports: JobPartHostPorts) => createPart(partSetup, ports),
    };
    return new JobRecovery(options, {
      record: (record) => this.#journal.append(record),
      toNode: (node, message) => this.#nodes.send(node, message),
      toNodes: (message) => this.#nodes.sendAll(message),
      replace: (node, restarts) => this.#nodes.replace(node, restarts),
      restartRanks: (node, restarts) => this.#restartRanks(node, restarts),
      unusable: (message) => this.#core.unusable(message, performance.now()),
      notReplaced: (node) => this.#core.nodeEnded(node, { kind: "exit", code: 0 }, performance.now()),
      isEnding: () => this.#core.outcome !== undefined,
      kill: (node) => void this.#nodes.processOf(node).kill(),
      verify: (paths) => verifyImages(paths),
      dropped: (set, number) => this.#checkpointServers.dropped(set, number),
      happened: (event) => this.#faults?.happened(event) ?? Promise.resolve(),
      oldest: (set, number) => {
        if (set === setOf[0]) this.#input.oldestIs(number);
      },
      committed: (times, callsPassed) => {
        this.#core.falls.committed(times.set, callsPassed);
        this.#report.committed(times);
      },
      recovered: (times) => {
        this.#report.recovered(times);
        // Not sooner: it would take the processors from those who replay.
        if (this.#core.outcome === undefined) this.#nodes.prepareSpare();
      },
      note: (message) => this.#report.note(message),
    });
  }

  #createFaults(): JobFaults | null {
    const { faults: plan, ranks, nodes, setOf } = this.#options;
    if (plan === null) return null;
    const placement = placementOf(this.#placement.slice(0, ranks));
    const options = { plan, seed: this.#setups.seed >>> 0, nodes, placement, setOf: setOf ?? [], living: this.#core };
    return new JobFaults(options, {
      node: (node) => this.#nodes.processOf(node),
      falls: (node) => this.#core.falls.excused(node),
      delayLink: (link, byMs) => this.#links?.delay(link, byMs),
      killService: (service) => this.#killService(service),
      note: (message) => this.#report.note(message),
    });
  }

  /** False: it is part of this process. */
  #killService(service: Service): boolean {
    if (service === "checkpoint-server") return this.#checkpointServers.kill();
    return this.#recovery?.kill(service) ?? false;
  }

  #createListener(): NodeListener {
    return new NodeListener(
      { ranks: this.#options.ranks, placement: this.#placement },
      {
        core: this.#core,
        nodes: this.#nodes,
        output: this.#output,
        input: this.#input,
        spawning: this.#spawning,
        freezing: this.#freezing,
        recovery: this.#recovery,
        faults: this.#faults,
        report: this.#report,
        names: this.#names,
        allBegan: () => this.#allBegan(),
      },
    );
  }

  async #bundle(): Promise<void> {
    const { program } = this.#options;
    const bundle = this.#bundlePlace;
    const outcome = await (languageOf(program) === "c" ? compileProgram : bundleProgram)({ program, bundle });
    // A job that was over sooner than its bundle has had its folder made again.
    if (this.#isOver) this.#removeFolders();
    this.#report.compiled(outcome.said);
    if (outcome.kind === "ready") this.#nodes.run(outcome);
    else this.#core.unusable(`Cannot run ${basename(program)}: ${outcome.why}`, performance.now());
  }

  #journalTrouble(message: string): void {
    if (this.#unsaid === null) this.#report.note(message);
    else this.#unsaid = message;
  }

  #allBegan(): void {
    const { ranks, nodes, freezeAtMs } = this.#options;
    this.#report.started({ ranks, nodes }, this.#nodes.pids);
    this.#hasBegun = true;
    if (this.#unsaid) this.#report.note(this.#unsaid);
    this.#unsaid = null;
    if (this.#recovery !== null) this.#nodes.prepareSpare();
    this.#recovery?.allBegan();
    this.#faults?.begin();
    if (freezeAtMs !== Number.POSITIVE_INFINITY) setTimeout(() => this.freeze(), freezeAtMs).unref();
  }

  /** The node lives on: some of its ranks begin their next life there. */
  #restartRanks(node: number, restarts: readonly RankRestart[]): void {
    const ranks = restarts.map(({ rank }) => rank);
    const setup = this.#recovery?.setup(node, restarts);
    if (setup === undefined) return;
    const watches = this.#faults?.watchesOf(ranks) ?? [];
    this.#nodes.send(node, { kind: "restart-ranks", ranks, ...setup, watches });
  }

  #decided({ reason, afterMs }: Outcome): void {
    if (reason.kind === "output-closed") this.#output.giveUp();
    if (reason.kind === "interrupted") this.#output.giveUpIn(outputAfterInterruptMsMax);
    this.#report.failed(reason, afterMs);
  }

  async #ended({ code: coreCode, reason }: Outcome): Promise<void> {
    clearInterval(this.#ticking);
    this.#faults?.end();
    this.#links?.end();
    await this.#recovery?.end();
    await this.#nodes.endOthers();
    await this.#checkpointServers.end();
    this.#freezing.end();
    this.#input.close();
    await this.#output.end();
    const problem = await this.#trace.write(this.#placement.length);
    if (problem !== "") this.#lost(problem);
    const code = coreCode || (problem !== "" || this.#output.isLost ? 1 : 0);
    this.#isOver = true;
    this.#journal.close();
    this.#leftBehind =
      reason.kind === "frozen" && code === 0 ? "frozen" : code === 0 || !this.#hasBegun ? "nothing" : "all";
    this.#removeFolders();
    const afterMs = this.#report.elapsedMs;
    this.#report.ended(code);
    const recovery = this.#recovery?.report ?? null;
    const protocol = { ranks: this.#listener.reports, job: this.#recovery?.protocolReport };
    const summary = this.#options.protocol.summary(protocol);
    this.#finish({ code, result: this.#listener.result, reason, afterMs, recovery, protocol, summary });
  }

  /** Something that the job was to leave behind is lost, perhaps when its ranks have finished. */
  #lost(message: string): void {
    if (this.#core.outcome === undefined) this.#core.unusable(message, performance.now());
    else this.#report.failed({ kind: "unusable", message }, this.#report.elapsedMs);
  }

  #removeFolders(): void {
    const { folder, jobFolder } = this.#options;
    rmSync(folder, { recursive: true, force: true });
    if (jobFolder === "" || this.#leftBehind === "all") return;
    try {
      removeEndedJob(jobFolder, { isFrozen: this.#leftBehind === "frozen" });
    } catch (error) {
      this.#report.note(`Cannot clear ${jobFolder}, the job's folder: ${describeSystemError(error)}`);
    }
  }
}

const delaysLinks = ({ entries }: FaultPlan): boolean =>
  entries.some((entry) => entry.kind === "fault" && entry.fault.kind === "delay");
