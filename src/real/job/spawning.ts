/**
 * Processes that a job starts while it runs (MPI_Comm_spawn): finds and compiles their programs, has the nodes start them, and
 * answers the rank that asked. Which of them may join, `SpawnAdmission` decides.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { SpawnCommand, SpawnRequest } from "../../core/process/spawner.ts";
import type { Dispatcher } from "../../core/service/dispatcher.ts";
import type { Placement } from "../../core/service/placement.ts";
import { SpawnAdmission, type SpawnOrder } from "../../core/service/spawn-admission.ts";
import type { NewRank, ToNode } from "../messages/node-messages.ts";
import type { Folder, ProgramForm, ProgramPlace } from "../messages/program-place.ts";
import { foldersFrom } from "./programs/folders-given.ts";
import { bundleProgram } from "./programs/program-bundle.ts";
import { compileGivenProgram, languageOf } from "./programs/program-compile.ts";
import { type Found, findProgram, findScript } from "./programs/spawned-program.ts";

interface SpawningOptions {
  /** Of the job: modules go there. */
  readonly folder: string;
  /** The job's own program, by the name by which it knows itself; and its bundle, in one of these forms. */
  readonly program: string;
  readonly bundle: Bundle;
  /** Node of each process that there can be. */
  readonly placement: Placement;
  /** The folders that the job's programs are given. */
  readonly folders: readonly Folder[];
  /** The folder of the job's own program: others may lie beside it. None: it is not there. */
  readonly beside: readonly Folder[];
}

interface SpawningPorts {
  readonly dispatcher: Pick<Dispatcher, "admit" | "withdraw" | "spares">;
  isFreezing(): boolean;
  send(node: number, message: ToNode): void;
  /** The spawned processes are part of the job from now on. */
  joined(children: readonly number[]): void;
  /** The compiler's output. */
  compiled(text: string): void;
}

type Bundle = ProgramPlace["bundle"];
type Module = { readonly kind: "ready"; readonly bundle: Bundle } | { readonly kind: "unusable"; readonly why: string };

type FoundProgram = Extract<Found, { kind: "found" }>;

/** A program, and for how many processes. */
interface Part {
  readonly command: SpawnCommand;
  readonly path: string;
  readonly bundle: Bundle;
  readonly language: ProgramPlace["language"];
  readonly folders: readonly Folder[];
}

/** All programs of one request. */
interface Programs {
  readonly request: SpawnRequest;
  readonly parts: readonly Part[];
}

export class Spawning {
  readonly #options: SpawningOptions;
  readonly #ports: SpawningPorts;
  readonly #language: ProgramPlace["language"];
  readonly #admission: SpawnAdmission<Programs>;
  /** By the path of the program. */
  readonly #modules = new Map<string, Promise<Module>>();

  constructor(options: SpawningOptions, ports: SpawningPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#language = languageOf(options.program);
    this.#admission = new SpawnAdmission(options.placement, {
      dispatcher: ports.dispatcher,
      isFreezing: () => ports.isFreezing(),
      joined: (children) => ports.joined(children),
      start: (node, ranks, order) =>
        ports.send(node, { kind: "start-ranks", order: order.number, ranks: newRanks(ranks, order) }),
      end: (node, ranks) => ports.send(node, { kind: "end-ranks", ranks }),
      answer: (rank, answer) => ports.send(options.placement[rank]!, { kind: "spawn-answer", rank, answer }),
    });
  }

  /** A rank asks; it waits for the answer. */
  async asked(rank: number, request: SpawnRequest): Promise<void> {
    const parts: Part[] = [];
    for (const command of request.commands) {
      const part = await this.#partOf(command);
      if (typeof part === "string") {
        this.#admission.refuse(rank, part);
        return;
      }
      parts.push(part);
    }
    const processes = parts.reduce((sum, { command }) => sum + command.processes, 0);
    this.#admission.asked({ rank, processes, programs: { request, parts } });
  }

  /** A node has started its part of them, or cannot. */
  ready(node: number, order: number, problem: string): void {
    this.#admission.ready(node, order, problem);
  }

  /** Nothing will come from there any more. */
  nodeEnded(node: number): void {
    this.#admission.nodeEnded(node);
  }

  /** A text: why it cannot be had. */
  async #partOf(command: SpawnCommand): Promise<Part | string> {
    const folders = foldersFrom(command.folder, this.#options.folders);
    if (typeof folders === "string") return folders;
    const { program: own, folders: given, beside } = this.#options;
    const found =
      this.#language === "typescript"
        ? findScript(command.command, own)
        : findProgram(command.command, { program: own, path: command.path, given, beside });
    if (found.kind === "missing") return found.why;
    const { program } = found;
    let module = this.#modules.get(program);
    if (module === undefined) {
      module = program === own ? Promise.resolve(this.#ownModule()) : this.#compile(found);
      this.#modules.set(program, module);
    }
    const outcome = await module;
    const language = this.#language;
    return outcome.kind === "ready"
      ? { command, path: program, bundle: outcome.bundle, language, folders }
      : outcome.why;
  }

  #ownModule(): Module {
    const { bundle } = this.#options;
    const form = this.#language === "c" ? "wasm" : existsSync(bundle.script) ? "script" : "module";
    return { kind: "ready", bundle: inForm(form, bundle[form]) };
  }

  async #compile({ program, folders }: FoundProgram): Promise<Module> {
    const file = join(this.#options.folder, `program-${this.#modules.size + 1}`);
    const bundle = { script: `${file}.cjs`, module: `${file}.mjs`, wasm: `${file}.wasm` };
    try {
      const outcome =
        this.#language === "typescript"
          ? await bundleProgram({ program, bundle })
          : await compileGivenProgram({ program, bundle }, folders);
      if (outcome.said !== undefined && outcome.said !== "") this.#ports.compiled(outcome.said);
      if (outcome.kind === "ready") return { kind: "ready", bundle: inForm(outcome.form, bundle[outcome.form]) };
      return { kind: "unusable", why: `${program}: ${outcome.why}` };
    } catch (error) {
      return { kind: "unusable", why: `${program}: ${describeSystemError(error)}` };
    }
  }
}

/** How these of an order begin: each with the command that its place in the order says. */
function newRanks(ranks: readonly number[], { children, programs }: SpawnOrder<Programs>): NewRank[] {
  const { parents, context, count } = programs.request;
  const commands = programs.parts.flatMap((part, command) =>
    Array.from({ length: part.command.processes }, () => ({ part, command })),
  );
  return ranks.map((rank) => {
    const { part, command } = commands[children.indexOf(rank)]!;
    const origin = { world: children, parents, context, count, command };
    return { rank, program: placeOf(part), folders: part.folders, origin };
  });
}

function placeOf({ path, bundle, language, command }: Part): ProgramPlace {
  return { path, bundle, args: command.args, language };
}

/** A program that is there in that form alone. */
const inForm = (form: ProgramForm, path: string): Bundle => ({ script: "", module: "", wasm: "", [form]: path });
