/**
 * The node, when it has been set up: an operating-system process that hosts ranks as threads. Its main thread starts and watches
 * the threads, carries their output, and gives signs of life; it does nothing that takes long.
 */
import { unreachable } from "../../core/base/assert.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import type { FileService } from "../file-service/client.ts";
import { onBell, onQuietBell } from "../machine/bell.ts";
import { shortageOf } from "../machine/memory-shortage.ts";
import type { RankRestart } from "../messages/lives.ts";
import {
  build,
  type FromNode,
  type NewRank,
  type RecoverySetup,
  type RestartRanks,
  type Run,
  type Setup,
  type StartRanks,
  type ToNode,
} from "../messages/node-messages.ts";
import { bellOf, quietBellOf } from "../messages/node-words.ts";
import type { RankImage } from "../messages/rank-messages.ts";
import { OutputRelay } from "../output/output-relay.ts";
import type { NodePart } from "../part-hosts/node-part.ts";
import { nodeParts } from "../protocol-parts/node-parts.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import { Stop } from "../transport/layout.ts";
import { Handover } from "../transport/tcp/handover.ts";
import { TcpHost } from "../transport/tcp/tcp-host.ts";
import { AgentMemory } from "./agent-memory.ts";
import { JobFiles } from "./job-files.ts";
import { NodeImages } from "./node-images.ts";
import { NodeLives } from "./node-lives.ts";
import { type RankEvents, RankThreads, type StartingRank } from "./rank-threads.ts";

/** Rings and boards need little; a C program's buffers are in its own memory. */
const cNodeMemoryMb = 256;
/** Threads that have not stopped by then are stuck in native code, and only the end of the process stops them. */
const terminateMsMax = 1000;

export interface AgentOptions {
  /** The secret by which processes of the job know each other. */
  readonly job: JobSecret;
  /** Where other nodes can reach this one. */
  readonly host: string;
  /** Of this node alone; removed by its maker. */
  readonly folder: string;
  /** The dispatcher's host of files. */
  readonly dispatcher: FileService;
  send(message: FromNode): void;
  /** The dispatcher is slow to read, or stopped: something waits for it. */
  isSaying(): boolean;
  /** Everything was said: the process shall end, in order or with all programs that its ranks have started. */
  leave(how: "in order" | "with everything"): void;
}

export class Agent {
  readonly #setup: Setup;
  readonly #options: AgentOptions;
  readonly #files: JobFiles;
  readonly #memory: AgentMemory;
  /** Connections to other nodes; null in a job of one node. */
  readonly #tcp: TcpHost | null;
  readonly #threads: RankThreads;
  readonly #relay: OutputRelay;
  /** Where the lost are started again; null otherwise. */
  readonly #lives: NodeLives | null;
  readonly #images: NodeImages | null;
  /** Of the job's protocol; null: it has none in nodes. */
  readonly #part: NodePart | null;
  /** Ranks whose next life has not begun yet, and those of them that the fault plan has killed meanwhile. */
  readonly #returning = new Set<number>();
  readonly #doomed = new Set<number>();
  #leaving = false;

  /** Throws a `RangeError` where its memory cannot be had. */
  constructor(given: Setup, options: AgentOptions) {
    const { folder, dispatcher } = options;
    this.#files = new JobFiles(given, { folder, dispatcher, troubled: (why) => this.#send({ kind: "unable", why }) });
    const setup = this.#files.localSetup(given);
    this.#setup = setup;
    this.#options = options;
    this.#relay = new OutputRelay((output) => this.#send(output));
    const isC = setup.program.language === "c";
    process.title = `banyan-node ${setup.node}`;
    const { node, ranks, placement, memoryMb, port } = setup;
    const { job, host: address } = options;
    const ranksHere = ranksOfNode(placement, node);
    const [first, unborn] = [ranksHere.filter((rank) => rank < ranks), ranksHere.filter((rank) => rank >= ranks)];
    this.#threads = this.#createThreads(first);
    this.#tcp =
      ranksHere.length === placement.length
        ? null
        : new TcpHost({
            ...{ job, ranks: placement.length, ranksHere, unborn, address, port },
            ...(setup.recovery === null ? {} : { incarnations: setup.recovery.incarnations }),
            ring: (place) => this.#memory.ring(place),
            report: (event) => this.#send({ kind: "connections", event }),
          });
    const bells = this.#tcp === null ? null : new Handover(this.#tcp.handover);
    this.#memory = new AgentMemory({
      node,
      ranks,
      placement,
      memoryMb: isC ? cNodeMemoryMb : memoryMb,
      wakeElsewhere: (place) => bells?.wake(place),
    });
    const { recovery } = setup;
    const images = recovery === null ? null : this.#createImages(recovery);
    this.#images = images;
    this.#lives = recovery === null ? null : new NodeLives(recovery, (restart) => images?.folderOf(restart) ?? "");
    this.#part = this.#createPart(first);
    setInterval(() => this.#beat(), setup.heartbeatMs);
    const { program, folders } = setup;
    const { shared } = this.#memory;
    const starting = first.map((rank) => ({ rank, program, folders, origin: null, memory: shared }));
    this.#startFirst(starting);
    const { words } = this.#threads;
    const part = this.#part;
    if (part !== null) void onQuietBell(quietBellOf(words), () => part.relay());
    void onBell(bellOf(words), () => {
      part?.relay();
      this.#relay.relay();
    });
    void this.#getReady();
  }

  #createThreads(first: readonly number[]): RankThreads {
    return new RankThreads(this.#setup, first, {
      run: this.#options.job.id,
      placeOf: (rank) => this.#memory.placeOf(rank),
      incarnationOf: (rank) => this.#incarnationOf(rank),
      lives: () => this.#lives,
      partOf: (rank) => this.#part?.forRank(rank),
      handover: () => this.#tcp?.handover ?? null,
      eventsOf: (rank) => this.#eventsOf(rank),
      started: (thread) => this.#relay.add(thread.rank, thread.lines),
    });
  }

  #createImages({ setOf, checkpointFolder: folder, checkpointServers: servers }: RecoverySetup): NodeImages {
    return new NodeImages({ setOf, folder, servers, dispatcher: this.#files.service, job: this.#options.job });
  }

  #createPart(ranks: readonly number[]): NodePart | null {
    const { protocol, protocolPart: part, placement, recovery } = this.#setup;
    const { job, folder } = this.#options;
    const setOf = recovery?.setOf ?? placement.map(() => 0);
    const create = nodeParts[protocol];
    return create?.({ part, setOf, ranks, job, folder, incarnationOf: (rank) => this.#incarnationOf(rank) }) ?? null;
  }

  async #getReady(): Promise<void> {
    const listening = await this.#tcp?.listen();
    if (listening?.ok === false) this.#send({ kind: "unable", why: listening.reason });
    else {
      const address = listening === undefined ? null : { host: this.#options.host, port: listening.port };
      this.#send({ kind: "ready", build, address });
    }
  }

  handle(message: ToNode): void {
    switch (message.kind) {
      case "setup":
        throw new Error("Banyan is wrong here: a node is set up once. Please report it.");
      case "contacts":
        this.#tcp?.setAddressBook(message.addresses);
        break;
      case "run":
        this.#run(message);
        break;
      case "start-ranks":
        this.#startRanks(message);
        break;
      case "end-ranks":
        for (const rank of message.ranks) void this.#threads.get(rank)?.terminate();
        break;
      case "spawn-answer":
        this.#threads.get(message.rank)?.post(message);
        this.#memory.ring(this.#memory.placeOf(message.rank));
        break;
      case "written":
        this.#relay.written(message.bytes);
        break;
      case "input":
        this.#threads.get(0)?.post(message);
        this.#memory.ring(this.#memory.placeOf(0));
        break;
      case "death":
        this.#memory.death(message);
        if (!this.#memory.has(message.rank)) this.#tcp?.peerFailed(message.rank);
        break;
      case "returned":
        // Connections first: a rank that hears of a new life may talk to it at once.
        for (const { rank, incarnation } of message.ranks) {
          this.#tcp?.peerReturned(rank, incarnation);
          this.#lives?.returned({ rank, incarnation });
        }
        for (const life of message.ranks) this.#memory.returned(life);
        break;
      case "freeze":
        for (const rank of this.#threads.ranks) this.#memory.stop(rank, Stop.STOP);
        break;
      case "frozen":
        for (const rank of this.#threads.ranks) this.#memory.stop(rank, message.isGood ? Stop.END : Stop.NO);
        break;
      case "protocol":
        this.#part?.said(message.words);
        break;
      case "checkpoint":
        this.#images!.prepare(message.set, message.number);
        for (const rank of message.members) this.#memory.stopFor(rank, message.number, message.kept);
        break;
      case "checkpoint-servers":
        this.#images?.serversAre(message.addresses);
        break;
      case "go-on":
        for (const rank of message.members) this.#memory.stop(rank, Stop.NO);
        break;
      case "oldest":
        this.#part?.trim(message.set, message.position);
        this.#images!.committed(message.set);
        this.#memory.oldest(message.set, message.number);
        break;
      case "restart-ranks":
        void this.#restartRanks(message);
        break;
      case "kill-ranks":
        for (const rank of message.ranks) {
          if (this.#returning.has(rank)) this.#doomed.add(rank);
          else void this.#threads.get(rank)?.terminate();
        }
        break;
      case "go-on-after":
        this.#threads.get(message.rank)?.post(message);
        this.#memory.ring(this.#memory.placeOf(message.rank));
        break;
      case "links":
        if (message.areCut) this.#tcp?.cut(message.ranks);
        else this.#tcp?.restore(message.ranks);
        break;
      case "end":
        void this.#leave();
        break;
      default:
        unreachable(message);
    }
  }

  /** Opens the gate when the program is here. */
  #run({ form, packages }: Run): void {
    const missing = this.#files.missingPackage(packages);
    const arriving =
      missing === undefined ? this.#files.bringProgram(this.#setup.program, form) : Promise.resolve(missing);
    const open = (problem: string): void => {
      if (problem === "") void this.#threads.letRun(form);
      else this.#send({ kind: "unable", why: problem });
    };
    if (arriving === null) open("");
    else void arriving.then(open);
  }

  /** Ranks that the job did not start with, when their programs are here. */
  #startRanks({ order, ranks: given }: StartRanks): void {
    const ranks = given.map((rank) => ({ ...rank, program: this.#files.localProgram(rank.program) }));
    const arriving = ranks.map(({ program }) => this.#files.bringProgram(program, "wasm"));
    const start = (problems: readonly (string | null)[]): void => {
      const problem = problems.find((it) => it !== null && it !== "") ?? this.#startNow(ranks);
      this.#send({ kind: "ranks-ready", order, problem });
    };
    if (arriving.every((it) => it === null)) start([]);
    else void Promise.all(arriving).then(start);
  }

  /** Empty, or why they cannot be; then none of them is there. */
  #startNow(ranks: readonly NewRank[]): string {
    const newcomers = tryTo(() => this.#threads.makeRoom(ranks.map(({ rank }) => rank)));
    if (newcomers === undefined) return shortageOf(`their ${this.#setup.memoryMb} MB of memory each`);
    // Before anybody can hear of them: whoever does looks for their memories.
    for (const thread of this.#threads.all) thread.post({ kind: "neighbours", neighbours: newcomers });
    for (const { rank } of ranks) this.#tcp?.rankBorn(rank);
    const memory = this.#memory.sharedBy(ranks[0]!.origin.world);
    this.#startThreads(ranks.map((rank) => ({ ...rank, memory })));
    return "";
  }

  /** New lives of ranks of this node, in new threads and with new memories: their neighbours live on. */
  async #restartRanks({ ranks, recovery, protocolPart, watches }: RestartRanks): Promise<void> {
    for (const rank of ranks) {
      this.#returning.add(rank);
      // A checkpoint that its old life was asked for.
      this.#memory.stop(rank, Stop.NO);
    }
    await Promise.all(ranks.map((rank) => this.#threads.get(rank)?.terminate()));
    await this.#memory.whenSettled();
    if (!(await this.#fetchImages(recovery.restarts)) || this.#leaving) return;
    const { program, folders, memoryMb } = this.#setup;
    if (tryTo(() => this.#threads.makeRoom(ranks)) === undefined) {
      this.#send({ kind: "unable", why: shortageOf(`a restarted rank's ${memoryMb} MB of memory`) });
      return;
    }
    this.#lives?.restart(this.#files.localRecovery(recovery));
    this.#part?.restart(protocolPart, ranks);
    this.#threads.watch(ranks, watches);
    for (const rank of ranks) {
      this.#tcp?.rankReturned(rank, this.#incarnationOf(rank));
      this.#returning.delete(rank);
    }
    const { shared: memory } = this.#memory;
    this.#startThreads(ranks.map((rank) => ({ rank, program, folders, origin: null, memory })));
    const lives = ranks.map((rank) => ({ rank, incarnation: this.#incarnationOf(rank) }));
    this.#send({ kind: "ranks-returned", ranks: lives });
    for (const rank of ranks) if (this.#doomed.delete(rank)) void this.#threads.get(rank)!.terminate();
  }

  /** The ranks that this node has when it starts, when their images are here. */
  #startFirst(starting: readonly StartingRank[]): void {
    const { recovery, thawFrom } = this.#setup;
    const restarts = recovery?.restarts ?? [];
    const ranks = starting.map(({ rank }) => rank);
    const frozen = this.#files.bringFrozen(thawFrom, ranks);
    if (this.#images?.areElsewhere(restarts) === true) void this.#startWhen(starting, this.#fetchImages(restarts));
    else if (frozen === null) this.#startThreads(starting);
    else void this.#startWhen(starting, this.#isGood(frozen));
  }

  async #isGood(arriving: Promise<string>): Promise<boolean> {
    const problem = await arriving;
    if (problem !== "") this.#send({ kind: "unable", why: problem });
    return problem === "";
  }

  /** False: they do not start. */
  async #startWhen(starting: readonly StartingRank[], isReady: Promise<boolean>): Promise<void> {
    const ranks = starting.map(({ rank }) => rank);
    for (const rank of ranks) this.#returning.add(rank);
    if (!(await isReady) || this.#leaving) return;
    for (const rank of ranks) this.#returning.delete(rank);
    this.#startThreads(starting);
    for (const rank of ranks) if (this.#doomed.delete(rank)) void this.#threads.get(rank)!.terminate();
  }

  /** False: an image cannot be had. Its set begins again with an older one; this life is over. */
  async #fetchImages(restarts: readonly RankRestart[]): Promise<boolean> {
    if (this.#images?.areElsewhere(restarts) !== true) return true;
    const problems = await this.#images.fetch(restarts);
    for (const { restart, problem } of problems) {
      const { rank, checkpoint } = restart;
      this.#send({ kind: "from-rank", rank, message: { kind: "image-unreadable", checkpoint, problem } });
    }
    return problems.length === 0;
  }

  #startThreads(ranks: readonly StartingRank[]): void {
    for (const { rank } of ranks) this.#memory.born(rank, this.#incarnationOf(rank));
    this.#threads.start(ranks);
  }

  #incarnationOf(rank: number): number {
    return this.#lives?.incarnationOf(rank) ?? 0;
  }

  #eventsOf(rank: number): RankEvents {
    const incarnation = this.#incarnationOf(rank);
    return {
      said: (message) => {
        switch (message.kind) {
          case "runs":
            this.#send({ kind: "rank-started", rank, incarnation });
            break;
          case "captured": {
            this.#relayEverything();
            this.#send({ kind: "from-rank", rank, message });
            this.#images!.store(rank, message.number, (problem) =>
              this.#send({ kind: "from-rank", rank, message: { ...message, kind: "image", problem } }),
            );
            break;
          }
          case "image":
            this.#handOver(rank, message);
            break;
          case "done":
            this.#relayEverything();
            this.#send({ kind: "from-rank", rank, message });
            break;
          case "stands-still":
          case "checkpoint-wanted":
          case "protocol":
          case "report":
          case "caught-up":
          case "image-unreadable":
          case "leads-out":
          case "abort":
          case "result":
          case "spawn":
          case "input-wanted":
          case "stopped":
            this.#send({ kind: "from-rank", rank, message });
            break;
          default:
            this.#tcp?.handle(message);
        }
      },
      ended: (ending) => {
        this.#relay.relay();
        if (ending.kind === "returned" || ending.kind === "frozen") {
          this.#memory.finished(rank);
          this.#tcp?.rankFinished(rank);
        } else {
          this.#memory.died(rank);
          this.#tcp?.rankDied(rank);
        }
        this.#send({ kind: "rank-ended", rank, incarnation, ending });
      },
    };
  }

  /** An image of a job that is being frozen (0), or of a checkpoint that could not be written. */
  #handOver(rank: number, message: RankImage): void {
    this.#relayEverything();
    const stored = (problem: string): void => this.#send({ kind: "from-rank", rank, message: { ...message, problem } });
    if (message.problem !== "" || message.number > 0) stored(message.problem);
    else void this.#files.deliverFrozen(this.#setup.freezeTo, rank).then(stored);
  }

  /**
   * What a rank had printed is the dispatcher's before its image is: an image claims nothing that only it knows. The same for
   * what it has chosen: a restart reads the stream from where it was at the image. And for its end, which may be that of the job.
   */
  #relayEverything(): void {
    this.#part?.relay();
    this.#relay.relayAll();
  }

  async #leave(): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    const running = this.#threads.all;
    const stuck = setTimeout(() => this.#bye("with everything"), terminateMsMax);
    await Promise.all(running.map((thread) => thread.terminate()));
    clearTimeout(stuck);
    this.#tcp?.close();
    await this.#files.finish();
    // Ranks that were cut short may have left programs of their own running; those that ended in order meant to.
    this.#bye(running.length > 0 ? "with everything" : "in order");
  }

  #bye(how: "in order" | "with everything"): void {
    this.#relay.relayAll();
    this.#send({ kind: "bye" });
    this.#options.leave(how);
  }

  /** A message that waits already is a sign of life. */
  #beat(): void {
    if (!this.#options.isSaying()) this.#send({ kind: "heartbeat", passed: this.#lives?.passed ?? [] });
  }

  #send(message: FromNode): void {
    this.#options.send(message);
  }
}

/** Undefined: address space that the machine, or a limit of the user's, does not give. */
export function tryTo<T>(allocate: () => T): T | undefined {
  try {
    return allocate();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
