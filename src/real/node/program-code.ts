/**
 * The machine code of a program in C, and of what its ranks compile besides it, kept from run to run beside what the compiler made of it
 * (`cc/cache.ts`): V8 takes 0.1 s of processor time to make it for the smallest program, and half of that for the rest, in every node anew, and 2 ms to
 * take it from files.
 */
import { readFileSync } from "node:fs";
import { Cache, cacheFolder } from "../../cc/cache.ts";
import { distrust } from "../../trust/folder.ts";
import { canKeepWasmCode } from "../../v8/wasm-code.ts";
import { ModuleCode } from "./module-code.ts";

/** Raised when code of another kind should be made. */
const recipe = 2;

interface Wanted {
  /** The program; null: its code is not kept. */
  readonly file: string | null;
  /** What every program's ranks compile. */
  readonly modules: readonly Uint8Array[];
  /** Those under which V8 makes the code. */
  readonly flags: readonly string[];
}

export class ProgramCode {
  readonly #program: ModuleCode | null;
  readonly #modules: ModuleCode;

  /** Null: the folder may be another user's, whose code must not be run. */
  static find(environment: NodeJS.ProcessEnv, wanted: Wanted): ProgramCode | null {
    const folder = `${cacheFolder(environment)}/cc`;
    return distrust(folder) === undefined ? new ProgramCode(new Cache(folder), wanted) : null;
  }

  constructor(cache: Cache, { file, modules, flags }: Wanted) {
    const program = file === null ? undefined : readOrNothing(file);
    const kept = (whose: string, each: readonly Uint8Array[]): ModuleCode =>
      new ModuleCode(cache, `machine code of ${whose} ${recipe}`, each, flags);
    this.#program = program === undefined ? null : kept("a program", [program]);
    this.#modules = kept("ranks", modules);
  }

  /** This V8 can give its code away. Not to be asked while threads start: V8 has another flag meanwhile, for which it would reject their caches. */
  static canBeKept(): boolean {
    return canKeepWasmCode();
  }

  /** The flags are set. False: V8 has to make the program's code. */
  load(): boolean {
    this.#modules.load();
    return this.#program?.load() === true;
  }

  /** Threads have compiled all that is missing, whole, or would. */
  keep(): void {
    this.#modules.keep();
    this.#program?.keep();
  }
}

/** A program that is gone is missed by the rank that runs it, which says so. */
function readOrNothing(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
