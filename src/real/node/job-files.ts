/**
 * Files of the job, seen from a node: programs, images of frozen jobs, traces (those of checkpoints are in `node-images.ts`). A node that
 * sees the dispatcher's files (disk/same-files.ts) uses them where they are. Any other has copies in its own folder, and sends the
 * dispatcher what it has made: the one difference between the two is here and in the folders that a setup names.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { seesSameFiles } from "../disk/same-files.ts";
import { type FileService, fetchFile, patiently, storeFileFrom } from "../file-service/client.ts";
import { imagePath } from "../image/image-path.ts";
import type { RecoverySetup, Setup } from "../messages/node-messages.ts";
import type { ProgramForm, ProgramPlace } from "../messages/program-place.ts";
import { TraceDelivery } from "./trace-delivery.ts";

interface JobFilesOptions {
  /** Of this node alone. */
  readonly folder: string;
  /** The dispatcher's host of files. */
  readonly dispatcher: FileService;
  /** A trace cannot be kept. */
  troubled(problem: string): void;
}

export class JobFiles {
  readonly #options: JobFilesOptions;
  readonly #isShared: boolean;
  readonly #trace: TraceDelivery | null;
  /** Programs that are here or on their way: what is wrong, empty if nothing. */
  readonly #programs = new Map<string, Promise<string>>();

  constructor(setup: Setup, options: JobFilesOptions) {
    this.#options = options;
    this.#isShared = seesSameFiles(setup.sameFiles);
    this.#trace = this.#isShared || setup.traceFolder === "" ? null : this.#deliverTraces();
  }

  #deliverTraces(): TraceDelivery {
    const { dispatcher: service, troubled } = this.#options;
    return new TraceDelivery({ folder: this.#own("trace"), service, failed: (problem) => troubled(problem) });
  }

  /** Keeps the job's files for this node; null: the node sees them. */
  get service(): FileService | null {
    return this.#isShared ? null : this.#options.dispatcher;
  }

  /** With the folders and files as they are to be found from here. */
  localSetup(setup: Setup): Setup {
    const { program, others, recovery, freezeTo, thawFrom, traceFolder } = setup;
    return {
      ...setup,
      program: this.localProgram(program),
      others: others.map((other) => ({ ...other, program: this.localProgram(other.program) })),
      recovery: recovery === null ? null : this.localRecovery(recovery),
      freezeTo: this.#localFolder(freezeTo, "frozen"),
      thawFrom: this.#localFolder(thawFrom, "thawed"),
      traceFolder: this.#localFolder(traceFolder, "trace"),
    };
  }

  /** Images that servers keep are only on their way here. */
  localRecovery(recovery: RecoverySetup): RecoverySetup {
    const { checkpointFolder, checkpointServers } = recovery;
    const isHere = this.#isShared && checkpointServers.length === 0;
    return { ...recovery, checkpointFolder: isHere ? checkpointFolder : this.#own("checkpoints") };
  }

  localProgram(program: ProgramPlace): ProgramPlace {
    if (this.#isShared) return program;
    const here = (path: string): string => (path === "" ? "" : join(this.#options.folder, basename(path)));
    const { script, module, wasm } = program.bundle;
    return { ...program, bundle: { script: here(script), module: here(module), wasm: here(wasm) } };
  }

  /** Why a program cannot run here that imports these files of packages; undefined: it can. */
  missingPackage(packages: readonly string[]): string | undefined {
    const missing = this.#isShared ? undefined : packages.find((path) => !existsSync(path));
    if (missing === undefined) return undefined;
    return `its program imports ${missing}, which is not there; install the package there too, or bundle it into the program`;
  }

  /** Has that program brought here, by a place of `localProgram`; null: it is here. Otherwise what is wrong, empty if nothing. */
  bringProgram({ bundle }: ProgramPlace, form: ProgramForm): Promise<string> | null {
    if (this.#isShared) return null;
    const path = bundle[form];
    let arrived = this.#programs.get(path);
    if (arrived === undefined) {
      arrived = this.#patiently((dispatcher) => fetchFile(dispatcher, { kind: "program", name: basename(path) }, path));
      this.#programs.set(path, arrived);
    }
    return arrived;
  }

  /** Has the images of a frozen job brought to that folder of a local setup; null: they are there. Otherwise as `bringProgram`. */
  bringFrozen(folder: string, ranks: readonly number[]): Promise<string> | null {
    if (this.#isShared || folder === "") return null;
    const all = ranks.map((rank) => {
      const path = imagePath(folder, rank);
      return this.#patiently((dispatcher) => fetchFile(dispatcher, { kind: "frozen", rank }, path));
    });
    return Promise.all(all).then((problems) => problems.find((problem) => problem !== "") ?? "");
  }

  /** A rank has written its image of a job that is being frozen to that folder. What is wrong, empty if nothing. */
  async deliverFrozen(folder: string, rank: number): Promise<string> {
    if (this.#isShared) return "";
    const path = imagePath(folder, rank);
    const problem = await this.#patiently((dispatcher) => storeFileFrom(dispatcher, { kind: "frozen", rank }, path));
    rmSync(path, { force: true });
    return problem;
  }

  /** No rank is left: fulfilled when the dispatcher has all that they made. */
  async finish(): Promise<void> {
    await this.#trace?.finish();
  }

  #patiently(attempt: (dispatcher: FileService) => Promise<string>): Promise<string> {
    return patiently(() => this.#options.dispatcher, attempt);
  }

  #localFolder(folder: string, name: string): string {
    return this.#isShared || folder === "" ? folder : this.#own(name);
  }

  #own(name: string): string {
    const folder = join(this.#options.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }
}
