/**
 * Nodes that join a job while it waits or runs: the host of `core/service/volunteers.ts`. It has the secret file and the words for people;
 * who takes which place the core decides.
 */
import { rmSync } from "node:fs";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import { Silence } from "../../../core/service/silence.ts";
import { ownProcess, Volunteers } from "../../../core/service/volunteers.ts";
import type { JoiningPorts, VolunteerPlace } from "../../control-link/node-door.ts";
import { writeSecretFile } from "../../control-link/secret-file.ts";
import { idleBeatMs } from "../../messages/volunteer-messages.ts";
import type { JobSecret } from "../../transport/handshake/handshake.ts";
import type { JobNodes } from "./job-nodes.ts";

/** How nodes may join a job. */
export interface JoinOptions {
  /** Where the job listens for them; 0: at any port that is free. */
  readonly port: number;
  /** The job starts no processes: it waits until enough have joined. */
  readonly only: boolean;
  /** Where the secret is written that they must know. */
  readonly secretFile: string;
}

interface JobVolunteersOptions extends JoinOptions {
  readonly host: string;
  readonly nodes: number;
  readonly secret: JobSecret;
  readonly isResumed: boolean;
}

interface JobVolunteersParts {
  readonly core: Pick<Dispatcher, "unusable" | "nodeEnded" | "falls">;
  /** Made later. */
  nodes(): Pick<JobNodes, "addVolunteer" | "giveUp" | "take" | "processOf" | "port">;
  /** For the user. */
  note(message: string): void;
  /** So many of all that are wanted have joined, and the job waits for the others. */
  gathering(joined: number, wanted: number): void;
  /** "rank 3", "ranks 2 to 3": those of a node. */
  ranksText(node: number): string;
  /** There is a process for the place of a lost node, for which there was none. */
  placeTaken(node: number, volunteer: number): void;
  /** Checkpoints of that node's ranks, as far as they can be had. */
  saveNode(node: number): Promise<void>;
}

/** Nobody sees whether they are at work, and nothing is lost by waiting. */
const idlePatience = {
  patienceMs: 5 * idleBeatMs,
  starvedPatienceMs: 5 * idleBeatMs,
  startPatienceMs: 10 * idleBeatMs,
  starvedStartPatienceMs: 10 * idleBeatMs,
};

/** Callers without the secret are named once each, and only so many. */
const unprovenMax = 10;

export class JobVolunteers implements JoiningPorts {
  readonly port: number;
  readonly #options: JobVolunteersOptions;
  readonly #parts: JobVolunteersParts;
  readonly #core: Volunteers;
  readonly #places = new Map<number, VolunteerPlace>();
  /** Of those that are free, or were. */
  readonly #silences = new Map<number, Silence>();
  readonly #unproven = new Set<string>();
  /** Has every place had a process? Until then nobody takes the place of another. */
  #hasBegun = false;
  /** The command that lets a node join. */
  #command = "";

  constructor(options: JobVolunteersOptions, parts: JobVolunteersParts) {
    const { port, nodes, only } = options;
    this.port = port;
    this.#options = options;
    this.#parts = parts;
    this.#core = new Volunteers(
      { nodes, startsOwn: !only },
      {
        take: (node, volunteer) => {
          if (!this.#hasBegun) parts.nodes().take(node, volunteer);
          else {
            this.#note(`${this.#nameOf(volunteer)} has joined, and takes the place of node ${node}`);
            parts.placeTaken(node, volunteer);
          }
        },
      },
    );
  }

  /** The job begins, or goes on. */
  begin(): void {
    const { secretFile, secret, isResumed } = this.#options;
    const obstacle = writeSecretFile(secretFile, secret);
    if (obstacle !== "") {
      this.#parts.core.unusable(`Cannot write the secret to ${secretFile}: ${obstacle}`, performance.now());
      return;
    }
    void this.#announce();
    if (isResumed) {
      this.#hasBegun = true;
      this.#core.resume();
    } else this.#core.begin();
    this.#hasBegun ||= this.#core.missing === 0;
    this.#gathers();
  }

  #gathers(): void {
    const { missing } = this.#core;
    const { nodes, only } = this.#options;
    if (only && !this.#options.isResumed) this.#parts.gathering(nodes - missing, nodes);
  }

  async #announce(): Promise<void> {
    const { host, only, nodes, secretFile, isResumed } = this.#options;
    const port = await this.#parts.nodes().port;
    if (port === null) return;
    this.#command = `banyan node --join ${host.includes(":") ? `[${host}]` : host}:${port} --secret-file ${secretFile}`;
    const what = only && !isResumed ? `waits for ${nodes} ${nodes === 1 ? "node" : "nodes"} to join` : "nodes can join";
    this.#note(`${what}: ${this.#command}`);
  }

  isVacant(node: number): boolean {
    return this.#core.isVacant(node);
  }

  /** Who takes the place of a lost node; null: nobody yet. */
  successorOf(node: number): number | null {
    const successor = this.#core.successorOf(node);
    if (successor === null) {
      const ranks = this.#parts.ranksText(node);
      const wait = ranks.startsWith("ranks") ? "wait" : "waits";
      this.#note(`${ranks} of node ${node} ${wait} until a node joins: ${this.#command}`);
    } else if (successor !== ownProcess) this.#note(`${this.#nameOf(successor)} takes the place of node ${node}`);
    return successor;
  }

  /** So much time has passed: volunteers that give no sign of life any more are given up before anybody depends on them. */
  tick(stepMs: number): void {
    for (const [number, silence] of this.#silences) {
      if (!this.#core.isFree(number)) this.#silences.delete(number);
      else if (silence.lasts(stepMs, () => 0)) this.#parts.nodes().giveUp(number);
    }
  }

  /** The outcome is decided. */
  end(): void {
    const { core } = this.#parts;
    for (const node of this.#core.end()) core.nodeEnded(node, { kind: "exit", code: 0 }, performance.now());
    rmSync(this.#options.secretFile, { force: true });
  }

  /** A node wants to go: its ranks are saved, as far as that can be, and begin elsewhere. */
  async leaving(node: number): Promise<void> {
    const { core } = this.#parts;
    const nodes = this.#parts.nodes();
    const leaver = nodes.processOf(node);
    await this.#parts.saveNode(node);
    if (nodes.processOf(node) !== leaver) return;
    core.falls.excused(node);
    leaver.letGo();
  }

  /** A node says why it cannot take part. True: the job goes on without it. */
  isDispensable(node: number, why: string): boolean {
    const process = this.#parts.nodes().processOf(node);
    if (!process.isVolunteer) return false;
    this.#note(`the process that has joined as node ${node} is not used: ${why}`);
    this.#parts.core.falls.excused(node);
    process.send({ kind: "dismissed", why });
    return true;
  }

  // Callers

  called(had: number, place: VolunteerPlace): number | null {
    if (had > 0) {
      this.#note(`${textOf(place)} was given up and comes back: it is refused, and may join as a new node`);
    }
    return this.#core.called(had);
  }

  came(number: number, socket: Parameters<JoiningPorts["came"]>[1], place: VolunteerPlace): void {
    this.#places.set(number, place);
    const silence = new Silence(idlePatience);
    this.#silences.set(number, silence);
    this.#parts.nodes().addVolunteer(number, socket, {
      gone: () => this.#gone(number),
      idles: () => silence.heard(),
    });
    const { missing, free } = this.#core;
    if (missing > 0) {
      const { nodes: wanted } = this.#options;
      const then = missing === 1 ? "; the job begins" : "";
      this.#note(`${textOf(place)} has joined: ${wanted - missing + 1} of ${wanted} nodes${then}`);
    }
    this.#core.joined(number);
    if (missing > 0) this.#gathers();
    if (missing === 0 && this.#core.free > free) this.#note(`${textOf(place)} has joined, and is free`);
    this.#hasBegun ||= this.#core.missing === 0;
  }

  unlike(place: VolunteerPlace): void {
    this.#note(`${textOf(place)} wants to join and is of another build: it is sent away`);
  }

  unproven(address: string): void {
    if (this.#unproven.has(address) || this.#unproven.size >= unprovenMax) return;
    this.#unproven.add(address);
    this.#note(`a process at ${address} called with a wrong secret, and was shut out`);
  }

  #gone(number: number): void {
    const free = this.#core.free;
    this.#core.gone(number);
    const { missing } = this.#core;
    const { nodes } = this.#options;
    if (this.#core.free < free) {
      const rest = missing > 0 ? `: ${nodes - missing} of ${nodes} nodes are there` : ", which was free";
      this.#note(`${this.#nameOf(number)} has gone${rest}`);
      if (missing > 0) this.#gathers();
    }
    this.#places.delete(number);
    this.#silences.delete(number);
  }

  #nameOf(number: number): string {
    const place = this.#places.get(number);
    return place === undefined ? `volunteer ${number}` : textOf(place);
  }

  #note(message: string): void {
    this.#parts.note(message);
  }
}

const textOf = ({ address, pid }: VolunteerPlace): string => `process ${pid} at ${address.replace(/^::ffff:/, "")}`;
