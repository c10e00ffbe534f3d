/**
 * One job: the host of the dispatcher's core. Starts the nodes, bundles the program while they start, carries messages
 * between nodes, core, output and input, and cleans up. Decides nothing itself.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { deserialize } from "node:v8";
import { unreachable } from "../../core/base/assert.ts";
import type { FaultPlan } from "../../core/fault/plan.ts";
import type { Interval } from "../../core/service/checkpoint-policy.ts";
import { type Death, type DeathPolicy, Dispatcher, type Outcome } from "../../core/service/dispatcher.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import {
  build,
  type Folder,
  type FromNode,
  type FromRankOnwards,
  type Life,
  type ProgramForm,
  type ProgramPlace,
  type RankRestart,
  type Setup,
  type Stream,
} from "../node/messages.ts";
import type { TraceFile } from "../trace/trace-merge.ts";
import { secretBytes } from "../transport/tcp/hello.ts";
import type { Address, TcpEvent } from "../transport/tcp/tcp-host.ts";
import { EventQueue } from "./event-queue.ts";
import { describeFailure, detailsOf, framesOf } from "./failure-text.ts";
import { Freezing } from "./freezing.ts";
import { InputSource } from "./input-source.ts";
import type { LineEvent } from "./job-event.ts";
import { emptyJobFolder, writeJob } from "./job-folder.ts";
import { LineMerge, type LineSink, type Lines, type Printer } from "./line-merge.ts";
import type { LoggingReport } from "./logging-report.ts";
import { NodeProcess } from "./node-process.ts";
import { PlannedFaults } from "./planned-faults.ts";
import { ProcessNames } from "./process-names.ts";
import { bundleProgram } from "./program-bundle.ts";
import { compileProgram, languageOf } from "./program-compile.ts";
import { Recovery } from "./recovery.ts";
import { Spawning } from "./spawning.ts";
import { type StreamSink, streamSink } from "./stream-sink.ts";
import { describeSystemError, isFull } from "./system-error.ts";
import { verifyImage } from "./verify-image.ts";

/** Everything decided; defaults live in `launch.ts` and in the command. */
export interface JobOptions {
  /** Of this job alone, and removed with it. */
  readonly folder: string;
  /** Absolute path. */
  readonly program: string;
  /** By which name the program knows itself, if not by its path: a thawed one had another. */
  readonly displayName?: string | undefined;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes: number;
  /** Of each rank, and of those that it may spawn. */
  readonly nodeOf: readonly number[];
  readonly protocol: string;
  readonly heapMb: number;
  readonly memoryMb: number;
  /** What a C program sees of the file system. */
  readonly folders: readonly Folder[];
  /** Node i listens for others on this port + i; 0 leaves it to the system. */
  readonly port: number;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  readonly patienceMs: number;
  /** How many ranks of a C program share a thread. */
  readonly ranksPerThread: number;
  /** The job stops this long after all ranks have begun, and images of them are written to `jobFolder`; Infinity: never. */
  readonly freezeAtMs: number;
  readonly jobFolder: string;
  /** Where the images are that the ranks go on from; empty: they begin at the beginning. */
  readonly thawFrom: string;
  /** Under message logging: correlated set of each rank; null otherwise. */
  readonly setOf: readonly number[] | null;
  /** Time between two checkpoints of a set. */
  readonly checkpointInterval: Interval;
  /** Under message logging: memory for each rank's payload log; 0: a quarter of the rank's. */
  readonly logMemoryMb: number;
  /** What is to go wrong; null: nothing. */
  readonly faults: FaultPlan | null;
  /** Nodes that are taken for dead are left alive. */
  readonly keepSuspects: boolean;
  readonly trace: TraceFile | undefined;
  readonly label: boolean;
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
}

/** How a job ended. */
export interface JobResult {
  /** 0, or the code of what ended the job. */
  readonly code: number;
  /** What rank 0 gave to `mpi.result`, if anything. */
  readonly result: unknown;
  readonly reason: Outcome["reason"];
  /** From the start until everything was gone. */
  readonly afterMs: number;
  /** Under message logging; null otherwise. */
  readonly logging: LoggingReport | null;
}

const startPatienceMs = 30_000;
/** A rank that makes no MPI call for so long keeps the others of its set from nothing but their work: the checkpoint is given up. */
const checkpointPatienceMs = 10_000;
/** A node that is at work and silent for so many times its patience hangs. */
const starvedPatiences = 20;
const endPatienceMs = 2_500;
/** Whoever interrupts a job does not want to wait for a reader that does not read. */
const outputAfterInterruptMsMax = 1_000;

export class Job {
  readonly events = new EventQueue();
  readonly done: Promise<JobResult>;
  readonly #options: JobOptions;
  /** Of every process that there can be: those that may be spawned too. */
  readonly #nodeOf: readonly number[];
  readonly #names = new ProcessNames();
  readonly #spawning: Spawning;
  /** Under message logging; null otherwise. */
  readonly #recovery: Recovery | null;
  readonly #faults: PlannedFaults | null;
  /** Taken for dead and left alive. */
  readonly #suspects = new Set<NodeProcess>();
  readonly #bundlePlace: ProgramPlace["bundle"];
  readonly #traceFolder: string;
  /** How the program is to be loaded; undefined until it has been compiled. */
  #form: ProgramForm | undefined;
  readonly #startMs = performance.now();
  readonly #folder: string;
  readonly #core: Dispatcher;
  /** What nodes of this job know each other by. */
  readonly #secret = { id: randomUUID(), secret: new Uint8Array(randomBytes(secretBytes)) };
  readonly #seed = randomBytes(4).readInt32LE();
  readonly #addresses: (Address | undefined)[] = [];
  /** Nodes that have taken the place of others, and are not ready yet. */
  readonly #restarting = new Set<number>();
  readonly #nodes: NodeProcess[] = [];
  readonly #streams: StreamSink[] = [];
  readonly #lines: LineMerge;
  readonly #input: InputSource;
  readonly #ticking: NodeJS.Timeout;
  #result: unknown;
  readonly #ranksStarted = new Set<number>();
  #freezing: Freezing | undefined;
  #isOver = false;
  #isOutputLost = false;
  #finish!: (result: JobResult) => void;
  #stopWaitingForOutput!: () => void;
  readonly #outputIsHopeless = new Promise<void>((resolve) => {
    this.#stopWaitingForOutput = resolve;
  });

  constructor(options: JobOptions) {
    this.#options = options;
    this.#nodeOf = options.nodeOf;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#folder = options.folder;
    this.#core = this.#createCore();
    this.#lines = new LineMerge(this.#createSink());
    this.#input = new InputSource({
      stream: options.stdin,
      keeps: options.setOf !== null,
      send: (piece) => this.#nodes[0]?.send({ kind: "input", ...piece }),
    });
    const file = (name: string) => join(this.#folder, name);
    this.#bundlePlace = { script: file("program.cjs"), module: file("program.mjs"), wasm: file("program.wasm") };
    this.#spawning = this.#createSpawning(this.#bundlePlace.wasm);
    this.#recovery = this.#createRecovery();
    this.#faults = this.#createFaults();
    this.#traceFolder = this.#createTraceFolder();
    for (let node = 0; node < options.nodes; node++) this.#startNode(node, []);
    // The nodes' messages are read between the timer and the tick: whoever judges late must not judge by old news.
    this.#ticking = setInterval(() => setImmediate(() => this.#core.tick(performance.now())), options.heartbeatMs);
    void this.#bundle();
  }

  /** As a signal to the job: the first time it ends in order, then at once. */
  interrupt(signal: string, signalNumber: number): void {
    if (this.#core.outcome !== undefined) this.#stopWaitingForOutput();
    this.#core.interrupted(signal, signalNumber, performance.now());
  }

  #createCore(): Dispatcher {
    const { ranks, nodes, heartbeatMs, patienceMs, timeoutMs, protocol, setOf, keepSuspects } = this.#options;
    const options = {
      ranks,
      nodeOf: this.#nodeOf,
      nodes,
      heartbeatMs,
      patienceMs,
      starvedPatienceMs: starvedPatiences * patienceMs,
      timeoutMs,
      startPatienceMs,
      endPatienceMs,
      deaths: deathsUnder(protocol),
      setOf: setOf ?? undefined,
      keepSuspects,
    };
    const ports = {
      tell: (death: Death) => {
        for (const node of this.#nodes) if (!this.#suspects.has(node)) node.send({ kind: "death", ...death });
      },
      restart: (node: number, ranks: readonly number[]) => this.#restart(node, ranks),
      restartRanks: (node: number, ranks: readonly number[]) => this.#restartRanks(node, ranks),
      disown: (node: number) => void this.#suspects.add(this.#nodes[node]!),
      decided: ({ reason, afterMs }: Outcome) => this.#decided(reason, afterMs),
      survived: (reason: Outcome["reason"], afterMs: number) => this.#survived(reason, afterMs),
      work: (node: number) => this.#nodes[node]?.work() ?? 0,
      end: (node: number) => this.#nodes[node]?.send({ kind: "end" }),
      kill: (node: number) => void this.#nodes[node]?.kill(),
      ended: (outcome: Outcome) => void this.#ended(outcome),
    };
    return new Dispatcher(options, ports, this.#startMs);
  }

  #createSpawning(module: string): Spawning {
    const { program, displayName, folders } = this.#options;
    const options = { folder: this.#folder, program: displayName ?? program, module, nodeOf: this.#nodeOf, folders };
    return new Spawning(options, {
      admit: (count) => this.#core.admit(count),
      withdraw: (admitted) => this.#core.withdraw(admitted),
      spares: () => this.#core.spares,
      isFreezing: () => this.#freezing !== undefined,
      send: (node, message) => this.#nodes[node]?.send(message),
      joined: (children) => this.#names.addWorld(children),
      compiled: (text) => this.events.push({ kind: "compiler", text }),
    });
  }

  #createRecovery(): Recovery | null {
    const { setOf, checkpointInterval, program } = this.#options;
    if (setOf === null) return null;
    const options = {
      ...{ setOf, checkpointInterval, checkpointPatienceMs, logBytesMax: this.#logBytesMax() },
      folder: join(this.#folder, "checkpoints"),
      spillFolder: join(this.#folder, "spilled"),
      isTypeScript: languageOf(program) === "typescript",
    };
    return new Recovery(options, {
      toSet: (set, message) => this.#nodes[this.#nodeOf[setOf.indexOf(set)]!]!.send(message),
      verify: (path) => verifyImage(path),
      happened: (event) => this.#faults?.happened(event) ?? Promise.resolve(),
      progressed: (set) => this.#core.caughtUp(this.#nodeOf[setOf.indexOf(set)]!),
      note: (message) => this.#note(message),
      oldest: (set, number) => {
        if (set === setOf[0]) this.#input.oldestIs(number);
      },
      committed: (times) => this.events.push({ kind: "checkpoint", ...times, afterMs: this.#elapsedMs() }),
      recovered: (times) => this.events.push({ kind: "recovered", ...times, afterMs: this.#elapsedMs() }),
    });
  }

  /** A quarter of the rank's memory, unless given: a C program's own, in TypeScript its share of the node's. */
  #logBytesMax(): number {
    const { logMemoryMb, memoryMb, ranks, nodes, program } = this.#options;
    const share = languageOf(program) === "c" ? memoryMb : memoryMb / Math.ceil(ranks / nodes);
    return Math.floor((logMemoryMb === 0 ? share / 4 : logMemoryMb) * 2 ** 20);
  }

  #createFaults(): PlannedFaults | null {
    const { faults: plan, ranks, nodes, setOf } = this.#options;
    if (plan === null) return null;
    const nodeOf = this.#nodeOf.slice(0, ranks);
    const options = { plan, seed: this.#seed >>> 0, nodes, nodeOf, setOf: setOf ?? [], living: this.#core };
    return new PlannedFaults(options, {
      node: (node) => this.#nodes[node]!,
      falls: (node) => this.#core.caughtUp(node),
      note: (message) => this.#note(message),
    });
  }

  /** The folder for the ranks' traces; empty when there is no trace. */
  #createTraceFolder(): string {
    if (this.#options.trace === undefined) return "";
    const folder = join(this.#folder, "trace");
    mkdirSync(folder);
    return folder;
  }

  /** The first of that number, or one in the place of another that is gone. */
  #startNode(node: number, restarts: readonly RankRestart[]): void {
    // What an old one still says does not count: the new one says it again.
    const isPresent = (): boolean => this.#nodes[node] === started;
    const started = new NodeProcess(this.#folder, this.#setupOf(node, restarts), {
      said: (message) => {
        if (!isPresent()) return;
        this.#core.heard(node);
        this.#handle(node, message);
      },
      printed: (stream, bytes, done) => {
        const chunk = { stream, number: 0, offset: 0, bytes, flush: false };
        if (isPresent()) this.#lines.accept({ kind: "node", node }, chunk, done);
        else done();
      },
      ended: (loss) => {
        if (!isPresent()) return;
        this.#core.nodeEnded(node, loss, performance.now());
        this.#spawning.nodeEnded(node);
      },
    });
    this.#nodes[node] = started;
    this.#faults?.nodeStarted(node);
    if (this.#form !== undefined) started.send({ kind: "run", form: this.#form });
  }

  #setupOf(node: number, restarts: readonly RankRestart[]): Setup {
    const { protocol, heartbeatMs, heapMb, memoryMb, port, program, args, displayName } = this.#options;
    return {
      kind: "setup",
      node,
      ranks: this.#options.ranks,
      nodeOf: this.#nodeOf,
      protocol,
      seed: this.#seed,
      program: { path: displayName ?? program, bundle: this.#bundlePlace, args, language: languageOf(program) },
      heartbeatMs,
      heapMb,
      memoryMb,
      folders: this.#options.folders,
      freezeTo: this.#options.jobFolder,
      thawFrom: this.#options.thawFrom,
      ranksPerThread: this.#options.ranksPerThread,
      traceFolder: this.#traceFolder,
      port: port === 0 ? 0 : port + node,
      job: this.#secret,
      logging: this.#recovery?.setup(restarts) ?? null,
      watches: this.#faults?.watchesOf(ranksOfNode(this.#nodeOf, node)) ?? [],
    };
  }

  /** The node is gone: another takes its place, and its ranks begin their next life there. */
  #restart(node: number, ranks: readonly number[]): void {
    this.#restarting.add(node);
    this.#startNode(node, this.#recovery!.nodeFallen(this.#setsOf(ranks)));
  }

  /** The node lives on: some of its ranks begin their next life there. */
  #restartRanks(node: number, ranks: readonly number[]): void {
    const logging = this.#recovery!.setup(this.#recovery!.fallen(this.#setsOf(ranks)));
    const watches = this.#faults?.watchesOf(ranks) ?? [];
    this.#nodes[node]!.send({ kind: "restart-ranks", ranks, logging, watches });
  }

  #setsOf(ranks: readonly number[]): number[] {
    const { setOf } = this.#options;
    return [...new Set(ranks.map((rank) => setOf![rank]!))];
  }

  async #bundle(): Promise<void> {
    const { program } = this.#options;
    const bundle = this.#bundlePlace;
    const outcome = await (languageOf(program) === "c" ? compileProgram : bundleProgram)({ program, bundle });
    // A job that was over sooner than its bundle has had its folder made again.
    if (this.#isOver) this.#removeFolder();
    if (outcome.said !== undefined && outcome.said !== "") this.events.push({ kind: "compiler", text: outcome.said });
    if (outcome.kind === "ready") {
      this.#form = outcome.form;
      for (const node of this.#nodes) node.send({ kind: "run", form: outcome.form });
    } else this.#unusable(`Cannot run ${basename(program)}: ${outcome.why}`);
  }

  #unusable(message: string): void {
    this.#core.unusable(message, performance.now());
  }

  #handle(node: number, message: FromNode): void {
    switch (message.kind) {
      case "ready":
        if (message.build !== build)
          this.#unusable(`Cannot use node ${node}: it is Banyan ${message.build}, this is ${build}; build again`);
        else this.#nodeReady(node, message.address);
        break;
      case "unable":
        this.#unusable(`Cannot use node ${node}: ${message.why}`);
        break;
      case "connections":
        this.#connectionNews(message.event);
        break;
      case "heartbeat":
      case "bye":
        break;
      case "ranks-ready":
        this.#spawning.ready(node, message.order, message.problem);
        break;
      case "rank-started":
        this.#rankStarted(message.rank);
        break;
      case "output": {
        const bytes = message.chunk.bytes.length;
        this.#lines.accept({ kind: "rank", rank: message.rank }, message.chunk, () =>
          this.#nodes[node]?.send({ kind: "written", bytes }),
        );
        break;
      }
      case "rank-ended":
        if (message.ending.kind === "returned") {
          this.events.push({ kind: "rank-ended", rank: message.rank, node, afterMs: this.#elapsedMs() });
        }
        if (message.ending.kind === "returned") this.#rankFinished(message.rank);
        this.#core.rankEnded(message.rank, message.incarnation, message.ending, performance.now());
        this.#faults?.rankEnded(message.rank);
        break;
      case "ranks-returned":
        this.#announce(message.ranks, this.#addresses[node] ?? null, this.#nodes);
        break;
      case "determinants":
        this.#recovery?.determinants(message.set, message.incarnation, message.from, message.part);
        break;
      case "from-rank":
        this.#handleRank(message);
        break;
      default:
        unreachable(message);
    }
  }

  /** When the last node listens, all of them are told where the others are; later, where one is that has taken a place. */
  #nodeReady(node: number, address: Address | null): void {
    const isRestarted = this.#restarting.delete(node);
    if (isRestarted) this.#returned(node, address);
    if (address === null) return;
    this.#addresses[node] = address;
    if (this.#addresses.filter((known) => known !== undefined).length < this.#options.nodes) return;
    const addresses = this.#nodeOf.map((of) => this.#addresses[of]!);
    for (const other of isRestarted ? [this.#nodes[node]!] : this.#nodes) other.send({ kind: "contacts", addresses });
  }

  /** The new lives of a node's ranks are there: everybody else hears of them. */
  #returned(node: number, address: Address | null): void {
    const { incarnations } = this.#recovery!;
    const lives = ranksOfNode(this.#nodeOf, node).map((rank) => ({ rank, incarnation: incarnations[rank]! }));
    const others = this.#nodes.filter((_, other) => other !== node);
    this.#announce(lives, address, others);
  }

  #announce(ranks: readonly Life[], address: Address | null, to: readonly NodeProcess[]): void {
    for (const node of to) node.send({ kind: "returned", ranks, address });
  }

  /** Its program is over. For the fault plan: the job may go on. */
  #rankFinished(rank: number): void {
    if (rank < this.#options.ranks) void this.#faults?.happened({ kind: "finished", rank });
  }

  #connectionNews(event: TcpEvent): void {
    switch (event.kind) {
      case "stranger":
        // Dropped at the door; whoever knocks at a port of this machine is not the job's business.
        break;
      case "unreachable": {
        const { from, to, forMs, reason } = event;
        const message = `Cannot connect ${this.#names.nameOf(from)} to ${this.#names.nameOf(to)} for ${(forMs / 1000).toFixed(0)} s now: ${reason}; still trying`;
        this.events.push({ kind: "note", message });
        break;
      }
      case "bad-frame": {
        const { from, to, reason } = event;
        this.#unusable(
          `Cannot go on: what came over the connection of ${this.#names.nameOf(from)} and ${this.#names.nameOf(to)} is not a packet: ${reason}`,
        );
        break;
      }
      default:
        unreachable(event);
    }
  }

  #handleRank({ rank, message }: FromRankOnwards): void {
    switch (message.kind) {
      case "abort":
        this.#core.aborted(rank, message.code, message.message, performance.now());
        break;
      case "result":
        if (rank === 0) this.#result = deserialize(message.value);
        break;
      case "spawn":
        void this.#spawning.asked(rank, message.request);
        break;
      case "input-wanted":
        this.#input.want(message.offset);
        break;
      case "stopped":
        this.#freezing?.stopped(rank);
        break;
      case "image":
        if (message.number === 0) this.#freezing?.image(rank, message.problem);
        else {
          if (rank === 0) this.#input.captured(message.number, message.inputOffset);
          this.#recovery?.image(rank, message);
        }
        break;
      case "captured":
        this.#recovery?.captured(rank, message);
        break;
      case "stands-still":
        this.#faults?.standsStill(rank, message.call);
        break;
      case "done":
        this.#rankFinished(rank);
        this.#recovery?.done(rank, message);
        this.#core.rankDone(rank, message.incarnation, performance.now());
        break;
      case "log-full":
        this.#recovery?.logFull(message.sets);
        break;
      case "checkpoint-wanted":
        this.#recovery?.wanted(rank, message.incarnation);
        break;
      case "caught-up":
        this.#recovery?.caughtUp(rank, message.incarnation);
        this.#core.caughtUp(this.#nodeOf[rank]!);
        break;
      case "image-unreadable":
        this.#note(`rank ${rank} cannot go on from checkpoint ${message.checkpoint}: ${message.problem}`);
        this.#recovery?.unreadable(rank, message.checkpoint);
        this.#nodes[this.#nodeOf[rank]!]!.kill();
        break;
      default:
        unreachable(message);
    }
  }

  #rankStarted(rank: number): void {
    const { ranks, nodes } = this.#options;
    if (rank < ranks) this.#recovery?.began(rank);
    // Neither spawned ones nor second lives count.
    if (rank >= ranks || this.#ranksStarted.has(rank)) return;
    this.#ranksStarted.add(rank);
    if (this.#ranksStarted.size !== ranks) return;
    const pids = this.#nodes.map((node) => node.pid ?? 0);
    this.events.push({ kind: "started", ranks, nodes, pids, afterMs: this.#elapsedMs() });
    this.#recovery?.begin();
    this.#faults?.begin();
    const { freezeAtMs } = this.#options;
    if (freezeAtMs !== Number.POSITIVE_INFINITY) setTimeout(() => this.freeze(), freezeAtMs).unref();
  }

  /** Checkpoints of all sets, now. */
  checkpoint(): void {
    if (languageOf(this.#options.program) === "c" && this.#core.outcome === undefined) this.#recovery?.checkpointAll();
  }

  /** Every rank stops at its next MPI call; when all have, images of them are written and the job ends. */
  freeze(): void {
    if (this.#options.jobFolder === "") throw new Error("Cannot freeze the job: it was launched without a jobFolder");
    if (this.#core.outcome !== undefined || this.#freezing !== undefined) return;
    if (this.#names.worlds > 0) {
      this.#note("the job cannot be frozen and goes on: it has spawned processes, of which there are no images");
      return;
    }
    const written = (problem: string) => this.#imagesWritten(problem);
    this.#freezing = new Freezing(this.#options.ranks, { note: (message) => this.#note(message), written });
    for (const node of this.#nodes) node.send({ kind: "freeze" });
  }

  /** The ranks end when everything is in the folder; otherwise they go on, and nothing is lost. */
  #imagesWritten(problem: string): void {
    const { jobFolder } = this.#options;
    const obstacle = problem === "" ? this.#writeJob() : problem;
    if (obstacle !== "") {
      this.#note(`the job could not be frozen and goes on: ${obstacle}`);
      emptyJobFolder(jobFolder);
      this.#freezing = undefined;
    }
    for (const node of this.#nodes) node.send({ kind: "frozen", isGood: obstacle === "" });
  }

  #note(message: string): void {
    this.events.push({ kind: "note", message });
  }

  /** A failure that the job outlives. */
  #survived(reason: Outcome["reason"], afterMs: number): void {
    if (this.#recovery === null || (reason.kind !== "node-failed" && reason.kind !== "rank-failed")) {
      this.#decided(reason, afterMs);
      return;
    }
    const { node } = reason;
    const message = `${describeFailure(reason, afterMs, this.#names)}; it is started again`;
    if (reason.kind === "node-failed") {
      this.events.push({ kind: "node-lost", node, ranks: reason.ranks, message, afterMs });
    } else this.events.push({ kind: "rank-lost", rank: reason.rank, node, message, afterMs });
  }

  #decided(reason: Outcome["reason"], afterMs: number): void {
    if (reason.kind === "finished" || reason.kind === "frozen") return;
    if (reason.kind === "output-closed") this.#stopWaitingForOutput();
    if (reason.kind === "interrupted") setTimeout(this.#stopWaitingForOutput, outputAfterInterruptMsMax).unref();
    this.events.push({
      kind: "failed",
      reason,
      message: describeFailure(reason, afterMs, this.#names),
      details: detailsOf(reason),
      frames: framesOf(reason),
      afterMs,
    });
  }

  async #ended({ code: coreCode, reason }: Outcome): Promise<void> {
    clearInterval(this.#ticking);
    this.#recovery?.end();
    this.#faults?.end();
    for (const suspect of this.#suspects) suspect.kill();
    await Promise.all([...this.#suspects].map((suspect) => suspect.gone));
    this.#freezing?.end();
    this.#input.close();
    this.#lines.finishAll();
    await Promise.race([this.#lines.whenIdle(), this.#outputIsHopeless]);
    for (const stream of this.#streams) stream.release();
    const traceCode = await this.#writeTrace();
    const code = coreCode || traceCode || (this.#isOutputLost ? 1 : 0);
    this.#isOver = true;
    this.#removeFolder();
    const afterMs = this.#elapsedMs();
    this.events.push({ kind: "ended", code, afterMs });
    this.events.end();
    this.#finish({ code, result: this.#result, reason, afterMs, logging: this.#recovery?.report ?? null });
  }

  #removeFolder(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** 0, or the exit code that stands for a trace that could not be written. */
  async #writeTrace(): Promise<number> {
    const { trace } = this.#options;
    if (trace === undefined) return 0;
    try {
      await trace.merge({ folder: join(this.#folder, "trace"), ranks: this.#nodeOf.length });
      return 0;
    } catch (error) {
      const message = `Cannot write the trace to ${trace.path}: ${describeSystemError(error)}; the trace is incomplete`;
      this.#decided({ kind: "unusable", message }, this.#elapsedMs());
      return 1;
    }
  }

  /** What stands in the way; empty: nothing. */
  #writeJob(): string {
    const { jobFolder, program, args, ranks, nodes, memoryMb, folders, displayName } = this.#options;
    try {
      const job = { program: displayName ?? program, args, ranks, nodes, memoryMb, folders };
      writeJob(jobFolder, join(this.#folder, "program.wasm"), job);
      return "";
    } catch (error) {
      return `Cannot write to ${jobFolder}: ${describeSystemError(error)}`;
    }
  }

  #elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  #createSink(): LineSink {
    const { stdout, stderr, label, ranks } = this.#options;
    const width = String(ranks - 1).length;
    const labelOf = (printer: Printer): string =>
      printer.kind === "rank"
        ? `[${this.#names.shortNameOf(printer.rank).padStart(width)}] `
        : `[node ${printer.node}] `;
    const sinkOf = (stream: Writable | undefined, name: string): LineSink => {
      if (stream === undefined) return (lines, done) => this.#toEvents(lines, done);
      const sink = streamSink(stream, {
        labelOf: label ? labelOf : undefined,
        failed: (error) => this.#outputFailed(name, error),
      });
      this.#streams.push(sink);
      return sink.write;
    };
    const sinks: Record<Stream, LineSink> = {
      stdout: sinkOf(stdout, "standard output"),
      stderr: sinkOf(stderr, "standard error"),
    };
    return (lines, done) => sinks[lines.stream](lines, done);
  }

  /** A pipe that nobody reads any more is somebody's decision; a full disk is not, also when the ranks have finished. */
  #outputFailed(name: string, error: Error): void {
    if (!isFull(error)) this.#core.outputClosed(performance.now());
    else if (!this.#isOutputLost) {
      this.#isOutputLost = true;
      this.#stopWaitingForOutput();
      const message = `Cannot write to ${name}: ${describeSystemError(error)}; what the ranks print is lost`;
      if (this.#core.outcome === undefined) this.#unusable(message);
      else this.#decided({ kind: "unusable", message }, this.#elapsedMs());
    }
  }

  #toEvents({ printer, stream, number, bytes }: Lines, done: () => void): void {
    const rank = printer.kind === "rank" ? printer.rank : null;
    const texts = bytes.toString().split("\n");
    const unfinished = texts.pop()!;
    const events = texts.map(
      (text, i) => ({ kind: "line", rank, stream, number: number + i, text, ended: true }) as LineEvent,
    );
    if (unfinished !== "")
      events.push({ kind: "line", rank, stream, number: number + texts.length, text: unfinished, ended: false });
    for (const event of events)
      this.events.push(event, event.text.length + 1, event === events.at(-1) ? done : undefined);
  }
}

/** What a death means under that protocol. */
function deathsUnder(protocol: string): DeathPolicy {
  if (protocol === "none") return "fatal";
  return protocol === "logging" ? "replaced" : "survived";
}
