/**
 * The files that a compile may need. Clang sees only the files it is given, so everything that its sources could include is
 * collected beforehand: textually, through the folders of the command line, rather too much than too little. An include that is
 * named by a macro without a known definition leads to all headers being given.
 *
 * Headers of the toolchain itself are not found here and need not be.
 */
import { dirname, join, resolve } from "node:path";
import type { IncludeFolders } from "./command-line.ts";
import { type SourceDisk, wholeDisk } from "./source-disk.ts";
import { type MacroFile, type ScannedSource, scanMacro, scanSource } from "./source-scan.ts";

interface FoundFile {
  /** Absolute, without `.` and `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Equal for two names of one file. */
  readonly identity: string;
}

export interface ClosureRequest {
  readonly cwd: string;
  readonly sources: readonly string[];
  /** Text from standard input, treated as a file in the current folder. */
  readonly stdin?: Uint8Array | undefined;
  readonly folders: IncludeFolders;
  readonly forced: readonly string[];
  readonly macros: readonly string[];
  /** Folders that are given as a whole: headers of the toolchain, which are not scanned, include files from them. */
  readonly whole: readonly string[];
  /** Give every header, needed or not. */
  readonly everything?: boolean;
  /** The disk to read from; the whole disk by default. */
  readonly disk?: SourceDisk | undefined;
}

/** With more headers than this below the folders, the rest is left out: the user named the root of a disk. */
const headersMax = 10_000;
const headerBytesMax = 4 << 20;
/** The folders of this machine's own C library; Banyan's takes their place. */
const hostFolders = /^\/usr\/include(\/[a-z0-9_]+-linux-[a-z0-9]+)?$/;
const notHeaders = /\.(o|a|so|lo|la|wasm|c|cc|cpp|cxx|C|d|py|sh|md|txt|html|png|gz|xz|zip|pdf|json|js|ts)$/;

export function includeClosure(request: ClosureRequest): FoundFile[] {
  return new Closure(request).collect();
}

/** A file that an `#include` would find although the scan did not: a reason to give every header. */
export function isFindable(name: string, { cwd, folders, sources, disk = wholeDisk }: ClosureRequest): boolean {
  return [...folders.quote, ...folders.all, ...sources.map((source) => dirname(source))].some((folder) =>
    disk.isFile(resolve(cwd, folder, name)),
  );
}

class Closure {
  readonly #request: ClosureRequest;
  readonly #disk: SourceDisk;
  readonly #quote: readonly string[];
  readonly #all: readonly string[];
  readonly #found = new Map<string, FoundFile>();
  readonly #absent = new Set<string>();
  readonly #definitions = new Map<string, MacroFile[]>();
  /** Includes by macro without a known definition so far, with the folder of their file. */
  readonly #open: { readonly macro: string; readonly folder: string }[] = [];
  readonly #pending: { readonly scanned: ScannedSource; readonly folder: string }[] = [];

  constructor(request: ClosureRequest) {
    this.#request = request;
    this.#disk = request.disk ?? wholeDisk;
    const absolute = (folder: string): string => resolve(request.cwd, folder);
    this.#quote = request.folders.quote.map(absolute);
    this.#all = request.folders.all.map(absolute).filter((folder) => !hostFolders.test(folder));
  }

  collect(): FoundFile[] {
    const { cwd, sources, forced, macros, stdin, whole, everything } = this.#request;
    for (const definition of macros.flatMap(scanMacro)) this.#define(definition);
    for (const source of sources) this.#give(source.startsWith("/") ? source : `${cwd}/${source}`);
    if (stdin !== undefined) this.#scan(stdin, cwd);
    for (const file of forced) this.#look(file, [cwd, ...this.#quote, ...this.#all]);
    for (const folder of whole)
      for (const path of this.#headersBelow(folder, headersMax)) this.#give(path, headerBytesMax);
    this.#follow();
    if (everything === true || !this.#resolveMacros()) this.#giveEverything();
    return [...this.#found.values()];
  }

  #follow(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const { scanned, folder } = next;
      for (const definition of scanned.definitions) this.#define(definition);
      for (const name of scanned.quoted) this.#look(name, [folder, ...this.#quote, ...this.#all]);
      for (const name of scanned.angled) this.#look(name, this.#all);
      for (const macro of scanned.macros) this.#open.push({ macro, folder });
    }
  }

  /** Follows includes by macro as long as new definitions are found; false when one of them has none. */
  #resolveMacros(): boolean {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const files = this.#definitions.get(next.macro) ?? [];
      if (files.length === 0) return false;
      for (const { file, form } of files) {
        this.#look(file, form === "quoted" ? [next.folder, ...this.#quote, ...this.#all] : this.#all);
      }
      this.#follow();
    }
    return true;
  }

  #define(definition: MacroFile): void {
    const others = this.#definitions.get(definition.macro);
    if (others === undefined) this.#definitions.set(definition.macro, [definition]);
    else others.push(definition);
  }

  /** Every folder that has the file, not only the first: `#include_next` and conditions may reach the others. */
  #look(name: string, folders: readonly string[]): void {
    for (const folder of new Set(folders)) this.#give(name.startsWith("/") ? name : `${folder}/${name}`);
  }

  /** `path` may contain `..`, which the system follows through links; clang sees the name without it. */
  #give(path: string, bytesMax?: number): void {
    const plain = resolve(path);
    if (this.#found.has(plain) || this.#absent.has(plain)) return;
    const contents = this.#disk.read(path, bytesMax);
    if (contents === undefined) {
      if (bytesMax === undefined) this.#absent.add(plain);
      return;
    }
    this.#found.set(plain, { path: plain, ...contents });
    this.#scan(contents.bytes, dirname(plain));
  }

  #scan(bytes: Uint8Array, folder: string): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    this.#pending.push({ scanned: scanSource(text), folder });
  }

  #giveEverything(): void {
    const sources = this.#request.sources.map((source) => dirname(resolve(this.#request.cwd, source)));
    let left = headersMax;
    for (const folder of new Set([...this.#quote, ...this.#all, ...sources])) {
      for (const path of this.#headersBelow(folder, left)) {
        left--;
        this.#give(path, headerBytesMax);
      }
    }
    // Files included by these headers are below the folders as well.
    this.#pending.length = 0;
  }

  *#headersBelow(folder: string, max: number): Generator<string> {
    const folders = [folder];
    let given = 0;
    for (let next = folders.pop(); next !== undefined && given < max; next = folders.pop()) {
      for (const entry of this.#disk.list(next)) {
        const path = join(next, entry.name);
        if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
        if (entry.isDirectory()) folders.push(path);
        else if (!notHeaders.test(entry.name) && this.#disk.isFile(path) && given++ < max) yield path;
      }
    }
  }
}
