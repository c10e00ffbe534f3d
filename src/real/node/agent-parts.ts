/**
 * The parts of a node, put together: files, connections, memory, threads, images, and the protocol's part. Each is made once; a part
 * that calls another one, made later, does so when a rank runs.
 */
import { ranksOfNode } from "../../core/service/placement.ts";
import type { ReadyMemory } from "../cloning/ready-memory.ts";
import { WaitingThreads } from "../cloning/waiting-threads.ts";
import type { FileService } from "../file-service/client.ts";
import { tryToAllocate } from "../machine/memory-shortage.ts";
import type { FromNode, RecoverySetup, Setup } from "../messages/node-messages.ts";
import { OutputRelay } from "../output/output-relay.ts";
import type { NodePart } from "../part-hosts/node-part.ts";
import { nodeParts } from "../protocol-parts/node-parts.ts";
import { isRelayed } from "../protocol-parts/relayed.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import { cNodeMemoryMb, guestsOf, Stop, spareMb } from "../transport/layout.ts";
import { Handover } from "../transport/tcp/handover.ts";
import { TcpHost } from "../transport/tcp/tcp-host.ts";
import { AgentMemory } from "./agent-memory.ts";
import { JobFiles } from "./job-files.ts";
import { NodeClones } from "./node-clones.ts";
import { NodeImages } from "./node-images.ts";
import { NodeLives } from "./node-lives.ts";
import { type RankEvents, RankThreads } from "./rank-threads.ts";

export interface AgentOptions {
  /** The secret by which processes of the job know each other. */
  readonly job: JobSecret;
  /** Where other nodes can reach this one. */
  readonly host: string;
  /** Threads for memories of clones. */
  readonly receivers: WaitingThreads;
  readonly readyMemory: ReadyMemory;
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

export const lifeText = (rank: number, incarnation: number): string => `${rank} ${incarnation}`;

export class AgentParts {
  readonly setup: Setup;
  /** The ranks that the node has when it starts. */
  readonly first: readonly number[];
  readonly files: JobFiles;
  readonly memory: AgentMemory;
  /** Connections to other nodes; null in a job of one node, and where ranks speak through services alone. */
  readonly tcp: TcpHost | null;
  readonly threads: RankThreads;
  readonly relay: OutputRelay;
  /** Where the lost are started again; null otherwise. */
  readonly lives: NodeLives | null;
  readonly images: NodeImages | null;
  /** Memories on their way to clones, and from their sources. */
  readonly clones: NodeClones | null;
  /** Of the job's protocol; null: it has none in nodes. */
  readonly part: NodePart | null;
  /** Lives of ranks that have gone on elsewhere (`lifeText`): their ends mean nothing. */
  readonly released = new Set<string>();
  /** Ranks of other nodes that will be here, and have not begun. */
  readonly adopted = new Set<number>();
  readonly #options: AgentOptions;
  readonly #eventsOf: (node: AgentParts, rank: number) => RankEvents;

  /** `eventsOf`: for each life of a rank. Throws a `RangeError` where the node's memory cannot be had. */
  constructor(given: Setup, options: AgentOptions, eventsOf: (node: AgentParts, rank: number) => RankEvents) {
    const { folder, dispatcher, job, host: address } = options;
    this.#options = options;
    this.#eventsOf = eventsOf;
    this.files = new JobFiles(given, { folder, dispatcher, troubled: (why) => this.send({ kind: "unable", why }) });
    const setup = this.files.localSetup(given);
    this.setup = setup;
    this.relay = new OutputRelay((output) => this.send(output));
    const { node, ranks, placement, memoryMb, port, recovery } = setup;
    const ranksHere = ranksOfNode(placement, node);
    const isFirst = (rank: number): boolean => rank < ranks && !setup.absent.includes(rank);
    this.first = recovery?.startsEmpty === true ? [] : ranksHere.filter(isFirst);
    const guests = guestsOf(setup);
    const unborn = ranksHere.filter((rank) => !this.first.includes(rank));
    this.threads = this.#createThreads();
    this.tcp =
      ranksHere.length === placement.length || isRelayed(setup.protocol)
        ? null
        : new TcpHost({
            job,
            ranks: placement.length,
            ranksHere,
            guests,
            unborn,
            address,
            port,
            incarnations: recovery?.incarnations,
            ring: (place) => this.memory.ring(place),
            report: (event) => this.send({ kind: "connections", event }),
          });
    const bells = this.tcp === null ? null : new Handover(this.tcp.handover);
    this.memory = new AgentMemory({
      node,
      ranks,
      placement,
      guests,
      memoryMb:
        setup.program.language === "c"
          ? cNodeMemoryMb(ranksHere.length + guests)
          : memoryMb + spareMb * (ranksHere.length - this.first.length),
      wakeElsewhere: (place) => (bells === null ? this.part?.wake?.(ranksHere[place]!) : bells.wake(place)),
    });
    const images = recovery === null ? null : this.#createImages(recovery);
    this.images = images;
    this.clones = recovery === null ? null : this.#createClones();
    this.lives = recovery === null ? null : new NodeLives(recovery, (restart) => images?.folderOf(restart) ?? "");
    this.part = this.#createPart();
  }

  #createThreads(): RankThreads {
    return new RankThreads(this.setup, this.first, {
      run: this.#options.job.id,
      placeOf: (rank) => this.memory.placeOf(rank),
      places: () => this.memory.placesOf(this.setup.placement.length),
      incarnationOf: (rank) => this.incarnationOf(rank),
      lives: () => this.lives,
      // Where the dead return, a life begins with a list of the living; clones hear of later deaths besides.
      deaths: () => (this.lives === null || this.setup.replicas !== null ? [...this.memory.deaths] : []),
      partOf: (rank) => this.part?.forRank(rank),
      handover: () => this.tcp?.handover ?? null,
      eventsOf: (rank) => this.#eventsOf(this, rank),
      started: (thread) => this.relay.add(thread.rank, thread.lines),
    });
  }

  #createImages({ setOf, checkpointFolder: folder, checkpointServers: servers }: RecoverySetup): NodeImages {
    return new NodeImages({ setOf, folder, servers, dispatcher: this.files.service, job: this.#options.job });
  }

  #createClones(): NodeClones {
    const { job, host, receivers, readyMemory } = this.#options;
    return new NodeClones(
      { job, host, isSource: this.setup.replicas !== null },
      {
        giving: (isAny) => this.threads.memoriesTravel(isAny),
        memoryOf: (rank) => this.threads.memoryOf(rank),
        receivers,
        senders: new WaitingThreads("clone-sender.cjs"),
        newMemory: () => readyMemory.take(this.setup.memoryMb) ?? tryToAllocate(() => this.threads.newMemory()),
        news: (rank, number, news) => this.send({ kind: "clone", rank, number, news }),
        captured: (rank, facts, { problem, isMoved }) => {
          // At once: the dispatcher would say the same. One that goes on elsewhere stands still until that has begun.
          if (problem === "" && !isMoved) this.memory.stop(rank, Stop.NO);
          const message = problem === "" ? ({ kind: "captured" } as const) : ({ kind: "image", problem } as const);
          this.send({ kind: "from-rank", rank, message: { ...message, ...facts } });
        },
      },
    );
  }

  #createPart(): NodePart | null {
    const { protocol, protocolPart: part, placement, recovery } = this.setup;
    const { job, folder } = this.#options;
    const setOf = recovery?.setOf ?? placement.map(() => 0);
    const create = nodeParts[protocol];
    if (create === undefined) return null;
    return create({
      part,
      setOf,
      ranks: this.first,
      job,
      folder,
      incarnationOf: (rank) => this.incarnationOf(rank),
      say: (words) => this.send({ kind: "protocol", words }),
    });
  }

  /** A rank of another node will be here. */
  adopt(rank: number): void {
    const place = this.memory.adopt(rank);
    if (place < 0) return;
    this.tcp?.adopt(rank, place);
    this.adopted.add(rank);
  }

  /** Not one that is adopted and still elsewhere. */
  isHere(rank: number): boolean {
    return this.memory.has(rank) && !this.adopted.has(rank);
  }

  incarnationOf(rank: number): number {
    return this.lives?.incarnationOf(rank) ?? 0;
  }

  send(message: FromNode): void {
    this.#options.send(message);
  }
}
