/**
 * The node processes of a job: one for each number, and after a loss another in its place. Nodes hear from here where the
 * others are, and which ranks have returned.
 */

import type { Socket } from "node:net";
import { NodeContacts } from "../../../core/service/node-contacts.ts";
import type { NodeLoss } from "../../../core/service/outcome.ts";
import { type Placement, ranksOfNode } from "../../../core/service/placement.ts";
import { type JoiningPorts, NodeDoor } from "../../control-link/node-door.ts";
import type { Stream } from "../../messages/lines.ts";
import type { Life, RankRestart } from "../../messages/lives.ts";
import type { FromNode, ReserveMemory, RunProgram, Setup, ToNode } from "../../messages/node-messages.ts";
import type { SlowLinks } from "../../slow-links/slow-links.ts";
import type { JobSecret } from "../../transport/handshake/handshake.ts";
import type { Guest } from "../../transport/handshake/reception.ts";
import type { Address } from "../../transport/sockets/address.ts";
import { NodeProcess } from "./node-process.ts";
import type { NodeStarter } from "./node-starter.ts";

interface JobNodesOptions {
  /** The secret by which the job's processes know each other. */
  readonly job: JobSecret;
  /** Where this process listens for nodes. */
  readonly host: string;
  readonly starter: NodeStarter;
  readonly nodes: number;
  /** Node of each process that there can be. */
  readonly placement: Placement;
  /** Where a fault plan makes connections slow; null: nowhere. */
  readonly links: SlowLinks | null;
  /** Are processes started for places that no volunteer takes? */
  readonly startsOwn: boolean;
  /** Null: nodes cannot join. */
  readonly joining: JoiningPorts | null;
}

/** All calls concern the present node of that number: messages of an earlier one are dropped. */
interface JobNodesPorts {
  /** The setup of a node that is about to start; `restarts`: ranks that have had a life before. */
  setupOf(node: number, restarts: readonly RankRestart[]): Setup;
  started(node: number): void;
  /** See `NodeProcessEvents`. */
  heard(node: number): void;
  said(node: number, message: FromNode): void;
  printed(node: number, stream: Stream, bytes: Buffer, done: () => void): void;
  ended(node: number, loss: NodeLoss): void;
  /** Which life of each of these ranks is the present one. */
  livesOf(ranks: readonly number[]): readonly Life[];
  /** There can be no nodes. */
  unable(why: string): void;
  /** A node has called for files of the job. */
  wantsFiles(guest: Guest): void;
}

/** Volunteers that have not gone by then, when they are not needed any more, are cut off. */
const goneMsMax = 1_000;

export class JobNodes {
  readonly #options: JobNodesOptions;
  readonly #ports: JobNodesPorts;
  readonly #door: NodeDoor;
  /** Undefined: of a job that goes on, and whose nodes have not begun. */
  readonly #processes: (NodeProcess | undefined)[] = [];
  /** Started and not a node yet: a replacement need not wait until its process has come up. */
  #spare: NodeProcess | null = null;
  /** By their numbers: those that the user wants in reserve. */
  readonly #reserve = new Map<number, NodeProcess>();
  /** Of the memories of clones; null: nobody knows. */
  #wish: Omit<ReserveMemory, "kind"> | null = null;
  /** Taken for dead and left alive. */
  readonly #suspects = new Set<NodeProcess>();
  readonly #contacts: NodeContacts<Address>;
  /** Gone, or will be in a moment, and others take their places. */
  readonly #past = new WeakSet<NodeProcess>();
  /** Nodes that have taken the place of others, and are not ready yet. */
  readonly #replacing = new Set<number>();
  /** How the program is to be loaded; undefined until it has been compiled. */
  #run: RunProgram | undefined;

  constructor(options: JobNodesOptions, ports: JobNodesPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#contacts = new NodeContacts(options.nodes);
    const { job, host, joining } = options;
    this.#door = new NodeDoor({
      job,
      host,
      joining,
      unable: (why) => ports.unable(why),
      wantsFiles: (guest) => ports.wantsFiles(guest),
    });
  }

  /** `except`: places that nobody takes. */
  startAll(except: readonly number[] = []): void {
    for (let node = 0; node < this.#options.nodes; node++) {
      if (except.includes(node)) this.#processes[node] = undefined;
      else this.#start(node, []);
    }
  }

  /** Where nodes can call; null: nowhere. */
  get port(): Promise<number | null> {
    return this.#door.port;
  }

  /** A process has offered itself over that link: it is in reserve, under that number. */
  addVolunteer(number: number, socket: Socket, { gone, idles }: { gone(): void; idles(): void }): void {
    let came!: (socket: Socket) => void;
    const door = {
      invite: (whenCalled: (socket: Socket) => void) => {
        came = whenCalled;
        return { number, invitation: Promise.resolve(null), withdraw: () => {} };
      },
    };
    const process = new NodeProcess(door, { start: () => null }, idles);
    came(socket);
    this.#reserve.set(number, process);
    void process.gone.then(() => {
      this.#reserve.delete(number);
      gone();
    });
  }

  /** A volunteer that has no place is given up. */
  giveUp(number: number): void {
    this.#reserve.get(number)?.kill();
  }

  /** A process takes a place that no other has had: that one of the reserve, or (0) one that is started. */
  take(node: number, spare: number): void {
    this.#start(node, [], spare);
  }

  /** The node is gone, or will be in a moment, or never was: nothing that it still says counts. Another will take its place. */
  abandon(node: number): void {
    const process = this.#processes[node];
    if (process !== undefined) this.#past.add(process);
    this.#lost(node);
  }

  /** Another takes its place: that one of the reserve, or any (0). */
  replace(node: number, restarts: readonly RankRestart[], spare = 0): void {
    this.#replacing.add(node);
    this.#contacts.replaced(node);
    this.#start(node, restarts, spare);
  }

  /** Processes of the job have other places than before: everybody hears where. */
  placesChanged(): void {
    this.#tellAddresses(this.#contacts.listening);
  }

  /** Processes that wait to take places, numbered from 1; one that is gone before is told of. */
  startReserve(spares: number, isForMemories: boolean, lost: (spare: number) => void): void {
    for (let spare = 1; spare <= spares; spare++) {
      const process = this.#newProcess(isForMemories);
      this.#reserve.set(spare, process);
      void process.gone.then(() => {
        if (this.#reserve.delete(spare)) lost(spare);
      });
    }
  }

  /** Others may have to take places from now on. `isForMemories`: those of clones will come. */
  prepareSpare(isForMemories = false): void {
    if (this.#spare !== null || !this.#options.startsOwn) return;
    this.#spare = this.#newProcess(isForMemories);
  }

  /** Processes in reserve shall have memory for clones. */
  reserveMemory(wish: Omit<ReserveMemory, "kind">): void {
    this.#wish = wish;
    for (const process of [...this.#reserve.values(), ...(this.#spare === null ? [] : [this.#spare])])
      process.send({ kind: "reserve-memory", ...wish });
  }

  /** The program is there: every node loads it, those that start later too. */
  run({ form, packages }: Omit<RunProgram, "kind">): void {
    this.#run = { kind: "run", form, packages };
    this.sendAll(this.#run);
  }

  processOf(node: number): NodeProcess {
    return this.#processes[node]!;
  }

  /** What the operating system has seen it do, see `DispatcherPorts.work`. */
  workOf(node: number): number {
    return this.#processes[node]?.work() ?? 0;
  }

  kill(node: number): void {
    this.#processes[node]?.kill();
  }

  get pids(): number[] {
    return this.#processes.map((process) => process?.pid ?? 0);
  }

  send(node: number, message: ToNode): void {
    this.#processes[node]?.send(message);
  }

  sendAll(message: ToNode): void {
    for (const process of this.#processes) process?.send(message);
  }

  /** To those that are not taken for dead. */
  sendTrusted(message: ToNode): void {
    for (const process of this.#processes) {
      if (process !== undefined && !this.#suspects.has(process)) process.send(message);
    }
  }

  /** The node counts as dead and is left alive. */
  disown(node: number): void {
    this.#suspects.add(this.processOf(node));
    this.#lost(node);
  }

  /** The node listens at that address; null: it cannot be reached. `NodeContacts` says which nodes are told. */
  ready(node: number, address: Address | null): void {
    const { links } = this.#options;
    const present = this.processOf(node);
    if (this.#suspects.has(present)) return;
    if (links === null) {
      this.#listens(node, address);
      return;
    }
    void links.listening.then(() => {
      if (this.#isPresent(node, present) && !this.#suspects.has(present)) this.#listens(node, address);
    });
  }

  #listens(node: number, address: Address | null): void {
    if (address !== null) {
      this.#options.links?.lead(node, address);
      this.#tellAddresses(this.#contacts.listens(node, address));
    }
    if (this.#replacing.delete(node)) this.#announceAll(node);
  }

  /** Also of a node that is not replaced. */
  #lost(node: number): void {
    this.#tellAddresses(this.#contacts.lost(node));
  }

  #tellAddresses(nodes: readonly number[]): void {
    for (const node of nodes) {
      const addresses = this.#options.placement.map((of) => this.#addressFor(node, of));
      this.send(node, { kind: "contacts", addresses });
    }
  }

  /** How one node reaches another; null: not at the moment. */
  #addressFor(from: number, to: number): Address | null {
    const { links } = this.#options;
    const address = this.#contacts.addressOf(to);
    return links === null || from === to || address === null ? address : links.addressOf(from, to);
  }

  /** Some ranks have begun another life in a node that had not gone. */
  returned(ranks: readonly Life[]): void {
    this.sendAll({ kind: "returned", ranks });
  }

  /** Fulfilled when none is left of those that are not nodes: taken for dead, or not needed. No further node is let in. */
  async endOthers(): Promise<void> {
    this.#door.close();
    const others = [...this.#suspects, ...(this.#spare === null ? [] : [this.#spare]), ...this.#reserve.values()];
    this.#spare = null;
    this.#reserve.clear();
    for (const other of others) {
      if (!other.isVolunteer) other.kill();
      // It goes by itself, and knows that it need not call again.
      else other.send({ kind: "end" });
    }
    const late = setTimeout(() => {
      for (const other of others) other.kill();
    }, goneMsMax);
    await Promise.all(others.map((other) => other.gone));
    clearTimeout(late);
  }

  /** `isForMemories`: it gets ready to take those of clones. */
  #newProcess(isForMemories = false): NodeProcess {
    const process = new NodeProcess(this.#door, this.#options.starter);
    if (isForMemories) process.send({ kind: "reserve" });
    if (isForMemories && this.#wish !== null) process.send({ kind: "reserve-memory", ...this.#wish });
    return process;
  }

  /** One that has died meanwhile is none. */
  #takeSpare(number: number): NodeProcess | null {
    const reserved = this.#reserve.get(number);
    if (reserved !== undefined) {
      this.#reserve.delete(number);
      // A volunteer whose link is about to close shows as its end; nobody else can be had in its place.
      return reserved.isAlive || reserved.isVolunteer ? reserved : null;
    }
    const spare = this.#spare;
    this.#spare = null;
    return spare?.isAlive === true ? spare : null;
  }

  /** The new lives of a node's ranks are there: all other nodes hear of them. */
  #announceAll(node: number): void {
    const ranks = this.#ports.livesOf(ranksOfNode(this.#options.placement, node));
    for (const other of this.#processes.keys()) {
      if (other !== node) this.send(other, { kind: "returned", ranks });
    }
  }

  #isPresent(node: number, process: NodeProcess): boolean {
    return this.#processes[node] === process && !this.#past.has(process);
  }

  #start(node: number, restarts: readonly RankRestart[], spare = 0): void {
    const isPresent = (): boolean => this.#isPresent(node, started);
    const started = this.#takeSpare(spare) ?? this.#newProcess();
    const here = ranksOfNode(this.#options.placement, node);
    started.begin(this.#ports.setupOf(node, restarts), here, {
      heard: () => {
        if (isPresent()) this.#ports.heard(node);
      },
      said: (message) => {
        if (isPresent()) this.#ports.said(node, message);
      },
      printed: (stream, bytes, done) => {
        if (isPresent()) this.#ports.printed(node, stream, bytes, done);
        else done();
      },
      ended: (loss) => {
        if (!isPresent()) return;
        this.#lost(node);
        this.#ports.ended(node, loss);
      },
    });
    // Numbers between that nobody has.
    while (this.#processes.length < node) this.#processes.push(undefined);
    this.#processes[node] = started;
    this.#ports.started(node);
    if (this.#run !== undefined) started.send(this.#run);
  }
}
