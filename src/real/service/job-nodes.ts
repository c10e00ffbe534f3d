/**
 * The node processes of a job: one for each number, and after a loss another in its place. Nodes hear from here where the
 * others are, and who has returned.
 */
import type { NodeLoss } from "../../core/service/dispatcher.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import type { FromNode, Life, ProgramForm, RankRestart, Setup, Stream, ToNode } from "../node/messages.ts";
import type { SlowLinks } from "../slow-links/slow-links.ts";
import type { Address } from "../transport/tcp/tcp-host.ts";
import { NodeProcess } from "./node-process.ts";

export interface JobNodesOptions {
  /** Of the job. */
  readonly folder: string;
  readonly nodes: number;
  /** Node of each process that there can be. */
  readonly nodeOf: readonly number[];
  /** Where a fault plan makes connections slow; null: nowhere. */
  readonly links: SlowLinks | null;
}

/** What is told of a node comes from the present one of that number: what an old one still says does not count. */
export interface JobNodesPorts {
  /** What a node that is about to start must know, and how its ranks begin if not at the beginning. */
  setupOf(node: number, restarts: readonly RankRestart[]): Setup;
  started(node: number): void;
  said(node: number, message: FromNode): void;
  /** See `NodeProcessEvents`. */
  printed(node: number, stream: Stream, bytes: Buffer, done: () => void): void;
  ended(node: number, loss: NodeLoss): void;
  /** Which life of each of these ranks is the present one. */
  livesOf(ranks: readonly number[]): readonly Life[];
}

export class JobNodes {
  readonly #options: JobNodesOptions;
  readonly #ports: JobNodesPorts;
  readonly #processes: NodeProcess[] = [];
  /** Started and not a node yet: whoever takes a place need not wait until its process has come up. */
  #spare: NodeProcess | null = null;
  /** Taken for dead and left alive. */
  readonly #suspects = new Set<NodeProcess>();
  readonly #addresses: (Address | undefined)[] = [];
  /** Gone, or will be in a moment, and others take their places. */
  readonly #past = new WeakSet<NodeProcess>();
  /** Nodes that have taken the place of others, and are not ready yet. */
  readonly #replacing = new Set<number>();
  /** How the program is to be loaded; undefined until it has been compiled. */
  #form: ProgramForm | undefined;

  constructor(options: JobNodesOptions, ports: JobNodesPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  startAll(): void {
    for (let node = 0; node < this.#options.nodes; node++) this.#start(node, []);
  }

  /** The node is gone, or will be in a moment: nothing that it still says counts. Another will take its place. */
  abandon(node: number): void {
    this.#past.add(this.processOf(node));
  }

  /** Another takes its place. */
  replace(node: number, restarts: readonly RankRestart[]): void {
    this.#replacing.add(node);
    this.#start(node, restarts);
  }

  /** Others may have to take places from now on. */
  prepareSpare(): void {
    this.#spare ??= new NodeProcess(this.#options.folder);
  }

  /** The program is there: every node loads it, those that start later too. */
  run(form: ProgramForm): void {
    this.#form = form;
    this.sendAll({ kind: "run", form });
  }

  processOf(node: number): NodeProcess {
    return this.#processes[node]!;
  }

  get pids(): number[] {
    return this.#processes.map(({ pid }) => pid ?? 0);
  }

  send(node: number, message: ToNode): void {
    this.processOf(node).send(message);
  }

  sendAll(message: ToNode): void {
    for (const process of this.#processes) process.send(message);
  }

  /** To those that are not taken for dead. */
  sendTrusted(message: ToNode): void {
    for (const process of this.#processes) if (!this.#suspects.has(process)) process.send(message);
  }

  /** The node counts as dead and is left alive. */
  disown(node: number): void {
    this.#suspects.add(this.processOf(node));
  }

  /** When the last node listens, all of them are told where the others are; later, where one is that has taken a place. */
  ready(node: number, address: Address | null): void {
    const { links } = this.#options;
    if (links === null) {
      this.#listens(node, address);
      return;
    }
    const present = this.processOf(node);
    void links.listening.then(() => {
      if (this.processOf(node) === present) this.#listens(node, address);
    });
  }

  #listens(node: number, address: Address | null): void {
    if (address !== null) {
      this.#addresses[node] = address;
      this.#options.links?.lead(node, address);
    }
    const hasReplaced = this.#replacing.delete(node);
    if (hasReplaced) this.#announceAll(node);
    const { nodes } = this.#options;
    if (address === null || this.#addresses.filter((known) => known !== undefined).length < nodes) return;
    for (const other of hasReplaced ? [node] : this.#processes.keys()) this.#tellAddresses(other);
  }

  #tellAddresses(node: number): void {
    const addresses = this.#options.nodeOf.map((of) => this.#addressFor(node, of)!);
    this.send(node, { kind: "contacts", addresses });
  }

  /** How one node reaches another; null: there are no connections in this job. */
  #addressFor(from: number, to: number): Address | null {
    const { links } = this.#options;
    return links === null || from === to ? (this.#addresses[to] ?? null) : links.addressOf(from, to);
  }

  /** Some ranks have begun another life in a node that had not gone. */
  returned(node: number, ranks: readonly Life[]): void {
    for (const other of this.#processes.keys()) {
      this.send(other, { kind: "returned", ranks, address: this.#addressFor(other, node) });
    }
  }

  /** Fulfilled when none is left of those that are not nodes: taken for dead, or not needed. */
  async endOthers(): Promise<void> {
    const others = [...this.#suspects, ...(this.#spare === null ? [] : [this.#spare])];
    this.#spare = null;
    for (const other of others) other.kill();
    await Promise.all(others.map((other) => other.gone));
  }

  /** One that has died meanwhile is none. */
  #takeSpare(): NodeProcess | null {
    const spare = this.#spare;
    this.#spare = null;
    return spare?.isAlive === true ? spare : null;
  }

  /** The new lives of a node's ranks are there: everybody else hears of them. */
  #announceAll(node: number): void {
    const ranks = this.#ports.livesOf(ranksOfNode(this.#options.nodeOf, node));
    for (const other of this.#processes.keys()) {
      if (other !== node) this.send(other, { kind: "returned", ranks, address: this.#addressFor(other, node) });
    }
  }

  #start(node: number, restarts: readonly RankRestart[]): void {
    const isPresent = (): boolean => this.#processes[node] === started && !this.#past.has(started);
    const started = this.#takeSpare() ?? new NodeProcess(this.#options.folder);
    started.begin(this.#ports.setupOf(node, restarts), {
      said: (message) => {
        if (isPresent()) this.#ports.said(node, message);
      },
      printed: (stream, bytes, done) => {
        if (isPresent()) this.#ports.printed(node, stream, bytes, done);
        else done();
      },
      ended: (loss) => {
        if (isPresent()) this.#ports.ended(node, loss);
      },
    });
    this.#processes[node] = started;
    this.#ports.started(node);
    if (this.#form !== undefined) started.send({ kind: "run", form: this.#form });
  }
}
