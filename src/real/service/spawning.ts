/**
 * Processes that a job starts while it runs (MPI_Comm_spawn): finds and compiles their programs, has the nodes start them, and
 * answers the rank that asked. Who is there and who is not the dispatcher's core decides.
 */
import { join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { SpawnAnswer, SpawnCommand, SpawnRequest } from "../../core/process/spawner.ts";
import type { Folder, NewRank, ProgramPlace, ToNode } from "../node/messages.ts";
import { foldersFrom } from "./folders-given.ts";
import { compileGivenProgram } from "./program-compile.ts";
import { type Found, findProgram } from "./spawned-program.ts";

export interface SpawningOptions {
  /** Of the job: modules go there. */
  readonly folder: string;
  /** The job's own program, by the name by which it knows itself; and its module. */
  readonly program: string;
  readonly module: string;
  /** Node of each process that there can be. */
  readonly nodeOf: readonly number[];
  /** What the job's programs see of the file system. */
  readonly folders: readonly Folder[];
  /** The folder of the job's own program: others may lie beside it. None: it is not there. */
  readonly beside: readonly Folder[];
}

export interface SpawningPorts {
  /** See `Dispatcher`. */
  admit(count: number): number[] | undefined;
  withdraw(admitted: readonly number[]): void;
  spares(): number;
  isFreezing(): boolean;
  send(node: number, message: ToNode): void;
  /** Those are there from now on. */
  joined(children: readonly number[]): void;
  /** What the compiler has said. */
  compiled(text: string): void;
}

type Module = { readonly kind: "ready"; readonly wasm: string } | { readonly kind: "unusable"; readonly why: string };

type FoundProgram = Extract<Found, { kind: "found" }>;

/** A program, and for how many processes. */
interface Part {
  readonly command: SpawnCommand;
  readonly path: string;
  readonly wasm: string;
  readonly folders: readonly Folder[];
}

interface Start {
  readonly nodes: Set<number>;
  problem: string;
  over(problem: string): void;
}

export class Spawning {
  readonly #options: SpawningOptions;
  readonly #ports: SpawningPorts;
  /** By the path of the program. */
  readonly #modules = new Map<string, Promise<Module>>();
  readonly #starts = new Map<number, Start>();
  #orders = 0;

  constructor(options: SpawningOptions, ports: SpawningPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#modules.set(options.program, Promise.resolve({ kind: "ready", wasm: options.module }));
  }

  /** A rank asks; it waits for the answer. */
  async asked(rank: number, request: SpawnRequest): Promise<void> {
    const answer = await this.#answerTo(request);
    this.#ports.send(this.#options.nodeOf[rank]!, { kind: "spawn-answer", rank, answer });
  }

  /** A node has started its part of them, or cannot. */
  ready(node: number, order: number, problem: string): void {
    const start = this.#starts.get(order);
    if (start === undefined || !start.nodes.delete(node)) return;
    start.problem ||= problem;
    if (start.nodes.size > 0) return;
    this.#starts.delete(order);
    start.over(start.problem);
  }

  /** Nothing will come from there any more. */
  nodeEnded(node: number): void {
    for (const order of this.#starts.keys()) this.ready(node, order, `node ${node} is gone`);
  }

  async #answerTo(request: SpawnRequest): Promise<SpawnAnswer> {
    const parts: Part[] = [];
    for (const command of request.commands) {
      const part = await this.#partOf(command);
      if (typeof part === "string") return refused(part);
      parts.push(part);
    }
    // Asked as late as possible: whoever is admitted cannot be frozen.
    if (this.#ports.isFreezing()) return { kind: "later" };
    const programs = parts.flatMap((part, i) => Array.from({ length: part.command.processes }, () => ({ part, i })));
    const children = this.#ports.admit(programs.length);
    if (children === undefined) {
      return refused(`this job can start ${this.#ports.spares()} more, not ${programs.length}`);
    }
    const { parents, context, count } = request;
    const newRanks = children.map((rank, child): NewRank => {
      const { part, i } = programs[child]!;
      const { folders } = part;
      return {
        rank,
        program: placeOf(part),
        folders,
        origin: { world: children, parents, context, count, command: i },
      };
    });
    this.#ports.joined(children);
    const problem = await this.#start(newRanks);
    if (problem === "") return { kind: "spawned", children };
    this.#ports.withdraw(children);
    for (const [node, ranks] of this.#byNode(newRanks)) {
      this.#ports.send(node, { kind: "end-ranks", ranks: ranks.map(({ rank }) => rank) });
    }
    return refused(problem);
  }

  /** A text: why it cannot be had. */
  async #partOf(command: SpawnCommand): Promise<Part | string> {
    const folders = foldersFrom(command.folder, this.#options.folders);
    if (typeof folders === "string") return folders;
    const { program: own, folders: given, beside } = this.#options;
    const found = findProgram(command.command, { program: own, path: command.path, given, beside });
    if (found.kind === "missing") return found.why;
    const { program } = found;
    let module = this.#modules.get(program);
    if (module === undefined) {
      module = this.#compile(found, join(this.#options.folder, `program-${this.#modules.size}.wasm`));
      this.#modules.set(program, module);
    }
    const outcome = await module;
    return outcome.kind === "ready" ? { command, path: program, wasm: outcome.wasm, folders } : outcome.why;
  }

  async #compile({ program, folders }: FoundProgram, wasm: string): Promise<Module> {
    try {
      const outcome = await compileGivenProgram({ program, bundle: { wasm } }, folders);
      if (outcome.said !== undefined && outcome.said !== "") this.#ports.compiled(outcome.said);
      if (outcome.kind === "ready") return { kind: "ready", wasm };
      return { kind: "unusable", why: `${program}: ${outcome.why}` };
    } catch (error) {
      return { kind: "unusable", why: `${program}: ${describeSystemError(error)}` };
    }
  }

  /** Empty when all of them are there. */
  #start(newRanks: readonly NewRank[]): Promise<string> {
    const byNode = this.#byNode(newRanks);
    const order = this.#orders++;
    return new Promise((over) => {
      this.#starts.set(order, { nodes: new Set(byNode.keys()), problem: "", over });
      for (const [node, ranks] of byNode) this.#ports.send(node, { kind: "start-ranks", order, ranks });
    });
  }

  #byNode(newRanks: readonly NewRank[]): Map<number, NewRank[]> {
    const byNode = new Map<number, NewRank[]>();
    for (const newRank of newRanks) {
      const node = this.#options.nodeOf[newRank.rank]!;
      byNode.set(node, [...(byNode.get(node) ?? []), newRank]);
    }
    return byNode;
  }
}

const refused = (why: string): SpawnAnswer => ({ kind: "refused", why });

function placeOf({ path, wasm, command }: Part): ProgramPlace {
  return { path, bundle: { script: "", module: "", wasm }, args: command.args, language: "c" };
}
